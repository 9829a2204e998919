"""The lines of a file of delimited text, each of which is one row, checked before any engine reads them.

One person's bytes may change that person's rows and nothing else. Readers of CSV are lenient, each in its own way: a
quote that is never closed takes the lines behind it into one field, a lone carriage return ends a line for some, a
missing field is made up for by others. So the bytes are checked by a grammar that leaves them no choice:

    file    the lines, all ended by LF or all by CR LF, as the first is
    line    as many fields as the first, with the delimiter between them
    field   signs without quote, delimiter, CR, LF and NUL
            or quote, signs without CR, LF and NUL in which each quote is doubled, quote

A line break ends a line wherever it stands, so that whether a line is in the grammar depends on its own bytes. If all
lines are, every reader that knows quotes reads line by line what stands there; if one is not, the file is refused in
the same words, whatever is wrong with it. Hence the law: lines of one person added, taken away or garbled change the
rows by that person's, or end in a sentence that says nothing. A text with line breaks in it cannot be written in such a
file; Parquet holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudare.engines.csv_layout import MOST_LINE, CsvLayout, not_csv, opened

_PIECE = 1 << 22
_LF, _CR, _QUOTE = b'\n\r"'


def checked_pieces(path: Path, layout: CsvLayout) -> Iterator[bytes]:
    """The lines of a file in UTF-8, the first with them, in pieces of some megabytes; refuses what is no such file."""
    for lines in whole_lines(path, layout):
        text = checked(lines, layout)
        if text is None:
            raise not_csv(path)
        yield text


def check_lines(path: Path, layout: CsvLayout) -> None:
    """`checked_pieces`, for a reader that goes to the file itself afterwards."""
    for _ in checked_pieces(path, layout):
        pass


def whole_lines(path: Path, layout: CsvLayout) -> Iterator[bytes]:
    """The bytes of a file, cut at ends of lines.

    Of a line that is too long the beginning comes, which `checked` refuses; going on behind it is refused here, so that
    nobody's lines are left out.
    """
    with opened(path) as stream:
        rest = b""
        while block := stream.read(_PIECE):
            lines, found, rest = (rest + block).rpartition(b"\n")
            if found:
                yield lines + found
            if len(rest) > MOST_LINE:
                yield rest + b"\n"
                raise not_csv(path)
        if rest:
            yield rest + (b"\r\n" if layout.crlf else b"\n")


def checked(lines: bytes, layout: CsvLayout) -> bytes | None:
    """Whole lines in UTF-8; None if they are not in the encoding and the grammar.

    A line is measured in the bytes of the file, as in `whole_lines`, and once more in UTF-8, which engines read.
    """
    if not layout.utf8 and _lengths(np.frombuffer(lines, dtype=np.uint8)).max() > MOST_LINE:
        return None
    try:
        # The encoding lets lines be read one by one, so that they can be read together.
        text = lines if layout.utf8 and lines.isascii() else lines.decode(layout.encoding).encode()
    except UnicodeError:
        return None
    return text if well_formed(text, layout) else None


def well_formed(lines: bytes, layout: CsvLayout) -> bool:
    """Whether whole lines in UTF-8, the last one ended too, are in the grammar.

    >>> layout = CsvLayout("utf-8", ",", ("id", "ward"))
    >>> [well_formed(line + b"\\n", layout) for line in (b"1,'", b'1,"a, b"', b'1," "" "')]
    [True, True, True]
    >>> [well_formed(line + b"\\n", layout) for line in (b'1,"a', b'1,a"', b"1", b"1,2,3", b"1,2\\r", b"")]
    [False, False, False, False, False, False]
    """
    breaks = lines.count(b"\n")
    returns = lines.count(b"\r\n") if layout.crlf else 0
    if b"\0" in lines or lines.count(b"\r") != returns or (layout.crlf and returns != breaks):
        return False
    signs = np.frombuffer(lines, dtype=np.uint8)
    delimiter = ord(layout.delimiter)
    ends = np.flatnonzero(signs == _LF)
    cuts = np.flatnonzero(signs == delimiter)
    lengths = _lengths(signs)
    # An empty line has no field, or an empty one: readers differ.
    if lengths.max() > MOST_LINE or lengths.min() == 1 + layout.crlf:
        return False
    if b'"' in lines:
        quotes = np.flatnonzero(signs == _QUOTE)
        opening, closing = quotes[::2], quotes[1::2]
        if len(opening) != len(closing) or (np.searchsorted(ends, opening) != np.searchsorted(ends, closing)).any():
            return False
        # A doubled quote closes and opens again. Before the first sign stands the last one, which is a line break.
        before, after = signs[opening - 1], signs[closing + 1]
        if (
            not np.isin(before, (_LF, delimiter, _QUOTE)).all()
            or not np.isin(after, (_LF, _CR, delimiter, _QUOTE)).all()
        ):
            return False
        cuts = cuts[np.searchsorted(quotes, cuts) % 2 == 0]
    each = len(layout.names) - 1
    if len(cuts) != each * len(ends):
        return False
    # So many in all: each line has its own if the last of each so many lies before its line's end, the next behind it.
    return each == 0 or bool((cuts[each - 1 :: each] < ends).all() and (cuts[each::each] > ends[:-1]).all())


def _lengths(signs: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Bytes of each line with its line break."""
    return np.diff(np.flatnonzero(signs == _LF), prepend=-1)
