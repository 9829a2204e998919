"""The studio belongs to one person: what another program on the machine and its page in the same browser can get.

The program listens on another port of the same machine. The steward's browser visits its page; whatever the browser
sends it, and whatever its page can learn, it tries on the studio, to publish in the steward's name at epsilon 200.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What the page of the other program tries in the steward's browser; it tells its own server what came of it.
HOSTILE = """<!doctype html><title>Other program</title><script type="module">
const studio = "%s";
const found = {};
const refusal = (problem) => `refused ${problem.name}`;
const attempt = async (name, work) => { found[name] = await work().then(String, refusal); };
const heard = [];
for (const name of ["sudare-studio", "sudare-studio-session"]) {
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => heard.push(JSON.stringify(data));
  channel.postMessage({ wanted: true });
}
const text = async (answer) => (await answer).text();
await attempt("fetch", () => text(fetch(`${studio}/api/state`, { credentials: "include" })));
await attempt("page", () => text(fetch(`${studio}/data`, { credentials: "include" })));
await attempt("blind", () => text(fetch(`${studio}/api/state`, { credentials: "include", mode: "no-cors" })));
await attempt("script", async () => Object.keys(await import(`${studio}/static/session.js`)).join());
await attempt("publish", () => text(fetch(`${studio}/api/publish`, {
  method: "POST", credentials: "include", mode: "no-cors", headers: { "Content-Type": "text/plain" },
  body: JSON.stringify({ based_on: 1, confirm: "invented-town" }) })));
