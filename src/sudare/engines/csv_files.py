"""Files of delimited text: the grammar of their lines, how their layout is found, and what tools propose for it.

**Lines.** One person's bytes may change that person's rows and nothing else. Readers of CSV are lenient, each in its
own way: a quote that is never closed takes the lines after it into one field. So the bytes are checked against a
strict grammar before any engine reads them:

    file    the lines, all ended by LF or all by CR LF, as the first is
    line    as many fields as the first, with the delimiter between them; or nothing, where there are several columns
    field   characters other than quote, delimiter, CR, LF and NUL
            or quote, characters other than CR, LF and NUL in which each quote is doubled, quote

A line break always ends a line, so that whether a line is in the grammar depends on its own bytes. If all lines are,
every reader that knows quotes reads the same rows; if one is not, the file is refused with the same message, whatever
is wrong with it.

**Layout.** Encoding and delimiter are declared, or UTF-8 and what the first line shows. Nothing after the first line
is used. That line is no person's row if it holds the declared columns, which `sudare.engines.columns.find` requires of
every question; until then no message repeats its names. Where names are declared, the first line is read as all others
are, and the delimiter is the declared one, or a comma.

**Proposals.** `propose_layout` guesses encoding and delimiter from all bytes, for the steward alone, who writes them
into the recipe. Nothing that counts, plans, rehearses or publishes calls it.
"""

from __future__ import annotations

import codecs
import csv
import io
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, MissingFileError, ParameterError
from sudare.privacy.fingerprint import unpacked

_PIECE = 1 << 22
_LF, _CR, _QUOTE = b'\n\r"'


def checked_pieces(path: Path, layout: CsvLayout) -> Iterator[bytes]:
    """All lines of a file, in UTF-8, in pieces of some megabytes; refuses a file that is not in the grammar."""
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

    Of a line that is too long the beginning is returned, which `checked` refuses; a caller that continues after it gets
    an error, so that nobody's lines are skipped.
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

    The length of a line is limited in the bytes of the file, as in `whole_lines`, and in UTF-8, which engines read.
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
    >>> [well_formed(line + b"\\n", layout) for line in (b'1,"a', b'1,a"', b"1", b"1,2,3", b"1,2\\r")]
    [False, False, False, False, False]
    """
    breaks = lines.count(b"\n")
    returns = lines.count(b"\r\n") if layout.crlf else 0
    if b"\0" in lines or lines.count(b"\r") != returns or (layout.crlf and returns != breaks):
        return False
    signs = np.frombuffer(lines, dtype=np.uint8)
    delimiter = ord(layout.delimiter)
    cuts = np.flatnonzero(signs == delimiter)
    lengths = _lengths(signs)
    filled = lengths > 1 + layout.crlf
    ends = np.flatnonzero(signs == _LF)[filled]
    # In one column, an empty line has no field, or an empty one: readers differ.
    if lengths.max() > MOST_LINE or (len(layout.names) == 1 and not filled.all()):
        return False
    if b'"' in lines:
        quotes = np.flatnonzero(signs == _QUOTE)
        opening, closing = quotes[::2], quotes[1::2]
        if len(opening) != len(closing) or (np.searchsorted(ends, opening) != np.searchsorted(ends, closing)).any():
            return False
        # A doubled quote closes and opens again. Index -1, before the first character, is the last one, a line break.
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
    # The total is right: each line has its own share if the last cut of its share lies before its end, the next after.
    return each == 0 or bool((cuts[each - 1 :: each] < ends).all() and (cuts[each::each] > ends[:-1]).all())


def _lengths(signs: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Bytes of each line with its line break."""
    return np.diff(np.flatnonzero(signs == _LF), prepend=-1)


DELIMITERS = (",", "\t", ";", "|")
"""Where no delimiter is declared: the one of these that cuts the first line into most names."""
MOST_LINE = 1 << 20
"""The longest line, in bytes."""
_MULTIBYTE = (
    "cp932", "shift_jis", "shift_jis_2004", "shift_jisx0213", "euc_jp", "euc_jis_2004", "euc_jisx0213",
    "gb2312", "gbk", "gb18030", "big5", "big5hkscs", "cp950", "cp949", "euc_kr", "johab",
)  # fmt: skip
"""Multi-byte encodings in which a line break is one byte that is never part of another character."""
_ONE_BYTE = (
    "ascii", "hp-roman8", "koi8-r", "koi8-t", "koi8-u", "kz1048", "ptcp154", "tis-620",
    *(f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))),
    *(f"cp{page}" for page in range(1250, 1259)),
    "cp437", "cp720", "cp737", "cp775", "cp850", "cp852", "cp855", "cp857", "cp858", "cp860", "cp861", "cp862", "cp863",
    "cp865", "cp866", "cp869", "cp874", "cp1125",
    "mac-croatian", "mac-cyrillic", "mac-greek", "mac-iceland", "mac-latin2", "mac-roman", "mac-romanian",
    "mac-turkish",
)  # fmt: skip
"""Single-byte encodings that extend ASCII."""


