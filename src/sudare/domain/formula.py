"""Formulas that are written once and computed either by NumPy or in SQL, with the same bits.

A formula uses +, -, *, / and square roots of doubles, which IEEE 754 rounds in one way only, in one order. Sines and
inverse hyperbolic tangents of a library may differ in their last bit between engines; here they are polynomials.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import factorial
from typing import Any, TypeAlias

import numpy as np

from sudare.arrays import Booleans, Integers
from sudare.domain.columns import read_numbers, same_length
from sudare.domain.sql import AttributeSql, Layer, double_literal
from sudare.errors import Message


class NumpyCalculator:
    """The operations of a formula, on arrays of float64. An unknown number (NaN, in SQL also NULL) makes every result
    that uses it unknown."""

    def let(self, number: Any) -> Any:
        """The same number, computed once and used several times."""
        return number

    def within(self, number: Any, low: float, high: float) -> Any:
        """The number where it is from ``low`` to ``high``, else not known."""
        return np.where((number >= low) & (number <= high), number, np.nan)

    def clip(self, number: Any, low: float, high: float) -> Any:
        """The number, moved to ``low`` or ``high`` if it is beyond."""
        return np.clip(number, low, high)

    def sqrt(self, number: Any) -> Any:
        """The square root of a number that is not negative."""
        return np.sqrt(number)

    def floor(self, number: Any) -> Any:
        """The whole number below, as a double."""
        return np.floor(number)


@dataclass(frozen=True)
class Term:
    """A double in SQL; ``depth`` layers must come before it."""

    text: str
    depth: int

    def __add__(self, other: Any) -> Term:
        return self._with(other, "+")

    def __radd__(self, other: Any) -> Term:
        return self._with(other, "+", turned=True)

    def __sub__(self, other: Any) -> Term:
        return self._with(other, "-")

    def __rsub__(self, other: Any) -> Term:
        return self._with(other, "-", turned=True)

    def __mul__(self, other: Any) -> Term:
        return self._with(other, "*")

    def __rmul__(self, other: Any) -> Term:
        return self._with(other, "*", turned=True)

    def __truediv__(self, other: Any) -> Term:
        return self._with(other, "/")

    def __rtruediv__(self, other: Any) -> Term:
        return self._with(other, "/", turned=True)

    def _with(self, other: Any, operator: str, turned: bool = False) -> Term:
        given = other if isinstance(other, Term) else Term(double_literal(other), 0)
        first, second = (given, self) if turned else (self, given)
        return Term(f"({first.text} {operator} {second.text})", max(self.depth, given.depth))


@dataclass(frozen=True)
class SqlCalculator:
    """The same operations on `Term`s, of which those that are used several times are columns of ``layers``."""

    prefix: str
    layers: list[Layer] = field(default_factory=list)

    def let(self, number: Term) -> Term:
        while len(self.layers) <= number.depth:
            self.layers.append({})
        name = f"{self.prefix}v{sum(map(len, self.layers))}"
        self.layers[number.depth][name] = number.text
        return Term(name, number.depth + 1)

    def within(self, number: Term, low: float, high: float) -> Term:
        own = self.let(number)
        ends = f"{own.text} >= {double_literal(low)} AND {own.text} <= {double_literal(high)}"
        return self.let(Term(f"CASE WHEN {ends} THEN {own.text} END", own.depth))

    def clip(self, number: Term, low: float, high: float) -> Term:
        own, below, above = self.let(number), double_literal(low), double_literal(high)
        text = f"CASE WHEN {own.text} < {below} THEN {below} WHEN {own.text} > {above} THEN {above} ELSE {own.text} END"
        return self.let(Term(text, own.depth))

    def sqrt(self, number: Term) -> Term:
        return Term(f"sqrt({number.text})", number.depth)

    def floor(self, number: Term) -> Term:
        # Spark's floor is a whole number.
        return Term(f"CAST(floor({number.text}) AS DOUBLE)", number.depth)

    def axes(self, raw: Layer, *positions: Term) -> AttributeSql:
        """What reads an attribute from ``raw`` columns: positions as BIGINT."""
        names = tuple(self.let(Term(f"CAST({each.text} AS BIGINT)", each.depth)).text for each in positions)
        return AttributeSql(names, raw, tuple(self.layers))


Calculator: TypeAlias = NumpyCalculator | SqlCalculator


def whole_numbers(number: Any) -> tuple[Integers, Booleans]:
    """Whole doubles of a `NumpyCalculator` as int64, and which are known."""
    known = ~np.isnan(number)
    return np.where(known, number, 0.0).astype(np.int64), known


def read_degrees(latitudes: Any, longitudes: Any) -> tuple[Any, Any]:
    """Columns of latitudes and longitudes as float64, NaN where they are missing."""
    latitude, latitude_known = read_numbers(latitudes, "a latitude")
    longitude, longitude_known = read_numbers(longitudes, "a longitude")
    same_length((latitude, longitude), Message("latitudes and longitudes"))
    return np.where(latitude_known, latitude, np.nan), np.where(longitude_known, longitude, np.nan)


def polynomial(square: Any, coefficients: list[float]) -> Any:
    """The sum of coefficients * square**k, lowest first, by Horner's rule."""
    total: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * square + coefficient
    return total


_SINE = [(-1) ** k / factorial(2 * k + 1) for k in range(12)]
_COSINE = [(-1) ** k / factorial(2 * k) for k in range(10)]
_HYPERBOLIC = [1 / (2 * k + 1) for k in range(12)]


def sine(by: Calculator, angle: Any) -> Any:
    """The sine of at most a right angle, in radians, to some 3e-16."""
    square = by.let(angle * angle)
    return by.let(angle * polynomial(square, _SINE))


def cosine(by: Calculator, angle: Any) -> Any:
    """The cosine of at most half a right angle, in radians, to some 3e-16."""
    square = by.let(angle * angle)
    return by.let(polynomial(square, _COSINE))


def atanh(by: Calculator, number: Any, halvings: int) -> Any:
    """The inverse hyperbolic tangent, for |number| up to 0.2 without halvings and up to 0.92 with three.

    atanh(t) = 2 * atanh(t / (1 + sqrt(1 - t * t))) makes the argument smaller before the series is summed.
    """
    for _ in range(halvings):
        number = by.let(number / (by.sqrt(1.0 - number * number) + 1.0))
    square = by.let(number * number)
    return by.let(number * polynomial(square, _HYPERBOLIC) * float(2**halvings))
