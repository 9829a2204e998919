"""Ids of people: their plain form, and what happens to rows without an id (docs/explanation/rows-and-people.md).

Ids are compared in their plain form (`sudare.domain.text`). Where that merges two people, rows are lost and nobody is
exposed: the bound holds for both together, and so for each. A row without an id cannot be bounded at all: it is
refused, or left out where the recipe says so, and never counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sudare.domain.text import plain
from sudare.errors import InputError, ParameterError, either

WithoutId: TypeAlias = Literal["error", "drop"]
USUAL = ("nan", "-nan", "null", "none", "nil", "na", "n/a", "#n/a", "#na", "<na>", "nat")
"""How programs write a missing value into text; case is ignored."""

_MOST_DIGITS = 100
"""The most digits of a decimal number that is an id: 1E+999999 would be written with more digits than fit in memory."""


@dataclass(frozen=True)
class MissingUnit:
    """What happens to rows without an id, and which ids mean that there is none.

    NULL, NaN, numbers with a fraction and blank text are never ids. ``spellings`` are further ones, compared in their
    plain form and in lower case. 0 is not among the usual ones, since many files number people from 0; where it
    stands for "nobody", declare it: undeclared, all such rows are taken for one person's, which hides people but
    exposes none.

    >>> MissingUnit.of("drop", ["0", "Unknown"]).spellings
    ('0', 'unknown')
    """

    action: WithoutId = "error"
    spellings: tuple[str, ...] = USUAL

    @classmethod
    def of(cls, action: Any = "error", spellings: Iterable[Any] | None = None) -> MissingUnit:
        if isinstance(action, MissingUnit):
            return action
        if action not in get_args(WithoutId):
            raise ParameterError(
                "unknown way to treat rows without a unit", value=action, allowed=either(get_args(WithoutId))
            )
        listed = USUAL if spellings is None else tuple(plain(str(each)).lower() for each in spellings)
        return cls(action, listed)

    def refusal(self, column: str) -> InputError:
        """The error for rows without an id: it names the column, never how many rows or which."""
        return InputError(
            "some rows have no unit: their ids are missing",
            value=column,
            hint='Correct the ids, or leave such rows out with missing_unit="drop".',
        )


REFUSE = MissingUnit()
"""The default: rows without an id are refused."""


def people(
    ids: NDArray[Any], missing: MissingUnit, column: str = "unit"
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Numbers of people from 0 (kept rows,), and which rows (n,) are kept; refuses rows without an id if so declared.

    >>> ids = np.array(["12", " １２", "12.0", None], dtype=object)
    >>> people(ids, MissingUnit("drop"))
    (array([0, 0, 0]), array([ True,  True,  True, False]))
    >>> people(np.array([Decimal("1E+1"), np.float32(10), 10, " 10"], dtype=object), MissingUnit())[0]
    array([0, 0, 0, 0])
    """
    array = np.asarray(ids)
    if array.dtype.kind in "iu" and not any(map(_is_whole, missing.spellings)):
        return np.unique(array, return_inverse=True)[1].astype(np.int64), np.ones(array.shape, dtype=bool)
    texts = [_id(value, missing.spellings) for value in array.tolist()]
    kept = np.array([text is not None for text in texts], dtype=bool)
    if missing.action == "error" and not kept.all():
        raise missing.refusal(column)
    order: dict[str, int] = {}
    numbers = [order.setdefault(text, len(order)) for text in texts if text is not None]
    return np.array(numbers, dtype=np.int64), kept


def _id(value: Any, spellings: tuple[str, ...]) -> str | None:
    """The plain form of an id; None where there is none."""
    if isinstance(value, Number) and not isinstance(value, bool | np.bool_):
        value = _whole(value)
    if value is None or _is_missing(value):
        return None
    text = plain(str(value))
    return None if not text or text.lower() in spellings else text


def _whole(value: Any) -> int | None:
    """A number of any type as an int, so that equal numbers are one person; None if it is not whole."""
    if isinstance(value, Decimal) and not (value.is_finite() and value.adjusted() < _MOST_DIGITS):
        return None
    try:
        whole = int(value)
        # Beyond 2**53 two people's numbers can share a double: such a column cannot tell them apart.
        if whole != value or (isinstance(value, float | np.floating) and abs(whole) > 2**53):
            return None
    except (TypeError, ValueError, OverflowError):  # complex numbers, NaN, infinities
        return None
    return whole


def _is_missing(value: Any) -> bool:
    """Whether a value differs from itself (NaN, NaT) or cannot be compared (pandas' NA)."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
