"""Files of delimited text: the grammar of their lines, how they are laid out, and what tools propose for them.

The lines of a file of delimited text, each of which is one row, checked before any engine reads them.

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

How a file of delimited text is written: its encoding, its delimiter, its line ends, its columns.

Encoding and delimiter are declared, or UTF-8 and what the first line shows. Nothing behind the first line is looked at
here: one person's bytes must not decide how everybody's are read. The first line is no person's row if it holds the
columns that are declared, which `sudare.engines.columns.find` requires of every question; so what is learned from it,
the delimiter and the line end, is learned from public structure, or the file is refused. Until then its names may be
the values of the first person of a file without a header, and no message repeats them.

What the steward's tools propose for a file of delimited text: a guess from all its bytes, to be declared or not.

Nothing that counts, plans, rehearses or publishes calls this. A proposal depends on every person's bytes and goes to
the steward alone, who writes ``encoding`` and ``delimiter`` into the recipe: from then on they are declared.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError

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


DELIMITERS = (",", "\t", ";")
"""Of which the one that cuts the first line into most names is taken, where none is declared."""
MOST_LINE = 1 << 20
"""Bytes of a line."""
_MULTIBYTE = (
    "cp932", "shift_jis", "shift_jis_2004", "shift_jisx0213", "euc_jp", "euc_jis_2004", "euc_jisx0213",
    "gb2312", "gbk", "gb18030", "big5", "big5hkscs", "cp950", "cp949", "euc_kr", "johab",
)  # fmt: skip
"""Encodings of several bytes in which a line break is one byte that is never part of another sign."""
_ONE_BYTE = (
    "ascii", "hp-roman8", "koi8-r", "koi8-t", "koi8-u", "kz1048", "ptcp154", "tis-620",
    *(f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))),
    *(f"cp{page}" for page in range(1250, 1259)),
    "cp437", "cp720", "cp737", "cp775", "cp850", "cp852", "cp855", "cp857", "cp858", "cp860", "cp861", "cp862", "cp863",
    "cp865", "cp866", "cp869", "cp874", "cp1125",
    "mac-croatian", "mac-cyrillic", "mac-greek", "mac-iceland", "mac-latin2", "mac-roman", "mac-romanian",
    "mac-turkish",
)  # fmt: skip
"""Encodings in which each byte is a sign, those of ASCII its own."""


@dataclass(frozen=True)
class CsvLayout:
    """Encoding by its Python name, delimiter, whether lines end in CR LF, and the names in the first line."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    crlf: bool = False

    @property
    def utf8(self) -> bool:
        """Whether UTF-8 (or ASCII, which is part of it)."""
        return self.encoding in ("utf-8", "ascii")

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column stands that is named once, whatever its case; no other can be asked for."""
        folded = Counter(name.casefold() for name in self.names)
        return {name: place for place, name in enumerate(self.names) if folded[name.casefold()] == 1}


def csv_layout(path: Path, encoding: str | None = None, delimiter: str | None = None) -> CsvLayout:
    """The layout of a file, plain or compressed with gzip, from what is declared and from its first line.

    A column without a name is called by its place, such as ``column3``.
    """
    found = "utf-8" if encoding is None else text_encoding(encoding)
    chosen = None if delimiter is None else checked_delimiter(delimiter)
    with opened(path) as stream:
        line = stream.readline(MOST_LINE + 1)
    crlf = line.endswith(b"\r\n")
    try:
        text = line.removesuffix(b"\n").removesuffix(b"\r").decode(found)
        choices = (chosen,) if chosen else ("\t",) if ".tsv" in path.suffixes else DELIMITERS
        read = {each: next(csv.reader(io.StringIO(text, newline=""), delimiter=each), []) for each in choices}
    except (UnicodeDecodeError, csv.Error):
        raise not_csv(path) from None
    best = max(choices, key=lambda each: len(read[each]))
    names = tuple(name or f"column{place}" for place, name in enumerate(read[best], start=1))
    layout = CsvLayout(found, best, names, crlf)
    if not layout.places:
        raise InputError("the first line of the file does not name columns", value=str(path))
    return layout


def text_encoding(declared: str) -> str:
    """Python's name of an encoding, if it is among those that let lines be read one by one.

    In UTF-16, in an encoding with shifts such as ISO-2022-JP, in EBCDIC or with escapes, a byte of one line can change
    how the next lines are read, or what a line is. In UTF-8 and in the encodings of `_MULTIBYTE` and `_ONE_BYTE` it
    cannot; a delimiter or quote may be a byte of another sign there, and is looked for only after decoding.
    """
    try:
        name = codecs.lookup(declared).name
    except (LookupError, TypeError, ValueError):
        raise ParameterError(
            "there is no such encoding", value=declared, allowed="utf-8, cp932 and others that Python knows"
        ) from None
    if name in ("utf-8", "utf-8-sig"):
        return "utf-8"
    if name not in _MULTIBYTE and name not in _ONE_BYTE:
        raise ParameterError(
            "lines cannot be read one by one in this encoding",
            value=declared,
            allowed="utf-8, cp932, euc-jp, latin-1 and others in which a line break is one byte",
            hint="Write the file in UTF-8 first.",
        )
    return name


def checked_delimiter(declared: str) -> str:
    """A delimiter, if it is one."""
    if len(declared) != 1 or not declared.isascii() or declared.isalnum() or declared in '"\r\n\0':
        raise ParameterError("this is no delimiter", value=declared, allowed="one sign, such as , or ; or a tab")
    return declared


def not_csv(path: Path) -> InputError:
    """The one refusal for whatever is wrong with the text of a file: it says neither what nor where."""
    return InputError(
        "the file is not CSV of the declared encoding and delimiter",
        value=str(path),
        allowed="lines that end alike, each with as many fields as the first; quotes around whole fields only, doubled "
        "inside, no line break between them; no zero byte; at most 2**20 bytes in a line",
        hint="No line is named here, since a line is somebody's. sudare.engines.propose_layout shows you which one, "
        "and how the file seems to be written.",
    )


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed, after a byte order mark of UTF-8; what fails becomes an `InputError`."""
    try:
        with cast(BinaryIO, gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")) as stream:
            if stream.read(3) != codecs.BOM_UTF8:
                stream.seek(0)
            yield stream
    except (OSError, EOFError, zlib.error):
        raise unpacked_badly(path) from None


def unpacked_badly(path: Path) -> InputError:
    """The refusal for a file whose bytes end early, or are not packed as its name says."""
    return InputError("the file cannot be read", value=str(path), hint="It is cut off or damaged: copy it again.")


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
