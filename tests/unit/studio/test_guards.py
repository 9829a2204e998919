"""Every request passes the guards: each refusal, and that it tells nothing and changes nothing."""

import asyncio

import pytest

from sudare.studio import guards
from sudare.studio.access import Access
from sudare.studio.guards import MOST_BYTES, Guard
from sudare.studio.pages import PAGES, REPORT

HOST = "127.0.0.1:8400"
ORIGIN = f"http://{HOST}"


def refused(response, status, said):
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert set(error) == {"what", "value", "allowed", "hint", "message", "place"}
    assert said in error["message"]


def test_the_link_opens_once(guarded, stranger):
    _, access = guarded
    stranger.headers["origin"] = ORIGIN
    token = access.token
    for wrong in ("", "wrong", "\u00e9\ud7ff", token[:-1]):
        refused(stranger.post("/api/session", json={"token": wrong}), 401, "works only once")
    assert stranger.request("HEAD", "/api/session").status_code == 401
    opened = stranger.post("/api/session", json={"token": token})
    assert opened.status_code == 200
    assert "set-cookie" not in opened.headers
    session = opened.json()["session"]
    assert session not in (token, access.token)
    refused(stranger.get("/api/state"), 401, "no session")
    assert stranger.get("/api/state", headers={"authorization": f"Bearer {session}"}).status_code == 200
    refused(stranger.post("/api/session", json={"token": token}), 401, "once")
    # The file that was handed over has another link by now: a tab that was closed is opened again.
    assert stranger.post("/api/session", json={"token": access.token}).json() == {"session": session}


def test_the_link_is_not_taken_from_an_address(guarded, stranger):
    """An address is in histories and logs; behind its # nothing comes here at all."""
    token = guarded[1].token
    assert stranger.get("/", params={"token": token}).headers["location"] == "/data"
    refused(stranger.get("/api/state", params={"token": token}), 401, "no session")
    refused(stranger.get("/api/state", headers={"authorization": f"Bearer {token}"}), 401, "no session")
    assert guarded[1].token == token


@pytest.mark.parametrize(
    "path", ["/tickets/%2e%2e/api/state", "/tickets/x/y", "/static/%2e%2e/api.py", "/static/..%2fapi"]
)
def test_no_way_round_leads_to_what_needs_the_session(stranger, path):
    found = stranger.get(path)
    assert found.status_code == 404
    assert set(found.json()) == {"error"}


@pytest.mark.parametrize(
    "path",
    ["/api/state", "/api/session", "/api/openapi.json", "/releases/r/x", "/no", "/data/", "/report/x", "/api/tickets"],
)
def test_everything_with_content_needs_the_session(client, stranger, path):
    session = client.headers["authorization"].removeprefix("Bearer ")
    for headers in (
        {},
        {"authorization": "Bearer guess"},
        {"authorization": "Bearer"},
        {"authorization": session},
        {"authorization": f"Basic {session}"},
        {"cookie": f"sudare_studio_8400={session}; session={session}"},
    ):
        refused(stranger.get(path, headers=headers), 401, "no session")
    refused(stranger.get(path, params={"session": session, "authorization": f"Bearer {session}"}), 401, "no session")


def test_a_page_is_the_same_for_everybody_and_tells_nothing(client, stranger, service):
    text = service.versions.current().text.replace('dataset = "village"', 'dataset = "SECRET"\ntitle = "SECRET"')
    service.versions.edit(text, 1)
    for path in (*(f"/{name}" for name in (*PAGES, REPORT)), "/static/session.js", "/static/studio.css"):
        found = stranger.get(path)
        assert found.status_code == 200
        assert found.text == client.get(path).text
        assert "SECRET" not in found.text
        assert "recipe.toml" not in found.text
        assert "set-cookie" not in found.headers
        assert stranger.post(path, json={}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8400", "127.0.0.1", "127.0.0.1:8401", "127.0.0.1:8400.", ""]
)
def test_another_host_is_refused(client, host):
    """A name of somebody else's that leads to this machine (DNS rebinding) has another Host."""
    refused(client.get("/api/state", headers={"host": host}), 403, "another host")
    for path in ("/", "/data", "/static/session.js"):
        refused(client.get(path, headers={"host": host}), 403, "another host")
    refused(client.post("/api/session", json={"token": "x"}, headers={"host": host}), 403, "another host")


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
def test_another_page_is_refused(client, service, headers):
    body = {"based_on": 1, "text": "a = 1"}
    refused(client.request("PUT", "/api/recipe", json=body, headers=headers), 403, "another page")
    refused(client.get("/api/state", headers=headers), 403, "another page")
    refused(client.post("/api/session", json={"token": "x"}, headers=headers), 403, "another page")
    refused(client.get("/tickets/x", headers=headers), 403, "another page")
    assert service.versions.current().version == 1


def test_a_change_must_show_where_it_comes_from(client, guarded, stranger):
    stranger.headers["authorization"] = client.headers["authorization"]
    refused(stranger.post("/api/undo", json={"based_on": 1}), 403, "another page")
    refused(stranger.post("/api/undo", json={"based_on": 1}, headers={"sec-fetch-site": "none"}), 403, "another page")
    allowed = stranger.post("/api/undo", json={"based_on": 1}, headers={"sec-fetch-site": "same-origin"})
    refused(allowed, 409, "nothing to undo")
    assert stranger.get("/api/state").status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_opens_from_anywhere_and_is_no_part_of_another(stranger, site):
    """The file that opens the studio is another site; a frame, a script and a fetch of another site are refused."""
    opened = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert stranger.get("/data", headers=opened).status_code == 200
    for changed in ({"sec-fetch-dest": "iframe"}, {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"}):
        refused(stranger.get("/data", headers=opened | changed), 403, "another page")
    refused(stranger.get("/static/session.js", headers=opened), 403, "another page")
    worker = {"sec-fetch-site": "same-origin", "service-worker": "script"}
    refused(stranger.get("/static/session.js", headers=worker), 403, "another page")


def test_bodies_are_short_plain_json(client):
    refused(client.post("/api/undo", content=b" " * (MOST_BYTES + 1)), 413, "too large")
    refused(client.post("/api/undo", data={"based_on": "1"}), 415, "JSON")
    text = {"content-type": "text/plain"}
    refused(client.post("/api/undo", content=b'{"based_on": 1}', headers=text), 415, "JSON")
    zipped = {"content-type": "application/json", "content-encoding": "gzip"}
    refused(client.post("/api/undo", content=b"{}", headers=zipped), 415, "compressed")
    plain = {"content-type": "application/json"}
    refused(client.post("/api/undo", content=b'{"based_on"', headers=plain), 422, "not JSON")
    refused(client.post("/api/undo", json={"based_on": 1, "secret": "abc"}), 422, "body.secret does not match")
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
    access = Access()
    session = ("authorization", f"Bearer {access.redeem(access.token)}")
    headers = [("host", HOST), session, ("origin", ORIGIN), ("content-type", "application/json"), *more]
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
        assert "worker-src 'none'" in policy
        assert "trusted-types 'none'" in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in response.headers


def test_other_ways_are_refused(client):
    refused(client.post("/", json={}), 405, "does not accept this HTTP method")
    refused(client.request("PUT", "/api/state", json={}), 405, "does not accept this HTTP method")
    refused(client.get("/api/nothing/at/all"), 404, "no such address")
