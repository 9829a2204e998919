"""Sums over reports that suffice for an estimate: computed in a stream, merged by addition, written as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, Message, ParameterError, SudareError
from sudare.local.choosing import encoding_from_json
from sudare.local.encoding import Encoding
from sudare.local.layout import Packed
from sudare.local.reports import Reports, same_survey
from sudare.local.several import Several

FORMAT = 1


class Tally:
    """Sums over the reports of one ``encoding``; memory does not grow with their number.

    >>> from sudare.local import SymmetricUnary
    >>> encoding = SymmetricUnary(size=23, epsilon=1)
    >>> tally = Tally(encoding)
    >>> tally = tally.add(encoding.randomize([7, 7, 22])).add(encoding.randomize([0, 7]))
    >>> tally.reports, tally.support.shape
    (5, (23,))
    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self.reports = 0
        self.seeded = False
        self.unbooked = False
        self.sums: NDArray[np.int64] = np.zeros(encoding.layout.sums, dtype=np.int64)

    def add(self, reports: Reports | Packed) -> Tally:
        """Count more reports, packed rows or `Reports`: all of them, or none where one is refused. Returns itself."""
        if isinstance(reports, Reports):
            same_survey(self.encoding, reports.encoding)
            packed, seeded, booked = reports.packed, reports.seeded, reports.booked
        else:
            self.encoding.check(reports)
            packed, seeded, booked = reports, False, False
        self.sums += self.encoding.layout.tally(packed)
        self.reports += len(packed)
        self.seeded |= seeded
        self.unbooked |= not booked
        return self

    @property
    def booked(self) -> bool:
        """Whether there are reports, and a ledger has the survey of all of them."""
        return self.reports > 0 and not self.unbooked

    @property
    def support(self) -> NDArray[np.float64]:
        """How many reports support each value (size,); for the square wave, how often each report came."""
        return self.encoding.support(self.sums, self.reports)

    def part(self, question: str) -> Tally:
        """Of reports to several questions, the tally of those to one."""
        encoding = several(self.encoding)
        number, values = encoding.place(question)
        made = Tally(encoding.layout.parts[number])
        made.reports, made.seeded, made.unbooked = self.reports, self.seeded, self.unbooked
        made.sums = self.sums.reshape(encoding.layout.values, -1).diagonal()[values].copy()
        return made

    def __add__(self, other: Tally) -> Tally:
        """Both together, as a new tally."""
        same_survey(self.encoding, other.encoding)
        merged = Tally(self.encoding)
        merged.sums = self.sums + other.sums
        merged.reports = self.reports + other.reports
        merged.seeded = self.seeded or other.seeded
        merged.unbooked = self.unbooked or other.unbooked
        return merged

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "survey": self.encoding.to_json(),
            "reports": self.reports,
            "seeded": self.seeded,
            **({"booked": True} if self.booked else {}),
            "sums": self.sums.tolist(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Tally:
        try:
            InputError.refuse_newer(Message("the tally"), data.get("format", 1), FORMAT)
            tally = cls(encoding_from_json(data["survey"]))
            tally.reports, tally.seeded = int(data["reports"]), bool(data["seeded"])
            tally.unbooked = data.get("booked") is not True
            sums = np.array(data["sums"], dtype=np.int64)
        except SudareError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            raise InputError("the JSON of a tally lacks a part", allowed="survey, reports, seeded, sums") from None
        if not 0 <= tally.reports < 2**62:
            raise InputError("the number of reports of a tally is out of range", allowed="0 to 2**62")
        if sums.shape != tally.sums.shape or (len(sums) and not 0 <= sums.min() <= sums.max() <= tally.reports):
            raise InputError("the sums of a tally do not fit its survey", allowed="{count} sums", count=len(tally.sums))
        tally.sums = sums
        return tally

    def __repr__(self) -> str:
        return f"Tally({self.reports} reports of {self.encoding!r})"


def several(encoding: Encoding) -> Several:
    """The encoding itself; refused unless it is one of several questions."""
    if not isinstance(encoding, Several):
        raise ParameterError("the reports are to one question", value=encoding.name)
    return encoding
