"""One tree of errors: what was wrong, the value, what is allowed, and what to do.

Every mistake a user can make ends in one of these, and prints as one sentence. A private value is never
put into ``value``: only what the caller declared (a parameter, a column name, a path) may appear there.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from numbers import Integral
from typing import Self

_ABSENT = object()
# Line breaks and the signs that steer a terminal: names from files may hold them, a message is one line.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _as_written(value: object) -> str:
    """A declared value as its owner would write it: 1/3, 0.5 and 'a.csv', not the name of a Python type."""
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if isinstance(value, Fraction | Decimal):
        return str(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        return repr(value)
    return str(int(value))


def one_line(sentence: str) -> str:
    """A sentence without the signs that would break its line or steer a terminal: they are spelt out.

    >>> print(one_line("no such column: a\\nb"))
    no such column: a\\nb
    """
    return _STEERING.sub(lambda sign: repr(sign[0])[1:-1], sentence)


class SudareError(Exception):
    """The root of the tree: catch it to catch every user's mistake.

    >>> print(ParameterError("epsilon is not positive", value=-1, allowed="a finite number > 0"))
    epsilon is not positive (got -1; allowed: a finite number > 0)
    """

    def __init__(
        self, what: str, *, value: object = _ABSENT, allowed: str | None = None, hint: str | None = None
    ) -> None:
        self.what = what
        self.value = None if value is _ABSENT else value
        self.allowed = allowed
        self.hint = hint
        self.given = None if value is _ABSENT else _as_written(value)
        details = []
        if self.given is not None:
            details.append(f"got {self.given}")
        if allowed is not None:
            details.append(f"allowed: {allowed}")
        sentence = what + (f" ({'; '.join(details)})" if details else "")
        sentence += f". {hint}" if hint else ""
        super().__init__(one_line(sentence))

    @classmethod
    def refuse_newer(cls, what: str, found: object, known: int) -> None:
        """Refuse ``what`` where its format ``found`` is not one of 1 to ``known``, those that this version reads.

        >>> RecipeError.refuse_newer("the recipe", 1, 1)
        """
        number = found if type(found) is int else 0
        if not 1 <= number <= known:
            own = sys.modules["sudare"].__version__  # not imported: this is the lowest layer
            said = f"{what} was made by a newer Sudare" if number > known else f"{what} names a format that is none"
            raise cls(said, value=found, allowed=f"formats up to {known}, which Sudare {own} reads")


class ParameterError(SudareError):
    """An argument is outside what the function can mean."""


class DomainError(SudareError):
    """A domain cannot be built as declared, or a value lies outside it."""


class TableError(SudareError):
    """A count table is not one: negative, fractional, duplicate or misplaced counts."""


class InputError(SudareError):
    """A file, a column or a type is not what was announced."""


class MissingExtraError(SudareError):
    """What was asked for needs an optional part of the installation.

    >>> print(MissingExtraError.of("Spark", "spark"))
    Spark is not installed here. Run: pip install 'sudare[spark]'
    """

    @classmethod
    def of(cls, what: str, extra: str) -> Self:
        """The refusal that names the extra to install."""
        return cls(f"{what} is not installed here", hint=f"Run: pip install 'sudare[{extra}]'")


class RecipeError(SudareError):
    """A recipe cannot be understood."""


class BudgetError(SudareError):
    """The ledger refuses: the data set's cap would be passed."""


class LedgerError(SudareError):
    """The ledger cannot be read, written or trusted."""


class OutputError(SudareError):
    """A release cannot be written."""


class PaidError(SudareError):
    """A release that the ledger has paid for is not out, whatever ended its run; it waits to be completed.

    >>> print(PaidError.of("20260401-5f2c", "the run was interrupted", can_resume=False))
    release 20260401-5f2c was paid for and is not out: the run was interrupted. It cannot be completed; to pay for \
another one: sudare publish RECIPE --anew
    """

    @classmethod
    def of(cls, release_id: str, reason: str, *, can_resume: bool) -> Self:
        """The refusal that names the release; ``reason`` is a sentence or a part of one."""
        return cls(
            f"release {release_id} was paid for and is not out: {reason}",
            hint="To complete it: sudare publish RECIPE --resume; to pay for another one instead: --anew"
            if can_resume
            else "It cannot be completed; to pay for another one: sudare publish RECIPE --anew",
        )


class CapacityError(SudareError):
    """The machine has too little memory or disk for what was asked."""


class VerificationError(SudareError):
    """A certificate and its files do not agree."""


class AccountingError(SudareError):
    """The measurements cost something else than the guarantee says: a defect, never a user's mistake."""


class NoCapError(BudgetError):
    """A data set that may not be spent on yet: nobody has set its cap."""


class PrivacyWarning(SudareError, UserWarning):  # noqa: N818 - it is a warning
    """A promise that will be kept and is worth little: said, and not refused."""


class LedgerWarning(PrivacyWarning):
    """What a steward should hear about the ledger: a new one begins, the clock went back."""


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint that names the known word nearest to ``word``, or None.

    >>> did_you_mean("epsilo", ["epsilon", "delta"])
    "Did you mean 'epsilon'?"
    """
    near = get_close_matches(word, list(known), n=1)
    return f"Did you mean {near[0]!r}?" if near else None
