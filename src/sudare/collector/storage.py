"""Where reports are kept: a table of (id, report) that belongs to one survey and one running collector.

A report whose id is stored already is not stored again. Besides, the tally that is shown is kept, so that a restart
shows the same. No time and no address is kept, and no order within a batch: its rows come sorted by their random ids.
Which batch a report belongs to can be read off the files (pages of SQLite's log, transaction numbers of PostgreSQL).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from sudare.errors import Message, SudareError, together


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


ID_BYTES = 16
Row = tuple[bytes, bytes]
"""The id of a report, and the report."""


class ReportStore(Protocol):
    """The reports of one survey."""

    def add(self, rows: Sequence[Row]) -> list[bool]:
        """Store what is new, in one transaction that is on the disk when this returns; True for each new row."""

    def known(self, identities: Sequence[bytes]) -> set[bytes]:
        """Those of the ids whose reports are stored."""

    def chunks(self, rows: int) -> Iterator[bytes]:
        """All reports, at most ``rows`` at a time, end to end."""

    def publish(self, tally: str) -> None:
        """Keep the text of the tally that is shown from now on, in the place of the one before."""

    def published(self) -> str | None:
        """What `publish` kept; None where nothing was shown."""

    def close(self) -> None:
        """Release the database."""


def canonical(identity: dict[str, Any]) -> str:
    """The identity of a survey as the text that its database keeps."""
    return json.dumps(identity, sort_keys=True, ensure_ascii=False)


def check_identity(kept: str, identity: dict[str, Any], where: Message) -> None:
    """Refuse a database whose reports answer another question, naming what differs.

    >>> check_identity('{"name": "a", "question": "x"}', {"name": "a", "question": "y"}, Message("it"))
    Traceback (most recent call last):
    sudare.collector.storage.StorageError: it belongs to another survey: question differs. Give this ...
    """
    if kept == canonical(identity):
        return
    try:
        other = json.loads(kept)
        if "texts" not in other:  # made when the identity was question, answers and encoding alone
            identity = {key: identity[key] for key in ("name", "question", "answers", "privacy") if key in identity}
            if other == json.loads(canonical(identity)):
                return
        changed = sorted(key for key in {*other, *identity} if other.get(key) != identity.get(key))
    except (AttributeError, TypeError, ValueError, RecursionError):
        raise StorageError("{where} is damaged: it does not say which survey it belongs to", where=where) from None
    differ = Message("differs") if len(changed) == 1 else Message("differ")
    raise StorageError(
        "{where} belongs to another survey: {changed} {differ}",
        hint="Give this survey a storage of its own, or take back the change.",
        where=where,
        changed=together(changed),
        differ=differ,
    )