await attempt("authorised", () => text(fetch(`${studio}/api/state`, { headers: { Authorization: "Bearer x" } })));
await attempt("frame", () => new Promise((seen, refused) => {
  const frame = document.createElement("iframe");
  frame.onload = () => {
    try { seen(frame.contentWindow.sessionStorage.length); } catch (problem) { refused(problem); }
  };
  frame.src = `${studio}/data`;
  document.body.append(frame);
}));
await attempt("window", async () => {
  const opened = window.open(`${studio}/data`, "_blank");
  if (!opened) return "no window";
  await new Promise((later) => setTimeout(later, 1000));
  return opened.closed ? "severed" : opened.sessionStorage.length;
});
await attempt("worker", () => navigator.serviceWorker.register(`${studio}/static/session.js`));
await attempt("form", async () => {
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: `${studio}/api/session`, target: "_blank", enctype: "text/plain" });
  document.body.append(form);
  form.submit();
  return "sent";
});
found.heard = heard;
found.own = JSON.stringify([document.cookie, { ...sessionStorage }, { ...localStorage }]);
await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>"""


# A report whose script tries to get at the studio around it.
REPORT = """<!doctype html><body></body><script>
const found = {};
const heard = [];
const refused = (name) => (problem) => { found[name] = problem.name; };
try { found.storage = sessionStorage.length; } catch (problem) { refused("storage")(problem); }
try {
  const channel = new BroadcastChannel("sudare-studio-session");
  channel.onmessage = ({ data }) => heard.push(data);
  channel.postMessage({ wanted: true });
} catch (problem) { refused("channel")(problem); }
fetch("/api/state").then(() => { found.fetch = "answered"; }, refused("fetch")).then(() => {
  found.heard = heard.length;
  document.body.innerHTML = `<pre id="found">${JSON.stringify(found)}</pre>`;
});
</script>"""


class OtherProgram:
    """Listens on a port of its own, keeps whatever a browser sends, and serves one page."""

    def __init__(self, studio: str) -> None:
        self.sent: list[str] = []
        self.found: dict | None = None
        self.told = threading.Event()
        program = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                program.sent += [self.path, *self.headers.values()]
                self.answer(HOSTILE % studio if self.path == "/" else "")

            def do_POST(self) -> None:
                program.sent += [self.path, *self.headers.values()]
                program.found = json.loads(self.rfile.read(int(self.headers["content-length"])))
                program.sent += [json.dumps(program.found)]
                self.answer("")
                program.told.set()

            def answer(self, text: str) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def statuses(self, studio: str) -> dict[str, set[int]]:
        """What the studio answers to everything that was sent here, used as a cookie and as a session."""
        secrets = {word for text in self.sent for word in re.findall(r"[A-Za-z0-9_-]{16,}", text)}
        cookies = {text for text in self.sent if "=" in text}
        tried = [{"cookie": each} for each in cookies] + [{"authorization": f"Bearer {each}"} for each in secrets]
        change = {"based_on": 1, "changes": {"privacy.epsilon": 200, "ledger.cap.epsilon": 1000}}
        publish = {"based_on": 2, "confirm": "invented-town"}
        return {
            "read": {ask(studio, "GET", "/api/state", headers) for headers in tried},
            "change": {ask(studio, "PATCH", "/api/recipe", headers, change) for headers in tried},
            "publish": {ask(studio, "POST", "/api/publish", headers, publish) for headers in tried},
        }


def ask(studio: str, method: str, path: str, headers: dict[str, str], body: object = None) -> int:
    """The status of a request of a program, which says of its origin what it likes."""
    own = {"host": studio.removeprefix("http://"), "origin": studio, "content-type": "application/json"}
    with closing(http.client.HTTPConnection(studio.removeprefix("http://"), timeout=60)) as connection:
        connection.request(method, path, None if body is None else json.dumps(body), own | headers)
        return connection.getresponse().status


def test_another_program_on_another_port_gets_nothing_and_cannot_publish(studio, opened, steps):
    begun = studio()
    page = opened(quiet=True)  # refusals are what the other page is meant to see
    steps.enter(page, begun)
    program = OtherProgram(begun.url)
    try:
        other = page.context.new_page()
        other.goto(program.url)
        assert program.told.wait(120)
        page.reload()
        page.wait_for_selector("html[data-ready=page]")
        kept = page.evaluate("Object.values(sessionStorage)")
        assert program.statuses(begun.url) == {"read": {401}, "change": {401}, "publish": {401}}
        assert [cookie for cookie in page.context.cookies() if cookie["name"] != "sudare_language"] == []
        assert any(len(value) > 40 for value in kept)
        assert not any(value in text for value in kept if value for text in program.sent)
        found = program.found
        assert found.pop("heard") == []
        assert found.pop("own") == '["",{},{}]'
        assert found.pop("form") == "sent"
        assert found.pop("window") in ("severed", "no window", "refused SecurityError")
        assert {what.partition(" ")[0] for what in found.values()} <= {"refused", ""}, found
        state = page.evaluate("import('/static/request.js').then(({ ask }) => ask('GET', '/api/state'))")
        assert (state["version"], state["recipe"]["privacy"]["epsilon"]) == (1, 0.5)
        assert not (begun.folder / "release").exists()
    finally:
        program.server.shutdown()
        program.server.server_close()


def test_a_session_is_in_no_address_and_leaves_with_no_page(studio, opened, steps):
    """What a history, a log or the page that is visited next would show."""
    begun = studio()
    page = opened()
    requests = []
    page.on("request", lambda request: requests.append((request.url, request.all_headers().get("referer", ""))))
    steps.enter(page, begun)
    for name in ("protect", "ledger"):
        steps.visit(page, begun, name)
    session = page.evaluate("sessionStorage.getItem('sudare-studio-session')")
    assert len(session) == 43
    assert "token" not in page.evaluate("location.href + document.referrer")
    sent = [url.partition("#")[0] + referrer for url, referrer in requests if url.startswith("http")]
    assert len(sent) > 20
    assert not any(session in text or "token" in text for text in sent)
    assert not any(session in url for url, _ in requests)
    assert page.evaluate("[document.cookie, Object.values(localStorage).join()]") == ["", ""]


def test_a_report_cannot_reach_the_studio_that_shows_it(studio, opened, steps):
    """A report brings scripts of its own: in a frame and alone in a tab it has no rights, and its address is dead."""
    begun = studio()
    page = opened(quiet=True)
    steps.enter(page, begun)
    release = begun.folder / "release"
    release.mkdir()
    (release / "release.json").write_text(json.dumps({"files": {}, "release_id": "r-1"}))
    (release / "report.html").write_text(REPORT)
    address = page.evaluate("import('/static/releases.js').then(({ addressOf }) => addressOf('release/report.html'))")
    page.goto(begun.url + address)
    page.wait_for_selector("#found")
    found = json.loads(page.inner_text("#found"))
    assert (found["storage"], found["fetch"], found["heard"]) == ("SecurityError", "TypeError", 0)
    # Loaded again it asks for another ticket, which the tab gets since it has the session.
    page.reload()
    page.wait_for_selector("#found")
    assert page.url != begun.url + address
    stranger = opened(quiet=True)
    stranger.goto(page.url)
    stranger.wait_for_selector("html[data-ready=closed]")
    steps.visit(page, begun, "publish")
    frame = page.frame_locator("#report")
    frame.locator("#found").wait_for()
    assert json.loads(frame.locator("#found").inner_text())["storage"] == "SecurityError"


def test_tabs_share_the_session_and_a_studio_that_was_started_again_does_not_know_it(studio, opened, steps):
    from playwright.sync_api import expect

    begun = studio()
    page = opened()
    steps.enter(page, begun)
    page.reload()
    page.wait_for_selector("html[data-ready=page]")
    second = page.context.new_page()
    steps.visit(second, begun, "ledger")
    page.close()
    third = second.context.new_page()
    steps.visit(third, begun, "protect", "ja")

    # Another browser has no such tab; the page in the file has another link by now.
    other = opened(quiet=True)
    other.goto(f"{begun.url}/publish")
    other.wait_for_selector("html[data-ready=closed]")
    expect(other.locator("main")).to_contain_text("The studio is not open in this tab")
    assert other.locator("#confirm").count() == 0
    steps.enter(other, begun)

    begun.stop()
    again = studio(None, port=begun.url.rpartition(":")[2])
    assert again.url == begun.url
    other.locator("[data-path=title]").fill("Too late")
    other.locator("[data-path=title]").press("Enter")
    expect(other.locator("#notices")).to_contain_text("no session with this studio")
    other.reload()
    other.wait_for_selector("html[data-ready=closed]")
    steps.enter(other, again)
    expect(other.locator("#dataset-name")).to_have_text("An invented town")
