"""Many reports of one encoding, packed: what devices send and collectors read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import InputError
from sudare.local.layout import Packed
from sudare.privacy import Guarantee

if TYPE_CHECKING:
    from sudare.local.encoding import Encoding


@dataclass(frozen=True, eq=False)
class Reports:
    """``packed`` (n, report_bytes) uint8, one report a row, of ``encoding``.

    ``len`` is their number, a slice is `Reports` again, ``+`` puts two of the same encoding together. ``seeded``
    reports were made for an experiment and promise nothing; ``booked`` ones came to a collector whose ledger has their
    survey, and of all others the guarantee says that they are in no ledger.

    >>> from sudare.local import SymmetricUnary
    >>> reports = SymmetricUnary(size=23, epsilon=1).randomize([3, 4, 4], seed=1)
    >>> len(reports[1:] + reports), reports.guarantee.notion
    (5, 'none: seeded')
    """

    encoding: Encoding
    packed: Packed
    seeded: bool = False
    booked: bool = False

    def __post_init__(self) -> None:
        self.encoding.check(self.packed)

    @property
    def guarantee(self) -> Guarantee:
        """What a person's one report promises."""
        promised = self.encoding.guarantee
        if self.seeded:
            return promised.without_protection()
        return promised if self.booked else promised.unbooked()

    def __len__(self) -> int:
        return len(self.packed)

    def __getitem__(self, place: slice) -> Reports:
        if not isinstance(place, slice):
            raise InputError("reports are taken by slices", value=type(place).__name__, allowed="reports[start:stop]")
        return Reports(self.encoding, self.packed[place], self.seeded, self.booked)

    def __add__(self, other: Reports) -> Reports:
        return Reports.concatenate([self, other])

    def chunks(self, length: int = 1 << 16) -> Iterator[Reports]:
        """Slices of at most ``length`` reports, in order."""
        for start in range(0, len(self), length):
            yield self[start : start + length]

    @classmethod
    def concatenate(cls, parts: Iterable[Reports]) -> Reports:
        """Reports of one encoding together, in order."""
        listed = list(parts)
        if not listed:
            raise InputError("there are no reports to put together", allowed="at least one part")
        for part in listed[1:]:
            same_survey(listed[0].encoding, part.encoding)
        packed = np.concatenate([part.packed for part in listed])
        seeded, booked = any(part.seeded for part in listed), all(part.booked for part in listed)
        return cls(listed[0].encoding, packed, seeded, booked)

    def __repr__(self) -> str:
        return f"Reports({len(self)} of {self.encoding!r})"

    def to_parquet(self, path: str | Path) -> Path:
        """Write one column of fixed-length bytes; the encoding stands in the file's metadata."""
        from sudare.local.files import write_parquet

        return write_parquet(self, Path(path))

    @classmethod
    def from_parquet(cls, path: str | Path, encoding: Encoding | None = None) -> Reports:
        """Read what `to_parquet` wrote; with ``encoding``, refuse reports for another survey."""
        from sudare.local.files import read_parquet

        return cls.concatenate(read_parquet(Path(path), encoding))

    def to_json_lines(self, path: str | Path) -> Path:
        """Write a first line with the encoding, then one line ``{"report": "..."}`` (base64url) per report."""
        from sudare.local.files import write_json_lines

        return write_json_lines(self, Path(path))

    @classmethod
    def from_json_lines(cls, path: str | Path, encoding: Encoding | None = None) -> Reports:
        """Read what `to_json_lines` wrote; with ``encoding``, refuse reports for another survey."""
        from sudare.local.files import read_json_lines

        return cls.concatenate(read_json_lines(Path(path), encoding))


def same_survey(expected: Encoding, given: Encoding) -> None:
    """Refuse reports whose encoding, size or epsilon is another."""
    if expected != given:
        raise InputError(
            "the reports are for another survey",
            value=given.to_json(),
            allowed=[expected.to_json()],
        )
