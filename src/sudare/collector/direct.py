"""Reports that come in the plain form of a client are taken without the web framework, for speed.

Half of the time of a single report went into a general parser of HTTP, and most of the rest into routing. A connection
whose next bytes are exactly one ``POST /reports`` with a few known headers is answered here; all else is handed to
Uvicorn as it came, byte for byte, and so is what is refused: whatever is no plain report is understood in one place.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sudare.collector.group_commit import Receipt
from sudare.errors import SudareError

Take = Callable[[str, str, bytes], tuple[Future[Receipt], int]]
"""Queues the reports of a body, for a host and what a proxy said of it; their receipt, and how many they are."""
_HEAD = re.compile(rb"POST /reports HTTP/1\.1\r\n((?:[A-Za-z-]{1,40}: [ -~]{1,500}\r\n){2,12})\r\n")
_KNOWN = {
    b"accept",
    b"accept-encoding",
    b"connection",
    b"content-length",
    b"content-type",
    b"host",
    b"user-agent",
    b"x-forwarded-for",
}
_NEEDED = (
    "_unset_keepalive_if_required",
    "client",
    "conn",
    "connections",
    "cycle",
    "limit_concurrency",
    "loop",
    "on_response_complete",
    "server_state",
    "transport",
)
"""What is used of Uvicorn's protocol beside its public methods: a version without one of them does all by itself."""
_LONGEST = 1 << 16
_REST_SECONDS = 0.5
"""How long the rest of a body is waited for here."""
_STATUS = {200: b"HTTP/1.1 200 OK\r\n", 202: b"HTTP/1.1 202 Accepted\r\n"}


class _Exchange:
    """A request that is being answered, as Uvicorn asks about it when it stops or a connection is lost."""

    def __init__(self, keep_alive: bool) -> None:
        self.response_complete = False
        self.disconnected = False
        self.keep_alive = keep_alive
        self.message_event = asyncio.Event()


class DirectProtocol(H11Protocol):
    """Uvicorn's protocol, with `Take` (``state.take`` of the app) before it; ``hold`` and ``again`` are seconds."""

    take: Take
    hold: float
    again: int

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._known = all(hasattr(self, name) for name in _NEEDED)
        self._held = b""
        self._rest: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Answer a plain report, wait a moment for its rest, or hand what came to Uvicorn."""
        if not self._known or self.conn.their_state is not h11.IDLE or self.conn.trailing_data[0]:
            return super().data_received(data)
        self._stop_waiting()
        data, self._held = self._held + data, b""
        found = _HEAD.match(data)
        headers = self._plain(found[1]) if found else None
        if found is None or headers is None or len(self.connections) >= (self.limit_concurrency or len(data)):
            return super().data_received(data)
        end = found.end() + int(headers[b"content-length"])
        if len(data) < end <= _LONGEST:
            self._held = data
            self._rest = self.loop.call_later(_REST_SECONDS, self._hand_on)
            return None
        if len(data) != end or not self._taken(data, data[found.end() :], headers):
            return super().data_received(data)
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any longer; reports that were taken are stored all the same."""
        self._stop_waiting()
        super().connection_lost(exc)

    @staticmethod
    def _plain(lines: bytes) -> dict[bytes, bytes] | None:
        """The headers by name; None unless each is known, comes once, and leaves no doubt how long the body is."""
        pairs = [line.split(b": ", 1) for line in lines.split(b"\r\n")[:-1]]
        headers = {name.lower(): value for name, value in pairs}
        plain = (
            len(headers) == len(pairs)
            and headers.keys() <= _KNOWN
            and headers.get(b"content-type") == b"application/json"
            and headers.get(b"connection", b"keep-alive").lower() in (b"keep-alive", b"close")
            and headers.get(b"content-length", b"").isdigit()
            and b"host" in headers
        )
        return headers if plain else None

    def _taken(self, data: bytes, body: bytes, headers: dict[bytes, bytes]) -> bool:
        host = self.client[0] if self.client else ""
        try:
            stored, reports = self.take(host, headers.get(b"x-forwarded-for", b"").decode("ascii"), body)
        except SudareError:
            return False
        self._unset_keepalive_if_required()
        exchange = _Exchange(headers.get(b"connection", b"").lower() != b"close")
        self.cycle = exchange  # type: ignore[assignment]  # what Uvicorn asks of it is there
        self.transport.pause_reading()
        late = self.loop.call_later(self.hold, self._waits, exchange, reports)

        def done(receipt: Future[Receipt]) -> None:
            self.loop.call_soon_threadsafe(self._stored, exchange, receipt, late, data)

        stored.add_done_callback(done)
        return True

    def _stored(self, exchange: _Exchange, stored: Future[Receipt], late: asyncio.TimerHandle, data: bytes) -> None:
        late.cancel()
        if exchange.response_complete or self.transport.is_closing():
            return
        if stored.exception() is not None:  # told by the one who tells all faults
            exchange.response_complete = True
            self.transport.resume_reading()
            super().data_received(data)
            return
        receipt = stored.result()
        self._write(exchange, 200, {"stored": receipt.stored, "known": receipt.known})

    def _waits(self, exchange: _Exchange, reports: int) -> None:
        if not self.transport.is_closing():
            self._write(exchange, 202, {"waiting": reports}, b"retry-after: %d\r\n" % self.again)

    def _write(self, exchange: _Exchange, status: int, content: dict[str, int], more: bytes = b"") -> None:
        body = json.dumps(content, separators=(",", ":")).encode()
        lines = b"".join(b"%s: %s\r\n" % pair for pair in self.server_state.default_headers)
        kept = b"" if exchange.keep_alive else b"connection: close\r\n"
        size = b"content-length: %d\r\ncontent-type: application/json\r\n" % len(body)
        self.transport.write(_STATUS[status] + lines + more + size + kept + b"\r\n" + body)
        exchange.response_complete = True
        if exchange.keep_alive:
            self.transport.resume_reading()
            self.on_response_complete()
        else:
            self.transport.close()

    def _stop_waiting(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _hand_on(self) -> None:
        data, self._held, self._rest = self._held, b"", None
        if not self.transport.is_closing():
            super().data_received(data)


def direct_protocol(take: Take, hold: float, again: int) -> type[DirectProtocol]:
    """The protocol for one collection: ``hold`` seconds until a sender is told to come back ``again``."""
    return type("Direct", (DirectProtocol,), {"take": staticmethod(take), "hold": hold, "again": again})
