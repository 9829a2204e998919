"""How a file of delimited text is written: its encoding, its delimiter, its columns."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from sudare.errors import InputError, ParameterError

_PIECE = 1 << 20
_DELIMITERS = (",", "\t", ";")
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class CsvLayout:
    """Encoding by its Python name, delimiter, and the names in the first line."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]

    @property
    def utf8(self) -> bool:
        """Whether UTF-8 (or ASCII, which is part of it)."""
        return self.encoding in ("utf-8", "utf-8-sig", "ascii")


def csv_layout(path: Path, encoding: str | None = None) -> CsvLayout:
    """The layout of a file, plain or compressed with gzip, of which only the beginning is held.

    Without ``encoding``, the file is searched for its first byte beyond ASCII, and what follows decides:
    UTF-8 if it is that, else CP932. The delimiter is the one of comma, tab and semicolon that cuts the
    first line into most names. A column without a name is called by its place, such as ``column3``.
    """
    try:
        found = _detected(path) if encoding is None else _declared(encoding)
        beginning = _beginning(path, found)
    except (OSError, EOFError, zlib.error):
        raise InputError("the file cannot be read", value=str(path)) from None
    except UnicodeError:
        raise InputError(
            "the file is written in another encoding",
            value=str(path),
            allowed=encoding or "UTF-8 or CP932",
            hint="Name its encoding with encoding=.",
        ) from None
    delimiter, names = _header(beginning, ("\t",) if ".tsv" in path.suffixes else _DELIMITERS, str(path))
    folded = Counter(name.casefold() for name in names)
    for name in names:
        if folded[name.casefold()] > 1:
            raise InputError(f"two columns of {path} have the same name", value=name)
    return CsvLayout(found, delimiter, names)


def _detected(path: Path) -> str:
    """The encoding, from the first megabyte or two that hold more than ASCII."""
    with _opened(path) as stream:
        piece = stream.read(_PIECE)
        for mark, encoding in _BYTE_ORDER_MARKS.items():
            if piece.startswith(mark):
                return encoding
        while piece and piece.isascii():
            piece = stream.read(_PIECE)
        following = stream.read(_PIECE)
    first = re.search(rb"[\x80-\xff]", piece)
    if first is None:
        return "utf-8"
    sample = piece[first.start() :] + following
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(following) < _PIECE)
    except UnicodeDecodeError:
        codecs.getincrementaldecoder("cp932")().decode(sample, final=len(following) < _PIECE)
        return "cp932"
    return "utf-8"


def _declared(encoding: str) -> str:
    try:
        "".encode(encoding)  # some codecs are not for text
        return codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise ParameterError(
            "there is no such encoding", value=encoding, allowed="utf-8, cp932 and others that Python knows"
        ) from None


def _beginning(path: Path, encoding: str) -> str:
    """The first million characters."""
    with _opened(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig" if encoding == "utf-8" else encoding, newline="")
        return text.read(_PIECE)


def _header(beginning: str, delimiters: Sequence[str], path: str) -> tuple[str, tuple[str, ...]]:
    """The delimiter that cuts the first line into most names, and the names."""
    found = {}
    try:
        for delimiter in delimiters:
            found[delimiter] = next(csv.reader(io.StringIO(beginning, newline=""), delimiter=delimiter), [])
    except csv.Error:
        found = {}
    delimiter = max(found, key=lambda each: len(found[each]), default="")
    if not delimiter or not found[delimiter]:
        raise InputError("the first line of the file does not name columns", value=path)
    names = [name or f"column{place}" for place, name in enumerate(found[delimiter], start=1)]
    return delimiter, tuple(names)


def _opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb"))
