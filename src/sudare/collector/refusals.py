"""The collector's two errors: a request that is refused, and a database that cannot be used."""

from __future__ import annotations

from sudare.errors import SudareError


class RequestError(SudareError):
    """A request that is refused, with the HTTP status that says of which kind.

    The sentence goes to whoever sent the request: it names what is allowed and never repeats what came.

    >>> print(RequestError(413, "the request is too large", allowed="1,000 reports"))
    the request is too large (allowed: 1,000 reports)
    """

    def __init__(
        self, status: int, what: str, *, allowed: str | None = None, hint: str | None = None, retry_after: int = 0
    ) -> None:
        super().__init__(what, allowed=allowed, hint=hint)
        self.status = status
        self.retry_after = retry_after


class StorageError(SudareError):
    """Reports cannot be stored or read: the database is away, full, damaged, locked or another survey's."""
