"""Exact budget arithmetic: what a measurement costs, as a rational number.

A float is read as the decimal number its owner wrote (0.1 is one tenth), so that costs add up exactly:
three releases at 0.1 fill a cap of 0.3 and not one bit more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, SupportsFloat, TypeAlias

from sudare.errors import Message, ParameterError

Number: TypeAlias = int | float | str | Decimal | Fraction

# A number with a larger exponent is a typing error, and its integers would fill the memory.
_LARGEST_EXPONENT = 400


def exact(number: Number | SupportsFloat, name: str | Message = "number") -> Fraction:
    """The rational number that was written: ``exact(0.1) == Fraction(1, 10)``.

    >>> exact(0.1) + exact(0.2) == exact(0.3)
    True
    """
    try:
        return _exact(number)
    except (ArithmeticError, TypeError, ValueError):
        raise ParameterError("{name} is not a finite number", value=number, name=name) from None


def _exact(number: Number | SupportsFloat) -> Fraction:
    if isinstance(number, bool):
        raise TypeError
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, str) and "/" in number:
        return Fraction(number)
    if isinstance(number, str | Decimal):
        decimal = Decimal(number)
        if abs(decimal.adjusted()) > _LARGEST_EXPONENT:
            raise OverflowError
        return Fraction(decimal)
    return Fraction(repr(float(number)))


def positive(number: Number | SupportsFloat, name: str) -> Fraction:
    """Like `exact`, and refuses what is not above zero."""
    value = exact(number, name)
    if value <= 0:
        raise ParameterError("{name} is not positive", value=number, allowed="a finite number > 0", name=name)
    return value


def whole(number: Any, name: str, least: int = 1) -> int:
    """A whole number from ``least`` on, also one of NumPy's; refuses 2.0 and True.

    >>> whole(3, "degree")
    3
    """
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise ParameterError("{name} is not a whole number from {least} on", value=number, name=name, least=least)
    return int(number)


LARGEST_DELTA = Fraction(1, 1000)
"""The largest delta that may be asked for: delta is the probability that a release reveals everything of a person."""


def asked_delta(number: Number | SupportsFloat) -> Fraction:
    """A delta that a caller asks for: above 0, and at most 1/1000.

    >>> asked_delta(1e-6)
    Fraction(1, 1000000)
    """
    value = positive(number, "delta")
    if value > LARGEST_DELTA:
        raise ParameterError(
            "delta is too large to protect anybody",
            value=number,
            allowed="0 < delta <= 0.001",
            hint="It is the chance that nothing is protected: take well below one in the number of people.",
        )
    return value


@dataclass(frozen=True)
class Budget:
    """The cost of a measurement: ``epsilon`` of pure DP, or ``rho`` of zero-concentrated DP; never both.

    >>> Budget(epsilon=Fraction(1, 2)).split([1, 1, 2])[2]
    Budget(epsilon=Fraction(1, 4), rho=None)
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise ParameterError("a budget has either epsilon or rho", value=(self.epsilon, self.rho))
        name = "rho" if self.epsilon is None else "epsilon"
        object.__setattr__(self, name, positive(self.amount, name))

    @property
    def amount(self) -> Fraction:
        """Epsilon or rho, whichever it is."""
        amount = self.rho if self.epsilon is None else self.epsilon
        assert amount is not None  # noqa: S101 - one of the two is there: __post_init__
        return amount

    @property
    def currency(self) -> str:
        """``"epsilon"`` or ``"rho"``."""
        return "rho" if self.epsilon is None else "epsilon"

    def times(self, factor: Fraction) -> Budget:
        """The same currency, ``factor`` times the amount."""
        return Budget(**{self.currency: self.amount * factor})

    def split(self, shares: Sequence[Number]) -> tuple[Budget, ...]:
        """Parts proportional to ``shares``; they add up to the whole exactly."""
        weights = [positive(share, "share") for share in shares]
        if not weights:
            raise ParameterError("a budget cannot be split into no parts", hint="Give at least one share.")
        whole = sum(weights, Fraction(0))
        return tuple(self.times(weight / whole) for weight in weights)

    def __add__(self, other: Budget) -> Budget:
        if self.currency != other.currency:
            raise ParameterError("epsilon and rho do not add", hint="Convert to one of them first.")
        return Budget(**{self.currency: self.amount + other.amount})


def readable(amount: Fraction) -> str:
    """A rational as a person writes it: exact where 12 places or 6 digits suffice, else 6 digits and ``~``.

    >>> readable(Fraction(1, 20)), readable(Fraction(1, 10**9)), readable(Fraction(1, 3))
    ('0.05', '1e-9', '~0.333333')
    """
    six_digits = Context(prec=6).divide(Decimal(amount.numerator), Decimal(amount.denominator)).normalize()
    scaled = amount * 10**12
    if scaled.denominator == 1 and (amount == 0 or abs(amount) >= Fraction(1, 10**6)):
        digits = f"{abs(scaled.numerator):013d}"
        return ("-" if amount < 0 else "") + f"{digits[:-12]}.{digits[-12:]}".rstrip("0").rstrip(".")
    return ("" if Fraction(six_digits) == amount else "~") + str(six_digits).lower()
