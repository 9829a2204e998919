"""Answers of a weighted public data set to linear queries, with intervals that include the privacy noise.

The answer to the mean of f is A = sum_i p_i f_i, p the normalised weights. Split f = c'k + r, the regression of f on
the features under the weights. The first part is off by c'e, e the error of the weighted feature means, whose law is
known: the noise that was added, and what the estimator shrinks away. The second is an average of r over public rows,
of variance sum_i p_i^2 r_i^2. What no interval can know is how wrong the form of the ratio is; see the explanation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from sudare.errors import InputError, ParameterError, did_you_mean
from sudare.reweight.basis import Floats
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.public_features import PublicFeatures

if TYPE_CHECKING:
    from sudare.reweight.weighting import Model

_MOST_CELLS = 10_000
_RIDGE = 0.2
"""Of the variance that one effective row has: directions of features that vary less are left to the residual."""


@dataclass(frozen=True)
class Answers:
    """``value`` (q,) with an interval from ``low`` to ``high`` that holds the truth with probability ``level``."""

    value: Floats
    low: Floats
    high: Floats
    level: float
    labels: tuple[str, ...]

    @property
    def half_width(self) -> Floats:
        """How far the truth may be off, one way."""
        return (self.high - self.low) / 2

    def to_json(self) -> list[dict[str, Any]]:
        """One object per query."""
        rows = zip(self.labels, self.value.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return [{"query": label, "value": value, "low": low, "high": high} for label, value, low, high in rows]


@dataclass(frozen=True)
class Estimates:
    """The weighted public rows as an answering machine: ``shares`` (rows,) are the weights, adding up to one."""

    model: Model
    features: PublicFeatures
    shares: Floats
    measured: NoisyMean
    columns: dict[str, NDArray[Any]]

    def mean(self, values: str | ArrayLike, level: float, labels: Sequence[str] = ()) -> Answers:
        """Means of functions given at the public rows."""
        functions, names = self._functions(values)
        return _interval(self._law(functions), self._effective, level, tuple(labels) or names)

    def count(self, condition: ArrayLike, level: float, labels: Sequence[str] = ()) -> Answers:
        """Shares times the published number of units."""
        functions, names = self._functions(condition)
        if not np.isin(functions, (0.0, 1.0)).all():
            raise ParameterError("a condition is true or false at every row", hint="For other values, ask for a mean.")
        share, shift, variance = self._law(functions)
        people = self.measured.people
        spread = people**2 * variance + share**2 * self.measured.people_variance
        law = (share * people, shift * people, spread)
        counts = _interval(law, self._effective, level, tuple(labels) or names)
        return Answers(counts.value, np.maximum(counts.low, 0), counts.high, level, counts.labels)

    def histogram(self, column: str, edges: ArrayLike, level: float) -> Answers:
        """Counts in half-open bins, the last one closed."""
        bounds = np.asarray(edges, dtype=np.float64)
        if bounds.ndim != 1 or len(bounds) < 2 or not (np.diff(bounds) > 0).all():
            raise ParameterError("edges are not ascending numbers", allowed="at least two")
        values = self._numbers(column)
        place = np.searchsorted(bounds, values, side="right") - 1
        place[values == bounds[-1]] = len(bounds) - 2
        inside = place[:, None] == np.arange(len(bounds) - 1)
        pairs = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        return self.count(inside, level, [f"{column} {low:g} to {high:g}" for low, high in pairs])

    def table(self, columns: Sequence[str], level: float) -> Answers:
        """Counts of every combination of the values that columns take in the public data."""
        if not columns:
            raise ParameterError("a table needs a column", allowed=", ".join(self.columns))
        found = [np.unique(self._column(name), return_inverse=True) for name in columns]
        if np.prod([len(values) for values, _ in found]) > _MOST_CELLS:
            raise ParameterError("the table has too many cells", allowed=f"at most {_MOST_CELLS:,}")
        names, cells = [], []
        for combination in product(*(range(len(values)) for values, _ in found)):
            members = zip(columns, found, combination, strict=True)
            names.append(", ".join(f"{name} {values[code]}" for name, (values, _), code in members))
            cells.append(np.logical_and.reduce([codes == c for (_, codes), c in zip(found, combination, strict=True)]))
        return self.count(np.stack(cells, axis=1), level, names)

    def moments(self, columns: Sequence[str], level: float) -> Answers:
        """Means of all products of two of 1 and the columns, row by row of their matrix."""
        names = ["1", *columns]
        values = [np.ones(len(self.shares)), *(self._numbers(name) for name in columns)]
        pairs = list(product(range(len(names)), repeat=2))
        functions = np.stack([values[a] * values[b] for a, b in pairs], axis=1)
        return self.mean(functions, level, [f"{names[a]} {names[b]}" for a, b in pairs])

    def _law(self, functions: Floats) -> tuple[Floats, Floats, Floats]:
        """The answers (q,), how far they are about off, and the variance around that."""
        answers = self.shares @ functions
        centred = functions - answers
        together = np.zeros((self.model.directions.shape[1], functions.shape[1]))
        for rows, features in self._features():
            together += features.T @ (self.shares[rows, None] * centred[rows])
        slope = np.linalg.solve(self._spread, together)
        residual = np.zeros(functions.shape[1])
        for rows, features in self._features():
            # A row pulls the slope towards itself; its residual without it is larger by 1 / (1 - leverage).
            pull = self.shares[rows] * (features * np.linalg.solve(self._spread, features.T).T).sum(axis=1)
            own = (centred[rows] - features @ slope) / (1 - np.minimum(pull, 0.5))[:, None]
            residual += (self.shares[rows] ** 2) @ own**2
        variance = np.einsum("iq,ij,jq->q", slope, self.model.error, slope) + residual
        return answers, self.model.shift @ slope, variance

    def _features(self) -> Iterator[tuple[slice, Floats]]:
        """The features (rows, r) less their weighted mean, chunk by chunk."""
        for rows, features in self.features:
            yield rows, features @ self.model.directions - self._centre

    @property
    def _effective(self) -> float:
        return float(1 / (self.shares**2).sum())

    @cached_property
    def _centre(self) -> Floats:
        """The mean (r,) of the features under the weights."""
        return np.asarray(self.features.weighted_mean(self.shares) @ self.model.directions)

    @cached_property
    def _spread(self) -> Floats:
        """The covariance (r, r) of the features under the weights, with a small ridge."""
        size = self.model.directions.shape[1]
        second = np.eye(size) * (_RIDGE / self._effective)
        for rows, features in self._features():
            second += (features * self.shares[rows, None]).T @ features
        return second

    def _functions(self, values: str | ArrayLike) -> tuple[Floats, tuple[str, ...]]:
        name = values if isinstance(values, str) else None
        array = self._numbers(name) if name is not None else np.asarray(values)
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2 or len(array) != len(self.shares) or array.dtype.kind not in "biuf":
            raise InputError(
                "a query is not numbers, one for each public row", value=array.shape, allowed=f"({len(self.shares)},)"
            )
        functions = array.astype(np.float64)
        if not np.isfinite(functions).all():
            raise InputError("a query holds NaN or infinity at a public row")
        return functions, (name,) if name is not None else tuple(f"query {k}" for k in range(array.shape[1]))

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise InputError("the public data have no such column", value=name, hint=did_you_mean(name, self.columns))
        return self.columns[name]

    def _numbers(self, name: str) -> Floats:
        try:
            return self._column(name).astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("the column is not a column of numbers", value=name) from None


def _interval(law: tuple[Floats, Floats, Floats], rows: float, level: float, labels: tuple[str, ...]) -> Answers:
    """Around the answer, on both sides as far as the shift and Student's law for so many effective ``rows`` reach."""
    value, shift, variance = law
    if not 0 < level < 1:
        raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
    if len(labels) != len(value):
        raise ParameterError("there is not one label for each query", value=len(labels), allowed=str(len(value)))
    half = np.abs(shift) + stdtrit(max(rows - 1, 1), 0.5 + level / 2) * np.sqrt(variance)
    return Answers(value, value - half, value + half, level, labels)
