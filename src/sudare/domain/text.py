"""How text is read: one rule for categories, numbers and ids, whatever the file, the engine and the kind.

Text is brought to its *plain* form before it is compared (docs/explanation/rows-and-people.md); declared values too.
`sudare.engines.dialect` is the same rule in SQL, and a property test compares the two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WIDE = "".join(map(chr, range(0xFF01, 0xFF5F)))
UNSEEN = "\xad\u061c\u180e" + "".join(
    chr(sign) for ends in ((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFFF9, 0xFFFB))
    for sign in range(ends[0], ends[1] + 1)
) + "\ufeff"  # fmt: skip
"""Invisible formatting characters: soft hyphen, joiners, directions, byte order mark."""
FOLDED = (_WIDE + "\u2212\u3000" + UNSEEN, "".join(chr(ord(sign) - 0xFEE0) for sign in _WIDE) + "- ")
"""Characters, and what each becomes: full-width signs, the minus sign, the ideographic space; the rest are left out."""
SPACES = " \t\n\v\f\r\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200C))) + "\u2028\u2029\u202f\u205f\ufeff"
"""White space of Unicode, the zero-width space and the byte order mark."""
UNTRIMMED = f"^[{SPACES}]|[{SPACES}]$|[\uff01-\uff5e\u2212\u3000{UNSEEN}]"
"""A regular expression that finds anything to be folded or trimmed: most text has nothing."""
WHOLE = "[+-]?[0-9]+[.]0*"
"""A whole number with a fraction of zeros: a regular expression that Python, DuckDB and Spark read alike."""
NUMBER = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[+-]?([iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])"
"""What is read as a number."""

_FOLD = str.maketrans(FOLDED[0].removesuffix(UNSEEN), FOLDED[1], UNSEEN)
_WHOLE = re.compile(WHOLE)
_NUMBER = re.compile(NUMBER)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """The plain form of a text.

    >>> plain(" f"), plain("１２"), plain("12.0\u3000"), plain("1\u200c2"), plain("1.50"), plain("007")
    ('f', '12', '12', '12', '1.50', '007')
    """
    trimmed = (text if text.isascii() else text.translate(_FOLD)).strip(SPACES)
    return trimmed.partition(".")[0] if "." in trimmed and _WHOLE.fullmatch(trimmed) else trimmed


def steers_terminal(value: Any) -> bool:
    """Whether a text inside holds a control character, which can rewrite what a terminal shows.

    Tabs and line ends are allowed. ``value`` is made of what JSON has.

    >>> steers_terminal({"unit": ["person", "a\\x1b[2J"]}), steers_terminal({"title": "two\\nlines", "rows": 3})
    (True, False)
    """
    if isinstance(value, str):
        return _CONTROL.search(value) is not None
    if isinstance(value, Mapping):
        return any(steers_terminal(key) or steers_terminal(each) for key, each in value.items())
    return isinstance(value, list | tuple) and any(map(steers_terminal, value))


def plain_texts(array: NDArray[Any]) -> NDArray[Any]:
    """An array (n,) of text, as objects, with every text in its plain form and all else as it is.

    >>> plain_texts(np.array([" f", None, 3], dtype=object)).tolist()
    ['f', None, 3]
    """
    known: dict[Any, Any] = {}
    made = np.empty(array.shape, dtype=object)
    for place, value in enumerate(array.tolist()):
        if isinstance(value, str):
            found = known.get(value)
            value = known.setdefault(value, plain(value)) if found is None else found
        made[place] = value
    return made


def number(text: str | None) -> float | None:
    """The number that a text denotes, possibly infinite or NaN; None if it is not a number.

    >>> number("１．５"), number("1_000"), number(" 7 "), number(None)
    (1.5, None, 7.0, None)
    """
    trimmed = "" if text is None else plain(text)
    return float(trimmed) if _NUMBER.fullmatch(trimmed) else None


def numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """An array (n,) of objects as numbers: text by `number`, missing values as NaN. ValueError for anything else."""
    made = np.empty(array.shape)
    for place, value in enumerate(array.tolist()):
        if isinstance(value, str):
            # Blank text is missing, as it is in a file without types.
            said = number(value) if plain(value) else math.nan
            if said is None:
                raise ValueError("text that is not a number")
            made[place] = said
        else:
            made[place] = math.nan if value is None else float(value)
    return made


def twice(values: Iterable[Any]) -> Any:
    """The first of ``values`` whose plain form another one had before; None if all differ."""
    seen = set()
    for value in values:
        form = plain(value) if isinstance(value, str) else value
        if form in seen:
            return value
        seen.add(form)
    return None
