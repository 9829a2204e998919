"""Who may use the studio: whoever has the link that was handed over, and then the tab it was opened in.

The link's token is exchanged for the session, once, and a new one takes its place. The session is kept by the page in
its tab's storage, which belongs to one origin, port included, and comes with each request as a header. No cookie has a
part in it: a browser sends those to every port of a machine, and so to any other program that listens there.

What a browser asks for by itself, without that header, is a file that is downloaded or shown in a frame. For it the
page gets a ticket: good for one file, once, and for a moment.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from threading import Lock

from sudare.errors import SudareError

TICKET_SECONDS = 60.0
_MOST_TICKETS = 1000
_SCHEME = "Bearer "


class Access:
    """The tokens, the session and the tickets of one run of the studio; ``handed`` is told each new token.

    >>> access = Access()
    >>> first = access.token
    >>> session = access.redeem(first)
    >>> access.admits(f"Bearer {session}"), access.redeem(first), access.token == first
    (True, None, False)
    """

    def __init__(
        self, handed: Callable[[str], None] = lambda _: None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.token = ""
        self._session = secrets.token_urlsafe(32)
        self._handed, self._clock = handed, clock
        self._tickets: dict[str, tuple[str, float]] = {}
        self._lock = Lock()
        self._renew()

    def redeem(self, token: str) -> str | None:
        """The session for the right token, which is dead from then on."""
        with self._lock:
            if not _same(token, self.token):
                return None
            # Where no new link can be handed over, the next tab goes without; this one has its session.
            with suppress(SudareError):
                self._renew()
        return self._session

    def admits(self, authorization: str) -> bool:
        """Whether an Authorization header has the session."""
        return authorization.startswith(_SCHEME) and _same(authorization.removeprefix(_SCHEME), self._session)

    def ticket_for(self, name: str) -> str:
        """A ticket for the file ``name`` of a release."""
        made = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._tickets) >= _MOST_TICKETS:
                del self._tickets[next(iter(self._tickets))]
            self._tickets[made] = name, self._clock() + TICKET_SECONDS
        return made

    def spend(self, ticket: str) -> tuple[str, bool] | None:
        """The file that a ticket stands for, and whether it is good for it: the first time, and in time."""
        with self._lock:
            if ticket not in self._tickets:
                return None
            name, end = self._tickets[ticket]
            self._tickets[ticket] = name, 0.0
        return name, end > self._clock()

    def _renew(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self._handed(self.token)


def _same(given: str, right: str) -> bool:
    return compare_digest(given.encode(errors="replace"), right.encode())
