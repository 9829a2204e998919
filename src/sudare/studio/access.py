"""Who may use the studio: whoever has the link that was printed, once, and then the browser it was opened in.

The link's token is exchanged for a cookie and is dead from then on. Another user of the machine who finds the link in
a history, or a page of another site in the same browser, gets nothing.
"""

from __future__ import annotations

import secrets
from hmac import compare_digest
from threading import Lock

from starlette.requests import cookie_parser


class Access:
    """The token of one run of the studio, and the session that it opens. ``port`` names the cookie.

    >>> access = Access(8400)
    >>> session = access.redeem(access.token)
    >>> access.admits(f"{access.cookie}={session}"), access.redeem(access.token)
    (True, None)
    """

    def __init__(self, port: int) -> None:
        # Cookies know no ports: two studios on one machine must not overwrite each other's.
        self.cookie = f"sudare_studio_{port}"
        self.token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._fresh = True
        self._lock = Lock()

    def redeem(self, token: str) -> str | None:
        """The session for the right token, the first time."""
        right = compare_digest(token.encode(errors="replace"), self.token.encode())
        with self._lock:
            if right and self._fresh:
                self._fresh = False
                return self._session
        return None

    def admits(self, cookies: str) -> bool:
        """Whether a Cookie header has the session."""
        found = cookie_parser(cookies).get(self.cookie, "")
        return compare_digest(found.encode(errors="replace"), self._session.encode())
