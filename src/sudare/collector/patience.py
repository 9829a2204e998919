"""A server that listens before it is up, and does not wait forever for a request to begin.

Uvicorn bounds the number of connections and the time between two requests, but not the time until the head of a request
is there. Whoever opens connections and says nothing would hold all of them and keep everybody else out.
"""

from __future__ import annotations

import logging
import socket
import sys
import time
from typing import Any

import uvicorn

from sudare.errors import InputError, Message, system_reason

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
