"""How a file of delimited text is written: its encoding, its delimiter, its line ends, its columns.

Encoding and delimiter are declared, or UTF-8 and what the first line shows. Nothing behind the first line is looked at
here: one person's bytes must not decide how everybody's are read. The first line is no person's row if it holds the
columns that are declared, which `sudare.engines.columns.find` requires of every question; so what is learned from it,
the delimiter and the line end, is learned from public structure, or the file is refused. Until then its names may be
the values of the first person of a file without a header, and no message repeats them.
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

from sudare.errors import InputError, ParameterError

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
