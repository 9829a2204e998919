"""A server that does not wait forever for a request to begin.

Uvicorn bounds the number of connections and the time between two requests, but not the time until the head of a request
is there. Whoever opens connections and says nothing would hold all of them and keep everybody else out.
"""

from __future__ import annotations

import time
from typing import Any

import uvicorn

HEAD_SECONDS = 20.0
_TICKS_A_SECOND = 10  # of Uvicorn's main loop


class PatientServer(uvicorn.Server):
    """Closes connections on which no head of a request has come for `HEAD_SECONDS`."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
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
