"""Every request passes the guards: each refusal, and that it tells nothing and changes nothing."""

import asyncio

import pytest

from sudare.studio import guards
from sudare.studio.access import Access
from sudare.studio.guards import MOST_BYTES, Guard

HOST = "127.0.0.1:8400"
ORIGIN = f"http://{HOST}"


def refused(response, status, said):
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert set(error) == {"what", "value", "allowed", "hint", "message"}
    assert said in error["message"]


def test_the_link_opens_once(guarded, stranger):
    _, access = guarded
    refused(stranger.get("/"), 401, "the link")
    refused(stranger.get("/", params={"token": "wrong"}), 401, "the link")
    refused(stranger.get("/", params={"token": "é\ud7ff"}), 401, "the link")
    refused(stranger.request("HEAD", "/", params={"token": access.token}) and stranger.get("/api/state"), 401, "opened")
    opened = stranger.get("/", params={"token": access.token})
    assert opened.status_code == 200
    cookie = opened.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "sudare_studio_8400=" in cookie
    assert access.token not in opened.text + cookie
    assert stranger.get("/").headers["location"] == "/data"
    assert stranger.get("/api/state").status_code == 200
    stranger.cookies.clear()
    refused(stranger.get("/", params={"token": access.token}), 401, "once")


@pytest.mark.parametrize(
    "path", ["/data", "/api/state", "/api/openapi.json", "/static/studio.css", "/releases/r/x", "/no"]
)
def test_everything_else_needs_the_session(stranger, path):
    refused(stranger.get(path), 401, "has not opened the studio")
    refused(stranger.get(path, headers={"cookie": "sudare_studio_8400=guess"}), 401, "has not opened the studio")
    refused(stranger.get(path, headers={"cookie": "sudare_studio_8400"}), 401, "has not opened the studio")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8400", "127.0.0.1", "127.0.0.1:8401", "127.0.0.1:8400.", ""]
)
def test_another_host_is_refused(client, host):
    """A name of somebody else's that leads to this machine (DNS rebinding) has another Host."""
    refused(client.get("/api/state", headers={"host": host}), 403, "another host")
    refused(client.get("/", headers={"host": host}), 403, "another host")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
        {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
        {"origin": ORIGIN, "sec-fetch-site": "same-site"},
    ],
)
def test_another_page_is_refused(client, desk, headers):
    body = {"based_on": 1, "text": "a = 1"}
    refused(client.request("PUT", "/api/recipe", json=body, headers=headers), 403, "another page")
    refused(client.get("/api/state", headers=headers), 403, "another page")
    assert desk.versions.current().version == 1


def test_a_change_must_show_where_it_comes_from(client, guarded, stranger):
    stranger.cookies.update(client.cookies)
    refused(stranger.post("/api/undo", json={"based_on": 1}), 403, "another page")
    refused(stranger.post("/api/undo", json={"based_on": 1}, headers={"sec-fetch-site": "none"}), 403, "another page")
    allowed = stranger.post("/api/undo", json={"based_on": 1}, headers={"sec-fetch-site": "same-origin"})
    refused(allowed, 409, "nothing to undo")
    assert stranger.get("/api/state").status_code == 200


def test_bodies_are_short_plain_json(client):
    refused(client.post("/api/undo", content=b" " * (MOST_BYTES + 1)), 413, "too large")
    refused(client.post("/api/undo", data={"based_on": "1"}), 415, "JSON")
    text = {"content-type": "text/plain"}
    refused(client.post("/api/undo", content=b'{"based_on": 1}', headers=text), 415, "JSON")
    zipped = {"content-type": "application/json", "content-encoding": "gzip"}
    refused(client.post("/api/undo", content=b"{}", headers=zipped), 415, "as they are")
    plain = {"content-type": "application/json"}
    refused(client.post("/api/undo", content=b'{"based_on"', headers=plain), 422, "not JSON")
    refused(client.post("/api/undo", json={"based_on": 1, "secret": "abc"}), 422, "body.secret is not as described")
    refused(client.post("/api/undo", json={"based_on": "abc"}), 422, "body.based_on")
    assert "abc" not in client.post("/api/undo", json={"based_on": "abc"}).text


def test_a_body_that_comes_in_pieces_is_counted(client):
    async def pieces():
        for _ in range(30):
            yield b" " * 50_000

    sent = client.post("/api/undo", content=pieces(), headers={"content-type": "application/json"})
    refused(sent, 413, "too large")


def status_of_silence(version="1.1", *more):
    """The status for somebody with the session who sends a head, with ``more`` headers, and then nothing."""
    access = Access(8400)
    cookie = f"{access.cookie}={access.redeem(access.token)}"
    headers = [("host", HOST), ("cookie", cookie), ("origin", ORIGIN), ("content-type", "application/json"), *more]
    scope = {
        "type": "http",
        "http_version": version,
        "method": "POST",
        "path": "/api/undo",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }
    sent = []

    async def never():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(None, access, frozenset({HOST}))(scope, never, send))
    return sent[0]["status"]


def test_a_body_that_does_not_arrive_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(guards, "BODY_SECONDS", 0.05)
    assert status_of_silence() == 408


def test_what_only_a_parser_takes_is_refused():
    assert status_of_silence("9.9") == 400
    assert status_of_silence("1.1", ("content-length", "2"), ("transfer-encoding", "chunked")) == 400


def test_answers_are_safe_to_look_at(client, stranger):
    for response in (client.get("/api/state"), stranger.get("/api/state"), client.get("/no/such")):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in response.headers


def test_strange_cookies_of_other_programs_do_not_lock_anybody_out(client, guarded):
    """All ports of a machine share their cookies, and some programs put anything into theirs."""
    own = f"{guarded[1].cookie}={client.cookies[guarded[1].cookie]}"
    for strange in ('other={"a": [1, 2]}', "=", "x", 'y="open', "\u00e9=1"):
        found = client.get("/api/state", headers={"cookie": f"{strange}; {own}".encode("latin-1")})
        assert found.status_code == 200, strange


def test_a_person_without_the_session_reads_a_sentence(stranger):
    found = stranger.get("/data", headers={"accept": "text/html,*/*", "accept-language": "ja"})
    assert found.status_code == 401
    assert found.headers["content-type"].startswith("text/html")
    assert "<p lang=ja>このブラウザーでは" in found.text
    assert stranger.get("/api/state", headers={"accept": "application/json"}).json()["error"]


def test_other_ways_to_the_first_page_are_refused(client, stranger):
    refused(stranger.post("/", json={}), 405, "no such address")
    refused(client.request("PUT", "/api/state", json={}), 405, "not used that way")
    refused(client.get("/api/nothing/at/all"), 404, "no such address")
