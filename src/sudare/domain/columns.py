"""A caller's input as NumPy arrays: raw columns, positions, and the numbers of a declaration.

A column may be a list, a NumPy array (masked or not) or anything that NumPy can read (pandas, Polars,
Arrow). Its values are private: no message shows one. What is missing (None, NaN, NA, masked) is not an
error here but ``known=False``.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.errors import DomainError, Message, SudareError

FARTHEST = 2**62
"""Positions are kept within plus and minus this: no axis is longer, and sums of two still fit an int64."""

_MISSING_TYPES = {"NoneType", "NAType", "NaTType"}


def read_column(column: Any) -> tuple[NDArray[Any], Booleans | None]:
    """A column as a one-dimensional array, and which entries are masked (None if it has no mask).

    >>> read_column(["533946113", None])[0].dtype.kind
    'O'
    """
    masked = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    try:
        array = np.asarray(column)
        # A list of numbers and words: NumPy would turn the numbers into words.
        if array.dtype.kind in "US" and isinstance(column, list | tuple) and set(map(type, column)) != {str}:
            array = np.asarray(column, dtype=object)
    except ValueError:
        raise DomainError("a column is not a plain list of values") from None
    if array.ndim > 1:
        raise DomainError("a column has more than one dimension", value=array.ndim, allowed="1")
    if array.dtype.kind == "T":  # NumPy's variable-length text
        array = array.astype(object)
    return np.atleast_1d(array), None if masked is None else np.atleast_1d(masked)


def read_numbers(column: Any, what: str) -> tuple[Integers | Floats, Booleans]:
    """A column of numbers as int64 (kept within plus and minus 2**62) or float64, and which are known.

    >>> values, known = read_numbers([3, None, 5], "an age")
    >>> values.tolist(), known.tolist()
    ([3, 0, 5], [True, False, True])
    """
    array, masked = read_column(column)
    values: Integers | Floats
    known: Booleans
    if array.dtype.kind == "O":
        values, known = _numbers_of_objects(array, what)
    elif array.dtype.kind in "iu":
        values, known = _within(array), np.ones(array.shape, dtype=bool)
    elif array.dtype.kind == "f":
        values = array.astype(np.float64)
        known = ~np.isnan(values)
    else:
        raise _not_numbers(what, array.dtype.name)
    return values, known if masked is None else known & ~masked


def read_positions(column: Any, what: str) -> tuple[Integers, Booleans]:
    """Whole numbers as int64, and which are known; a fraction is not a position and so not known."""
    values, known = read_numbers(column, what)
    if values.dtype == np.int64:
        return values.astype(np.int64, copy=False), known
    known = known & (np.floor(values) == values)
    return floats_within(np.where(known, values, 0.0)), known


def floats_within(values: Floats) -> Integers:
    """Floats that hold whole numbers or infinities as int64, kept within plus and minus 2**62."""
    return np.clip(values, -float(FARTHEST), float(FARTHEST)).astype(np.int64)


def whole_array(values: Any, what: str, error: type[SudareError] = DomainError) -> Integers:
    """Numbers that must all be whole, as int64 of any shape; refuses anything else without showing it."""
    array = unmasked(values, what, error)
    if array.dtype.kind == "O":
        flat, known = _numbers_of_objects(array.reshape(-1), what, error)
        if not known.all():
            raise error(f"{what} is missing somewhere", allowed="whole numbers")
        array = flat.reshape(array.shape)
    if array.size == 0 and array.dtype.kind == "f":  # an empty list reads as floats
        return array.astype(np.int64)
    if array.dtype.kind == "u":
        if array.dtype.itemsize == 8 and array.size and int(array.max()) > FARTHEST:
            raise error(f"{what} is too large", allowed="at most 2**62")
    elif array.dtype.kind == "f":
        if np.isnan(array).any():
            raise error(f"{what} is missing (NaN) somewhere", allowed="whole numbers")
        if not np.array_equal(np.floor(array), array):
            raise error(f"{what} is not a whole number somewhere", allowed="whole numbers")
        if array.size and float(np.abs(array).max()) > FARTHEST:
            raise error(f"{what} is too large", allowed="at most 2**62")
    elif array.dtype.kind != "i":
        raise error(f"{what} is not a number", value=plain_type(array.dtype.name), allowed="whole numbers")
    return array.astype(np.int64, copy=False)


def unmasked(values: Any, what: str, error: type[SudareError] = DomainError) -> NDArray[Any]:
    """Values as an array; refuses masked ones, which NumPy would otherwise show as if they were there."""
    # NumPy loads masked arrays when they are first used: until then there is none.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise error(f"{what} is missing somewhere", allowed="whole numbers")
    return np.asarray(values)


def whole_number(value: Any, what: Message, least: int = 0) -> int:
    """A declared whole number of at least ``least``; ``what`` names it in the refusal."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool | np.bool_) or number < least:
        raise DomainError(
            "{what} is not a whole number",
            value=value,
            allowed="a whole number from {least} on",
            what=what,
            least=least,
        )
    return number


