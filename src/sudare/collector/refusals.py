"""The collector's two errors: a request that is refused, and a database that cannot be used."""

from __future__ import annotations

from typing import Any

from sudare.errors import Message, SudareError


class RequestError(SudareError):
    """A request that is refused, with the HTTP status that says of which kind.

    The sentence goes to whoever sent the request: it names what is allowed and never repeats what came.

    >>> print(RequestError(413, "the request is too large", allowed="1,000 reports"))
    the request is too large (allowed: 1,000 reports)
    """

    code = "collector_request"

    def __init__(self, status: int, template: str | Message, *, retry_after: int = 0, **parts: Any) -> None:
        super().__init__(template, **parts)
        self.status = status
        self.retry_after = retry_after

    @classmethod
    def of(cls, problem: SudareError) -> RequestError:
        """The refusal of a request for its content: what is wrong and what is allowed, without what came."""
        return cls(400, problem.message, allowed=problem.allowed_message)


class StorageError(SudareError):
    """Reports cannot be stored or read: the database is away, full, damaged, locked or another survey's."""

    code = "storage"
