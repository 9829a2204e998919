"""What every request passes before the studio looks at it.

A server on the loopback address can be reached by every page in the steward's browser and by every program on the
machine. So a request must name the studio's own address (a foreign name that resolves here is refused), carry the
session's cookie, and, where it changes something, come from the studio's own page. Bodies are short, are JSON, and
arrive in time; only an upload is longer, and its own limit is looked after where it is written.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sudare.studio.access import Access
from sudare.studio.pages import chosen_language
from sudare.studio.refusals import RequestError, answer
from sudare.words import Words

MOST_BYTES = 1_000_000
BODY_SECONDS = 20.0
UPLOADS = "/api/files/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
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
# A meta refresh and not a redirect: the strict cookie would stay behind on a redirect that another site began.
_HEAD = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Sudare</title>'
_WELCOME = _HEAD + '<meta http-equiv="refresh" content="0; url=/data">'


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
            if scope["path"] == "/":
                await self._welcome(scope, headers)(scope, receive, send_safely)
                return
            self._check_session(headers)
            self._check_origin(scope, headers)
            if scope["method"] not in _READING and not scope["path"].startswith(UPLOADS):
                receive = _replay(await _short_body(headers, receive), receive)
        except RequestError as refusal:
            words = self._words(scope, headers)
            shown = refusal.status == 401 and "text/html" in headers.get("accept", "")
            await (_door(words) if shown else answer(refusal, words))(scope, receive, send_safely)
            return
        await self.app(scope, receive, send_safely)

    def _words(self, scope: Scope, headers: Headers) -> Words:
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("language", [None])[0]
        kept, accepted = headers.get("cookie", ""), headers.get("accept-language", "")
        return Words(chosen_language(asked, kept, accepted, self.language))

    def _check_host(self, headers: Headers) -> None:
        if headers.getlist("host") not in [[host] for host in self.hosts]:
            raise RequestError(403, "the request is for another host", allowed="the address that the studio printed")

    def _welcome(self, scope: Scope, headers: Headers) -> Response:
        """The first page: the token for a cookie."""
        if scope["method"] not in ("GET", "HEAD"):
            raise RequestError(405, "there is no such address", allowed="GET")
        if self.access.admits(headers.get("cookie", "")):
            return RedirectResponse("/data", 303)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        session = self.access.redeem(given[0]) if scope["method"] == "GET" else None
        if session is None:
            raise RequestError(
                401,
                "the studio opens with the link that it printed, once",
                hint="Start the studio again for a new link.",
            )
        made = HTMLResponse(_WELCOME)
        made.set_cookie(self.access.cookie, session, httponly=True, samesite="strict", path="/")
        return made

    def _check_session(self, headers: Headers) -> None:
        if not self.access.admits(headers.get("cookie", "")):
            raise RequestError(
                401,
                "this browser has not opened the studio",
                allowed="the link that the studio printed",
                hint="Start the studio again for a new link.",
            )

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """Other ports of this machine count as the same site, and send the cookie along: they are refused by name."""
        site = headers.get("sec-fetch-site")
        origin = headers.get("origin")
        ours = f"http://{headers['host']}"
        foreign = site not in (None, "same-origin", "none") or origin not in (None, ours)
        unproven = scope["method"] not in _READING and origin != ours and site != "same-origin"
        if foreign or unproven:
            raise RequestError(403, "the request comes from another page", allowed="the studio's own pages")


def _check_framing(scope: Scope, headers: Headers) -> None:
    """What the parser takes and nobody sends who means well: a version of HTTP that is not known, and two lengths."""
    if scope["http_version"] not in _HTTP:
        raise RequestError(400, "the request is of an unknown version of HTTP", allowed="HTTP/1.1")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise RequestError(400, "the request has two lengths", allowed="content-length or transfer-encoding")


def _door(words: Words) -> Response:
    """The refusal as a person reads it whose browser has not opened the studio, or opened an earlier run of it."""
    return HTMLResponse(f"{_HEAD}<p lang={words.language}>{escape(words('door.text'))}</p>", 401)


async def _short_body(headers: Headers, receive: Receive) -> bytes:
    """The body of a request that is no upload, read no further than allowed and not forever."""
    announced = headers.get("content-length", "")
    if "content-encoding" in headers:
        raise RequestError(415, "requests come as they are", allowed="no content-encoding")
    too_large = RequestError(413, "the request is too large", allowed=f"{MOST_BYTES:,} bytes")
    if announced.isdigit() and int(announced) > MOST_BYTES:
        raise too_large
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise RequestError(400, "the request ended before its end")
                body += bytes(message.get("body", b""))
                if len(body) > MOST_BYTES:
                    raise too_large
                if not message.get("more_body"):
                    break
    except TimeoutError:
        raise RequestError(408, "the request did not arrive", allowed=f"{BODY_SECONDS:g} seconds") from None
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
