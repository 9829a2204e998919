"""Who may use the studio: whoever has its link, and then the browser tab in which the link was opened.

The link holds a token that works once: it is exchanged for a session, and a new token replaces it. The page keeps the
session in its tab's storage, which belongs to one origin including the port, and sends it as a header. Cookies are not
used: a browser sends those to every port of a machine, and so to any other program that listens there.

A file that is downloaded or shown in a frame is requested by the browser itself, without that header. For each such
file the page gets a ticket, which is valid once and for a short time.

The command line of a browser can be read by every user of the machine while the browser starts. So the link is written
into a page in a private folder, and the browser is given the path of that page. Whenever the link was used, the page
gets a new one, so that a tab that was closed by mistake can be opened again while the studio runs.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from html import escape
from pathlib import Path
from threading import Lock

from sudare.errors import InputError, SudareError, system_reason
from sudare.privacy.private_files import NEW_FILE

_NAME = "open.html"
_PAGE = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>Sudare</title>
<p><a href="{link}">Sudare</a></p>
"""


class Handover:
    """The page that leads to the studio at ``origin``, from `write` until `remove`."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="sudare-studio-", dir=_runtime_folder()))
        except OSError as problem:
            raise _unwritten(problem) from None
        self.page = self._folder / _NAME
        self.link = ""

    def write(self, token: str) -> None:
        """The page for the link with ``token``, in place of the one before."""
        # A fragment stays in the browser: no request, no log and no referrer has it.
        self.link = f"{self._origin}/data#token={token}"
        partial = self._folder / f"{_NAME}.partial"
        try:
            partial.unlink(missing_ok=True)
            private = os.open(partial, NEW_FILE, 0o600)
            with os.fdopen(private, "w", encoding="utf-8", newline="\n") as file:
                file.write(_PAGE.format(link=escape(self.link)))
            partial.replace(self.page)
        except OSError as problem:
            raise _unwritten(problem) from None

    def remove(self) -> None:
        """No page any more."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _unwritten(problem: OSError) -> InputError:
    return InputError(
        "the link to the studio cannot be written: {reason}",
        hint="Set XDG_RUNTIME_DIR or TMPDIR to a writable folder of your own.",
        reason=system_reason(problem),
    )


def _runtime_folder() -> str | None:
    """The user's own folder for what lives as long as a session; None, for the one of temporary files, without it."""
    if sys.platform == "win32":  # where that one is the user's own already
        return None
    found = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    try:
        known = found.stat()
    except OSError:
        return None
    private = stat.S_ISDIR(known.st_mode) and not known.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return str(found) if found.is_absolute() and private and known.st_uid == os.getuid() else None


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
