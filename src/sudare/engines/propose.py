"""What the steward's tools propose for a file of delimited text: a guess from all its bytes, to be declared or not.

Nothing that counts, plans, rehearses or publishes calls this. A proposal depends on every person's bytes and goes to
the steward alone, who writes ``encoding`` and ``delimiter`` into the recipe: from then on they are declared.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from sudare.engines.csv_layout import CsvLayout, csv_layout, opened
from sudare.engines.csv_lines import checked, whole_lines
from sudare.errors import InputError, ParameterError

_GUESSES = ("utf-8", "cp932")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Proposal:
    """How a file seems to be written.

    ``encoding`` and ``delimiter`` are what `read` takes. ``faulty_line`` is the number of the first line (the first of
    the file is 1) that `read` refuses under them, None if there is none. It is private: a line is somebody's.
    """

    encoding: str
    delimiter: str
    faulty_line: int | None


def propose_layout(path: str | Path) -> Proposal:
    """The encoding, UTF-8 or CP932, under which the first faulty line comes last, and where that is.

    For the steward's eyes: what it says depends on every line. A file in UTF-16 is refused by `read` and here.
    """
    given = Path(path)
    with opened(given) as stream:
        if stream.read(2) in _UTF16:
            raise InputError(
                "the file is written in UTF-16",
                value=str(path),
                allowed="utf-8, cp932",
                hint="Write it in UTF-8 first.",
            )
    found = [_under(given, encoding) for encoding in _GUESSES]
    # The first of equals is UTF-8; a file without a faulty line is best.
    return max(found, key=lambda each: (each.faulty_line is None, each.faulty_line or 0))


def _under(path: Path, encoding: str) -> Proposal:
    try:
        layout = csv_layout(path, encoding)
    except (InputError, ParameterError):
        return Proposal(encoding, ",", 1)
    number = 1
    for lines in whole_lines(path, layout):
        if checked(lines, layout) is None:
            return Proposal(encoding, layout.delimiter, number + _first_fault(lines, layout))
        number += lines.count(b"\n")
    return Proposal(encoding, layout.delimiter, None)


def _first_fault(lines: bytes, layout: CsvLayout) -> int:
    """Which of these lines, not all of which fit, is the first that does not: found by halving."""
    each = [line + b"\n" for line in lines.split(b"\n")[:-1]]
    fitting, faulty = 0, len(each)
    while faulty - fitting > 1:
        middle = (fitting + faulty) // 2
        if checked(b"".join(each[fitting:middle]), layout) is None:
            faulty = middle
        else:
            fitting = middle
    return fitting
