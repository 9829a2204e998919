"""Reports that were made and wait to be sent, in memory or in a file.

An answer is randomised once. Randomising it again after a broken connection would reveal twice as much about it, so
reports are stored before the first one is sent, and every further attempt sends the same ones under the same ids.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from sudare.collector.storage import ID_BYTES, Row
from sudare.collector.survey import Survey
from sudare.errors import InputError, OutputError, system_reason
from sudare.local import Encoding, Reports, decode_report, encode_report


@dataclass(frozen=True)
class Outbox:
    """``rows`` (id, report) for the survey with this ``fingerprint``.

    >>> from sudare.local import SymmetricUnary
    >>> reports = SymmetricUnary(size=3, epsilon=1).randomize([0, 2])
    >>> outbox = Outbox.of(reports, "5f" * 16)
    >>> [len(batch) for batch in outbox.batches(1)]
    [1, 1]
    """

    fingerprint: str
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, reports: Reports, fingerprint: str) -> Outbox:
        """Reports with fresh random ids."""
        return cls(fingerprint, tuple((os.urandom(ID_BYTES), report.tobytes()) for report in reports.packed))

    @property
    def digest(self) -> str:
        """Names these reports in the ledger of the device."""
        return hashlib.sha256(b"".join(identity for identity, _ in self.rows)).hexdigest()[:32]

    def batches(self, most: int) -> Iterator[tuple[Row, ...]]:
        """The rows in order, at most ``most`` at a time."""
        for start in range(0, len(self.rows), most):
            yield self.rows[start : start + most]

    def body(self, rows: tuple[Row, ...]) -> bytes:
        """The request that sends these rows."""
        return json.dumps({"survey": self.fingerprint, "reports": [_written(row) for row in rows]}).encode()

    @classmethod
    def from_body(cls, body: bytes, survey: Survey) -> Outbox:
        """The inverse of `body`."""
        return cls(survey.fingerprint, tuple(_read(item, survey.encoding) for item in json.loads(body)["reports"]))

    def save(self, path: Path) -> None:
        """Write a new file, on the disk when this returns: the survey's fingerprint, then one report a line."""
        with (
            OutputError.from_system("the reports cannot be written down: {reason}", value=path),
            path.open("x", encoding="ascii", newline="\n") as file,
        ):
            file.write(json.dumps({"survey": self.fingerprint, "reports": len(self.rows)}) + "\n")
            file.writelines(json.dumps(_written(row)) + "\n" for row in self.rows)
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def load(cls, path: Path, survey: Survey) -> Outbox:
        """Read what `save` wrote for this survey."""
        try:
            first, *lines = path.read_text(encoding="ascii").splitlines()
            rows = tuple(_read(json.loads(line), survey.encoding) for line in lines)
            fingerprint, announced = itemgetter("survey", "reports")(json.loads(first))
        except OSError as problem:
            raise InputError(
                "the reports cannot be read: {reason}", value=path, reason=system_reason(problem)
            ) from None
        except (KeyError, TypeError, ValueError, RecursionError, InputError):
            raise InputError("the file does not hold reports that wait to be sent", value=path) from None
        if fingerprint not in (survey.fingerprint, survey.earlier_fingerprint):
            raise InputError(
                "the reports are for another survey", value=path, hint="Give the address of the one they were made for."
            )
        if len(rows) != announced:
            raise InputError(
                "the file of reports is truncated",
                value=path,
                hint="Nothing was sent yet: the file is written before sending begins. Remove it and begin again.",
            )
        return cls(survey.fingerprint, rows)


def _written(row: Row) -> dict[str, str]:
    return {"id": row[0].hex(), "report": encode_report(row[1])}


def _read(item: Any, encoding: Encoding) -> Row:
    return bytes.fromhex(item["id"]), decode_report(item["report"], encoding)
