"""What every request passes before the studio looks at it.

A server on the loopback address can be reached by every page in the steward's browser and by every program on the
machine. So a request must name the studio's own address (a foreign name that resolves here is refused), come from the
studio's own page, and carry the session. Free of it are the pages and their scripts, which are the same for everybody
and hold nothing of the workspace, and the two addresses where a token or a ticket, each good once, stands for it.
Bodies are short, are JSON, and arrive in time; only an upload is longer, and its own limit is looked after where it is
written.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sudare.language.catalogue import Words
from sudare.studio.access import Access
from sudare.studio.pages import ADDRESSES, chosen_language
from sudare.studio.refusals import RequestError, answer

MOST_BYTES = 1_000_000
BODY_SECONDS = 20.0
UPLOADS = "/api/files/"
OPENING, TICKETS, STATIC = "/api/session", "/tickets/", "/static/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; frame-src 'self'; worker-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_HTTP = ("1.0", "1.1", "2")
_READING = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Guard:
    """Lets to ``app`` what may pass; ``hosts`` are the names of the studio with their port.

    ``language`` is the command's: what is refused is said as the pages would say it.
    """

    app: ASGIApp
    access: Access
    hosts: frozenset[str]
    language: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _SAFE.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        try:
            _check_framing(scope, headers)
            self._check_host(headers)
            if _is_public(scope):
                _check_navigation(scope, headers)
            else:
                self._check_origin(scope, headers)
                self._check_session(scope, headers)
            if scope["method"] not in _READING and not scope["path"].startswith(UPLOADS):
                receive = _replay(await _short_body(headers, receive), receive)
        except RequestError as refusal:
            await answer(refusal, self._words(scope, headers))(scope, receive, send_safely)
            return
        await self.app(scope, receive, send_safely)

    def _words(self, scope: Scope, headers: Headers) -> Words:
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("language", [None])[0]
        kept, accepted = headers.get("cookie", ""), headers.get("accept-language", "")
        return Words(chosen_language(asked, kept, accepted, self.language))

    def _check_host(self, headers: Headers) -> None:
        if headers.getlist("host") not in [[host] for host in self.hosts]:
            raise RequestError(403, "the request is for another host", allowed="the address that the studio printed")

    def _check_session(self, scope: Scope, headers: Headers) -> None:
        """Tokens and tickets are checked where they are redeemed, and are good for nothing else."""
        opens = scope["path"] == OPENING and scope["method"] == "POST"
        ticket = scope["path"].startswith(TICKETS) and scope["method"] == "GET"
        if not opens and not ticket and not self.access.admits(headers.get("authorization", "")):
            raise RequestError(
                401,
                "this tab has no session with this studio",
                allowed="the link that the studio handed over",
                hint="Open it again, or a page of the studio in a browser that has it open.",
            )

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """Other ports of this machine count as the same site for a browser: they are refused by name."""
        site = headers.get("sec-fetch-site")
        origin = headers.get("origin")
        ours = f"http://{headers['host']}"
        foreign = site not in (None, "same-origin", "none") or origin not in (None, ours)
        unproven = scope["method"] not in _READING and origin != ours and site != "same-origin"
        if foreign or unproven:
            raise RequestError(403, "the request comes from another page", allowed="the studio's own pages")


def _is_public(scope: Scope) -> bool:
    """Whether an address is the same for everybody: a page without its content, or a script."""
    path = scope["path"]
    return scope["method"] == "GET" and (path in ADDRESSES or path.startswith(STATIC))


def _check_navigation(scope: Scope, headers: Headers) -> None:
    """A link may lead to a page from anywhere, such as the file that opens the studio; nothing else may use one."""
    own = headers.get("sec-fetch-site") in (None, "same-origin", "none")
    opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    worker = headers.get("service-worker") is not None
    if worker or not (own or (opened and scope["path"] in ADDRESSES)):
        raise RequestError(403, "the request comes from another page", allowed="the studio's own pages")


def _check_framing(scope: Scope, headers: Headers) -> None:
    """Refuse what the HTTP parser accepts but no honest client sends: an unknown version of HTTP, and two lengths."""
    if scope["http_version"] not in _HTTP:
        raise RequestError(400, "the request is of an unknown version of HTTP", allowed="HTTP/1.1")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise RequestError(400, "the request has two lengths", allowed="content-length or transfer-encoding")


async def _short_body(headers: Headers, receive: Receive) -> bytes:
    """The body of a request that is no upload, read no further than allowed and not forever."""
    announced = headers.get("content-length", "")
    if "content-encoding" in headers:
        raise RequestError(415, "compressed requests are not accepted", allowed="no content-encoding")
    too_large = RequestError(413, "the request is too large", allowed="{most_bytes:,} bytes", most_bytes=MOST_BYTES)
    if announced.isdigit() and int(announced) > MOST_BYTES:
        raise too_large
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise RequestError(400, "the connection closed before the request was complete")
                body += bytes(message.get("body", b""))
                if len(body) > MOST_BYTES:
                    raise too_large
                if not message.get("more_body"):
                    break
    except TimeoutError:
        raise RequestError(
            408, "the request timed out", allowed="{body_seconds:g} seconds", body_seconds=BODY_SECONDS
        ) from None
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind != "application/json":
        raise RequestError(415, "requests are JSON", allowed="content-type: application/json")
    return body


def _replay(body: bytes, rest: Receive) -> Receive:
    """A body that is here already, for the application to read; then whatever else happens to the connection."""
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            return await rest()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