def index_range(ends: Any, axis: str, limit: int, beyond: int = 0) -> tuple[int, int]:
    """The half-open range that ``rows`` or ``columns`` (``axis``) are declared by.

    It begins below ``limit`` and is not longer; where an axis goes around, it may end ``beyond`` the limit.
    """
    try:
        begin, end = (whole_number(number, Message("an end of the {axis}", axis=axis)) for number in ends)
    except SudareError:
        raise
    except (TypeError, ValueError):
        raise DomainError("{axis} are not a pair", value=ends, allowed="(first, one after last)", axis=axis) from None
    if not (begin < limit and begin < end <= limit + beyond and end - begin <= limit):
        raise DomainError(
            "{axis} are not a range", value=(begin, end), allowed="0 <= a < b <= {limit}", axis=axis, limit=limit
        )
    return begin, end


def _within(array: NDArray[Any]) -> Integers:
    """Integers of any width as int64, kept within plus and minus 2**62."""
    if array.dtype.itemsize < 8:
        return array.astype(np.int64)
    lowest = 0 if array.dtype.kind == "u" else -FARTHEST
    return np.asarray(np.clip(array, lowest, FARTHEST), dtype=np.int64)


def _numbers_of_objects(
    array: NDArray[Any], what: str, error: type[SudareError] = DomainError
) -> tuple[Integers | Floats, Booleans]:
    """An array of Python objects as numbers; int64 where all known ones are whole."""
    for kind in set(map(type, array.tolist())):
        number = issubclass(kind, Real | Decimal) and not issubclass(kind, bool | np.bool_)
        if not number and kind.__name__ not in _MISSING_TYPES:
            raise _not_numbers(what, kind.__name__, error)
    numbers = [_number_of_object(value) for value in array.tolist()]
    known = np.array([number is not None for number in numbers], dtype=bool)
    if all(number is None or isinstance(number, int) for number in numbers):
        return np.array([number or 0 for number in numbers], dtype=np.int64), known
    return np.array([number or 0 for number in numbers], dtype=np.float64), known


def _number_of_object(value: Any) -> int | float | None:
    """An int within plus and minus 2**62, a float, or None for what is missing."""
    if type(value).__name__ in _MISSING_TYPES:
        return None
    if isinstance(value, Integral):
        return max(-FARTHEST, min(FARTHEST, int(value)))
    if isinstance(value, Decimal) and value.is_nan():
        return None
    number = float(value)
    return None if number != number else number


def _not_numbers(what: str, kind: str, error: type[SudareError] = DomainError) -> SudareError:
    """The refusal of a column of words, dates or truth values."""
    return error(f"{what} is not a column of numbers", value=plain_type(kind), allowed="whole numbers or floats")


def plain_type(kind: str) -> str:
    """The name of a type for a message: NumPy calls text of nine letters ``str288``."""
    return "text" if kind.startswith(("str", "bytes")) else kind


def within(array: Integers, limit: int) -> bool:
    """Whether all numbers are in [0, limit): one pass, as a negative number reads as a huge unsigned one."""
    return array.size == 0 or int(array.view(np.uint64).max()) < limit


def same_length(arrays: Iterable[NDArray[Any]], what: Message) -> None:
    """Refuses columns of different lengths."""
    if len({array.shape for array in arrays}) > 1:
        raise DomainError("{what} have different lengths", what=what)
