"""Runs the service in this process until it is stopped.

Uvicorn limits the number of connections and the time between two requests, but not how long a connection may stay open
before its request has arrived: idle ones could use up all places.
"""

from __future__ import annotations

import logging
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn

from sudare.collector.collection import Collection
from sudare.collector.sealing import sealing_key
from sudare.collector.storage import RequestError
from sudare.collector.survey import Survey
from sudare.collector.survey_file import load
from sudare.errors import InputError, Message, MissingExtraError, OutputError, SudareError, system_reason, together
from sudare.workflow.reports import load_or_create, public_text

HEAD_SECONDS = 20.0
_TICKS_A_SECOND = 10  # of Uvicorn's main loop


def listen(host: str, port: int, backlog: int, who: Message) -> socket.socket:
    """A socket that accepts connections, so that those who come before the service is up wait for it."""
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        listening = socket.socket(family, kind, protocol)
    except OSError:
        raise InputError("there is no such address to listen on", value=host) from None
    try:
        if sys.platform == "win32":  # where the other option would let another program listen in our place
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(backlog)
    except OSError as problem:
        listening.close()
        raise InputError(
            "the {who} cannot listen there: {reason}", value=f"{host}:{port}", who=who, reason=system_reason(problem)
        ) from None
    return listening


def shown_address(host: str, listening: socket.socket) -> str:
    """The web address of a socket."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


class PatientServer(uvicorn.Server):
    """Closes connections on which no head of a request has come for `HEAD_SECONDS`."""

    def __init__(self, app: Any, most_connections: int, **settings: Any) -> None:
        """Serves ``app`` without a log of requests; ``settings`` are further ones of `uvicorn.Config`."""
        logging.basicConfig(format="%(levelname)s %(message)s")
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=most_connections,
                **settings,
            )
        )
        self._waiting: dict[Any, tuple[Any, float]] = {}

    async def on_tick(self, counter: int) -> bool:
        """Called by Uvicorn ten times a second."""
        if counter % _TICKS_A_SECOND == 0:
            self._close_silent(time.monotonic())
        return await super().on_tick(counter)

    def _close_silent(self, now: float) -> None:
        """Each waiting connection is remembered with the request it had last, and since when."""
        before, self._waiting = self._waiting, {}
        for connection in list(self.server_state.connections):
            last = getattr(connection, "cycle", None)
            if last is not None and not getattr(last, "response_complete", True):
                continue  # a request is being answered
            known = before.get(connection)
            since = now if known is None or known[0] is not last else known[1]
            if now - since >= HEAD_SECONDS:
                connection.transport.close()
            else:
                self._waiting[connection] = (last, since)


_LOOK_EVERY = 1.0  # seconds


class Watch:
    """Compares the file at ``path`` with the ``survey`` that was read from it at the start.

    A changed question, list of answers or encoding stops the collection until the collector is started anew: devices
    are still asked the old one. A changed token or rate waits for that, and a file that cannot be read (an editor is at
    work) changes nothing.
    """

    def __init__(self, path: Path, survey: Survey, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._survey, self._clock = path, survey, clock
        self._seen = path.read_bytes()
        self._next = clock() + _LOOK_EVERY
        self._changed: list[str] = []

    def check(self) -> None:
        """`RequestError` while the file says something else than what is being asked."""
        if self._clock() >= self._next:
            self._next = self._clock() + _LOOK_EVERY
            with suppress(OSError, SudareError):
                self._look()
        if self._changed:
            raise RequestError(
                503,
                "the survey was changed while the collector runs: {changed}",
                hint="Start the collector again with a storage of its own, or take back the change.",
                changed=together(self._changed),
            )

    def _look(self) -> None:
        if (written := self._path.read_bytes()) != self._seen:
            before, now = self._survey.identity, load(self._path).identity
            self._changed = sorted(key for key in {*before, *now} if now.get(key) != before.get(key))
            self._seen = written


def link_of(survey: Survey, address: str) -> str:
    """What to hand out: where the survey is answered, and the key that signs it."""
    return f"{address.rstrip('/')}/device#key={public_text(load_or_create(Path(survey.key)))}"


def draw_link(link: str, path: Path) -> None:
    """Write an SVG file with the link as a QR code."""
    segno = MissingExtraError.load("segno", Message("the library that draws QR codes"), "collector")
    with OutputError.from_system("the QR code cannot be written: {reason}", value=str(path)):
        segno.make(link, micro=False).save(str(path), kind="svg", scale=8, light="white")


_BACKLOG = 2048
_MOST_CONNECTIONS = 2000


def serve(
    path: str | Path, host: str = "127.0.0.1", port: int = 8000, ready: Callable[[Survey, str], None] | None = None
) -> None:
    """Serve the survey in the file ``path``; ``ready`` is told its address when reports are welcome.

    What the service keeps of a request is the report: there is no log of requests, and errors name no sender.
    """
    try:
        from sudare.collector.service import create_app
    except ImportError:
        raise MissingExtraError.of(Message("a web server"), "collector") from None
    survey = load(path)
    listening = listen(host, port, _BACKLOG, Message("collector"))
    with listening:
        collection = Collection(survey)
        if survey.ledger is not None:
            survey.ledger.enter(survey)
        sealing = sealing_key(Path(survey.key + ".seal")) if survey.shuffler else None
        app = create_app(collection, Watch(Path(path), survey), load_or_create(Path(survey.key)), sealing)
        http = getattr(app.state, "http", "h11")
        server = PatientServer(app, _MOST_CONNECTIONS, timeout_graceful_shutdown=10, http=http)
        if ready is not None:
            ready(survey, shown_address(host, listening))
        server.run(sockets=[listening])
