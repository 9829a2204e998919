"""The types of columns in Arrow's own words: what a Parquet file holds under ``ARROW:schema``.

It is a message of Arrow's format for streams (a FlatBuffer, as https://arrow.apache.org/docs/format/Columnar.html has
it), in base64. Parquet has no dictionaries and no order of categories: readers take them from here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from struct import pack, pack_into
from typing import TypeAlias

Part: TypeAlias = Callable[[bytearray], int]
"""Appends itself to a buffer and says where it begins."""
_VERSION, _SCHEMA = 4, 1
_TYPES: dict[str, tuple[int, dict[int, bytes | Part]]] = {
    "i8": (2, {0: pack("<i", 64), 1: b"\1"}),
    "i2": (2, {0: pack("<i", 16), 1: b"\1"}),
    "f8": (3, {0: pack("<h", 2)}),
    "U": (5, {}),
    "b1": (6, {}),
    "O": (19, {}),
}
"""By NumPy's code: the number of a type in the format, and its fields: whole numbers of 64 and 16 bits with a sign,
double, text, truth values, and long binary."""


def arrow_schema(columns: Mapping[str, tuple[str, bool | None]], metadata: Mapping[str, str]) -> str:
    """The schema of columns by name: NumPy's code for their values, and whether categories have an order.

    Readers take the other ``metadata`` of the file from here too.
    """
    fields = [_field(name, place, *kind) for place, (name, kind) in enumerate(columns.items())]
    entries = [_table({0: _text(key), 1: _text(value)}) for key, value in metadata.items()]
    schema = _table({1: _vector(fields), 2: _vector(entries)})
    message = _table({0: pack("<h", _VERSION), 1: pack("<B", _SCHEMA), 2: schema})
    buffer = bytearray(4)
    pack_into("<I", buffer, 0, message(buffer))
    _align(buffer)
    return base64.b64encode(pack("<iI", -1, len(buffer)) + buffer).decode()


def _field(name: str, place: int, code: str, ordered: bool | None) -> Part:
    number, fields = _TYPES[code]
    about: dict[int, bytes | Part] = {
        0: _text(name),
        1: b"\1",
        2: pack("<B", number),
        3: _table(fields),
        5: _vector([]),
    }
    if ordered is not None:
        codes = _table({0: pack("<i", 32), 1: b"\1"})
        about[4] = _table({0: pack("<q", place), 1: codes, 2: pack("<?", ordered)})
    return _table(about)


def _align(buffer: bytearray) -> int:
    buffer += bytes(-len(buffer) % 8)
    return len(buffer)


def _table(fields: Mapping[int, bytes | Part]) -> Part:
    """A table: its list of places, then its fields in eight bytes each, then what they point to."""

    def write(buffer: bytearray) -> int:
        listed = _align(buffer)
        numbers = range(max(fields, default=-1) + 1)
        places = {number: 8 + 8 * rank for rank, number in enumerate(fields)}
        ends = 4 + 2 * len(numbers), 8 + 8 * len(fields)
        buffer += pack(f"<{2 + len(numbers)}H", *ends, *(places.get(number, 0) for number in numbers))
        start = _align(buffer)
        buffer += pack("<iI", start - listed, 0)
        buffer += b"".join(value.ljust(8, b"\0") if isinstance(value, bytes) else bytes(8) for value in fields.values())
        for number, value in fields.items():
            if not isinstance(value, bytes):
                _point(buffer, start + places[number], value)
        return start

    return write


def _vector(parts: Sequence[Part]) -> Part:
    def write(buffer: bytearray) -> int:
        start = _align(buffer)
        buffer += pack("<I", len(parts)) + bytes(4 * len(parts))
        for place, part in enumerate(parts):
            _point(buffer, start + 4 + 4 * place, part)
        return start

    return write


def _text(text: str) -> Part:
    def write(buffer: bytearray) -> int:
        start, letters = _align(buffer), text.encode()
        buffer += pack("<I", len(letters)) + letters + b"\0"
        return start

    return write


def _point(buffer: bytearray, place: int, part: Part) -> None:
    """Append a part, and write at ``place`` how far it is from there."""
    pack_into("<I", buffer, place, part(buffer) - place)
