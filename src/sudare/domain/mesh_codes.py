"""Mesh codes in the forms that data have: whole numbers, floats that hold them, text, or a mixture.

Private codes that cannot be read are ``valid=False``; for declared codes an error names the first of them.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers
from sudare.domain.columns import read_column
from sudare.domain.mesh import LEVELS, MeshLevel, mesh_level, rows_and_columns
from sudare.domain.text import plain_texts
from sudare.errors import DomainError

_ROWS_AT_ONCE = 1 << 16


def read_codes(column: Any, size: str, leading_zeros: bool = False) -> tuple[Integers, Integers, Booleans]:
    """Rows and columns of a private column of codes of one level, and which of them are codes.

    A code has all its digits. Whole numbers cannot begin with zero, as codes south of 6 degrees 40 minutes
    do; ``leading_zeros=True`` reads shorter numbers as if the zeros were there.

    >>> row, column, valid = read_codes(["533946113", None, "5339461", 533946113.0], "500m")
    >>> row.tolist(), valid.tolist()
    ([8563, 0, 0, 8563], [True, False, False, True])
    """
    array, masked = read_column(column)
    row, mesh_column, valid = rows_and_columns(_numbers(array, mesh_level(size), leading_zeros), size)
    if masked is None:
        return row, mesh_column, valid
    return np.where(masked, 0, row), np.where(masked, 0, mesh_column), valid & ~masked


def read_declared_codes(codes: Any, finest: str) -> dict[str, tuple[Integers, Integers]]:
    """Rows and columns of declared codes by level; refuses the first that is no code, or finer than wanted.

    >>> found = read_declared_codes(["5339", 53394611], "500m")
    >>> {size: rows.tolist() for size, (rows, columns) in found.items()}
    {'80km': [53], '1km': [4281]}
    """
    array, masked = read_column(codes)
    if array.size == 0:
        raise DomainError("there are no mesh codes", allowed="at least one")
    read = np.zeros(array.shape, dtype=bool)
    found = {}
    for level in LEVELS.values():
        if level.cells <= mesh_level(finest).cells:
            rows, columns, valid = rows_and_columns(_numbers(array, level, False), level.name)
            read |= valid
            if valid.any():
                found[level.name] = (rows[valid], columns[valid])
    if masked is not None:
        read &= ~masked
    if not read.all():
        lengths = [str(level.digits) for level in LEVELS.values() if level.cells <= mesh_level(finest).cells]
        raise DomainError(
            "a declared code is not a code of the {finest} mesh or a coarser one",
            value=array[~read].tolist()[0],
            allowed="JIS X 0410 codes of {lengths} digits",
            finest=finest,
            lengths=", ".join(lengths),
        )
    return found


def _numbers(array: NDArray[Any], level: MeshLevel, leading_zeros: bool) -> Integers:
    """The codes as whole numbers; -1 for what does not have the level's digits."""
    written, kind = array, array.dtype.kind
    width = level.digits + 1  # one more than a code has: what is longer is cut and stays too long
    if kind == "O":
        array = _text_of_objects(array, level.digits if leading_zeros else 1).astype(f"U{width}")
        kind = "U"
    if kind in "US":
        numbers = _numbers_of_text(array, level.digits)
        unread = np.flatnonzero(numbers < 0)
        if written.dtype.kind in "OU" and unread.size:
            texts = plain_texts(written[unread])
            numbers[unread] = _numbers_of_text(_text_of_objects(texts, 1).astype(f"U{width}"), level.digits)
        return numbers
    if kind not in "iuf":
        return np.full(array.shape, -1, dtype=np.int64)
    possible = (array >= (0 if leading_zeros else 10 ** (level.digits - 1))) & (array < 10**level.digits)
    if kind == "f":
        possible &= np.floor(array) == array
    numbers = np.full(array.shape, -1, dtype=np.int64)
    numbers[possible] = array[possible]
    return numbers


def _numbers_of_text(array: NDArray[Any], digits: int) -> Integers:
    """Text of exactly ``digits`` ASCII digits as whole numbers, -1 for other text."""
    numbers = np.full(array.size, -1, dtype=np.int64)
    character = np.dtype(np.uint32 if array.dtype.kind == "U" else np.uint8)
    width = array.dtype.itemsize // character.itemsize
    if width < digits:
        return numbers
    native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    characters = native.view(character).reshape(array.size, width)
    for start in range(0, array.size, _ROWS_AT_ONCE):
        piece = characters[start : start + _ROWS_AT_ONCE]
        number = np.zeros(len(piece), dtype=np.int64)
        valid = ~piece[:, digits:].any(axis=1)
        for place in range(digits):
            digit = piece[:, place].astype(np.int64) - ord("0")
            valid &= (digit >= 0) & (digit <= 9)
            number = number * 10 + digit
        numbers[start : start + _ROWS_AT_ONCE] = np.where(valid, number, -1)
    return numbers


def _text_of_objects(array: NDArray[Any], least_digits: int) -> NDArray[Any]:
    """Python objects as text: words as they are, whole numbers as digits, all else empty."""
    values = array.tolist()
    if set(map(type, values)) == {str}:
        return array
    texts = [value if isinstance(value, str) else _digits(value, least_digits) for value in values]
    return np.array(texts, dtype=object)


def _digits(value: Any, least_digits: int) -> str:
    """A number as its digits, empty if it is no whole number of a code's size."""
    if not issubclass(type(value), Real | Decimal) or type(value) is bool:
        return ""
    # Range first: it keeps NaN and infinity away from int(). A Decimal NaN cannot even be compared.
    if (isinstance(value, Decimal) and value.is_nan()) or not 0 <= value < 10**12 or int(value) != value:
        return ""
    return f"{int(value):0{least_digits}}"
