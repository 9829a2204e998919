"""Numbers of a budget as a recipe writes them: 1, 0.5, or a fraction as text, "1/3". Each is read exactly."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from sudare.errors import Message

TEXT = r"^[+-]?([0-9]+/[0-9]+|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)$"
_LONGEST = 400
"""Characters of a number as text: more would be a slip of the pen."""
_KINDS = {
    bool: Message("a bool"),
    list: Message("a list"),
    dict: Message("a dict"),
    tuple: Message("a tuple"),
    datetime.date: Message("a date"),
    datetime.datetime: Message("a datetime"),
    datetime.time: Message("a time"),
}


def _read(written: object) -> object:
    """What is written, with text as the number that it spells.

    >>> _read("1/3"), _read("0.25"), _read(2)
    (Fraction(1, 3), Decimal('0.25'), 2)
    """
    if isinstance(written, int | Decimal | Fraction) and not isinstance(written, bool):
        if isinstance(written, Decimal) and not written.is_finite():
            raise ValueError(Message("input should be a finite number"))
        return written
    if isinstance(written, str) and len(written) <= _LONGEST and re.fullmatch(TEXT, written, re.ASCII):
        if "/" not in written:
            return Decimal(written)
        if int(written.partition("/")[2]):
            return Fraction(written)
    if isinstance(written, str):
        shown: object = repr(written if len(written) < 60 else written[:57] + "...")
    else:
        shown = _KINDS.get(type(written), f"a {type(written).__name__}")
    raise ValueError(
        Message('not a number (got {shown}; allowed: a number, or a fraction as text such as "1/3")', shown=shown)
    )


def _plain(amount: Any) -> Any:
    """A fraction as text again: neither JSON nor a page has numbers for it."""
    return str(amount) if isinstance(amount, Fraction) else amount


Amount: TypeAlias = Annotated[
    int | Decimal | Fraction,
    PlainValidator(_read),  # older versions of Pydantic know no fractions
    PlainSerializer(_plain),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": TEXT}]}),
]
"""A number that is spent, or a part of what is."""