@dataclass(frozen=True)
class CsvLayout:
    """Encoding by its Python name, delimiter, whether lines end in CR LF, and the names of columns.

    ``header`` says that the first line holds the names; otherwise they are declared.
    """

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    crlf: bool = False
    decimal: str = "."
    header: bool = True

    @property
    def utf8(self) -> bool:
        return self.encoding in ("utf-8", "ascii")

    @cached_property
    def places(self) -> dict[str, int]:
        """The positions of columns whose names occur once, ignoring case; no other column can be asked for."""
        folded = Counter(name.casefold() for name in self.names)
        return {name: place for place, name in enumerate(self.names) if folded[name.casefold()] == 1}


def csv_layout(
    path: Path,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    column_names: Sequence[str] | None = None,
) -> CsvLayout:
    """The layout of a file, plain or compressed with gzip or zstd, from what is declared and from its first line.

    A column without a name is called by its place, such as ``column3``. ``column_names`` are those of a file whose
    first line is a row.
    """
    found = "utf-8" if encoding is None else text_encoding(encoding)
    chosen = None if delimiter is None else checked_delimiter(delimiter)
    with opened(path) as stream:
        line = stream.readline(MOST_LINE + 1)
    crlf = line.endswith(b"\r\n")
    try:
        text = line.removesuffix(b"\n").removesuffix(b"\r").decode(found)
        usual = DELIMITERS if column_names is None else (",",)
        choices = (chosen,) if chosen else ("\t",) if ".tsv" in path.suffixes else usual
        read = {each: next(csv.reader(io.StringIO(text, newline=""), delimiter=each), []) for each in choices}
    except (UnicodeDecodeError, csv.Error):
        raise not_csv(path) from None
    best = max(choices, key=lambda each: len(read[each]))
    listed = read[best] if column_names is None else column_names
    names = tuple(name or f"column{place}" for place, name in enumerate(listed, start=1))
    if decimal not in (None, ".", ","):
        raise ParameterError("this is not a decimal sign", value=decimal, allowed='"." or ","')
    layout = CsvLayout(found, best, names, crlf, decimal or ".", column_names is None)
    if not layout.places:
        raise InputError("the first line of the file does not name columns", value=str(path))
    return layout


def text_encoding(declared: str) -> str:
    """Python's name of an encoding, if lines can be decoded one by one in it.

    In UTF-16, in an encoding with shift states such as ISO-2022-JP, in EBCDIC or with escapes, a byte of one line can
    change how the next lines are read, or where a line ends. In UTF-8 and in the encodings of `_MULTIBYTE` and
    `_ONE_BYTE` it cannot; a byte of another character may equal a delimiter or quote, so these are looked for only
    after decoding.
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
    """The declared delimiter; refuses letters, digits, quotes, line breaks and more than one character."""
    if len(declared) != 1 or not declared.isascii() or declared.isalnum() or declared in '"\r\n\0':
        raise ParameterError(
            "this is not a delimiter", value=declared, allowed="one character, such as , or ; or a tab"
        )
    return declared


def not_csv(path: Path) -> InputError:
    """The one refusal for all faults in the text of a file: it says neither what is wrong nor where."""
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
    """The bytes of a file, decompressed, without the byte order mark of UTF-8; errors become an `InputError`."""
    try:
        with _unpacked(path) as stream:
            if stream.peek(3)[:3] == codecs.BOM_UTF8:
                stream.read(3)
            yield cast(BinaryIO, stream)
    except FileNotFoundError:
        raise MissingFileError("there is no such file", value=str(path)) from None
    except (OSError, EOFError, zlib.error):
        raise unpacked_badly(path) from None


def _unpacked(path: Path) -> io.BufferedReader:
    stream = unpacked(path)
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, stream))


def unpacked_badly(path: Path) -> InputError:
    """The refusal for a file that is truncated, or not compressed as its name says."""
    return InputError("the file cannot be read", value=str(path), hint="It is cut off or damaged: copy it again.")


_GUESSES = ("utf-8", "cp932")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Proposal:
    """How a file seems to be written.

    ``encoding`` and ``delimiter`` are what `read` takes. ``faulty_line`` is the number of the first line (the first of
    the file is 1) that `read` refuses under them, None if there is none. It is private, since a line is a person's.
    """

    encoding: str
    delimiter: str
    faulty_line: int | None


def propose_layout(path: str | Path) -> Proposal:
    """The encoding, UTF-8 or CP932, under which the most lines are read before the first faulty one, and its number.

    For the steward only: the result depends on every line. A file in UTF-16 is refused by `read` and here.
    """
    given = Path(path)
    with opened(given) as stream:
        if not (first := stream.read(2)):
            raise InputError("the file is empty", value=given.name)
        if first in _UTF16:
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
    """The position of the first faulty line, by bisection; at least one is faulty."""
    each = [line + b"\n" for line in lines.split(b"\n")[:-1]]
    fitting, faulty = 0, len(each)
    while faulty - fitting > 1:
        middle = (fitting + faulty) // 2
        if checked(b"".join(each[fitting:middle]), layout) is None:
            faulty = middle
        else:
            fitting = middle
    return fitting
