"""The result of a fit: a public data set with a weight for every row, its guarantee, and warnings where the released
means show private records that the public rows do not cover.

As plain JSON (`to_json`, `from_json`) a reader of the public file can weight other rows with it and get intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Floats
from sudare.domain.frames import Framed
from sudare.errors import InputError, Message, ParameterError, SudareError
from sudare.language.messages import PageMessage
from sudare.privacy import Fact, Guarantee
from sudare.reweight.answers import Answers, Public, answer
from sudare.reweight.basis import Basis
from sudare.reweight.doubt import Doubt
from sudare.reweight.functions import Functions, parametric_from_json
from sudare.reweight.hats import Hats
from sudare.reweight.kernel import GaussianProcess, Kernel
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.ratio import Link
from sudare.reweight.rows import PublicFeatures, columns_of
from sudare.reweight.space import Codes, Space

if TYPE_CHECKING:
    import pyarrow as pa

_SURE = 4.0
"""Standard deviations of the noise beyond which a gap is not noise."""
_SMALLEST_SHARE = 0.02
_SMALLEST_GAP = 0.05
_FEW_ROWS = 10.0
_FEW = 0.02


def coverage_warnings(features: PublicFeatures, shares: Floats, measured: NoisyMean) -> tuple[Fact, ...]:
    """What the reader should know; empty where nothing shows.

    Three signs: features that the public rows (nearly) never have but private ones do; means that the weighted public
    rows miss by more than the noise; weights that rest on few rows.
    """
    found = []
    public = sum((np.abs(part).sum(axis=0) for _, part in features), np.zeros(features.basis.size))
    weighted = features.weighted_mean(shares)
    deviation = float(np.sqrt(measured.variance))
    empty = public < 1  # in rows: less than one public row's worth
    outside = float(measured.value[empty].sum())
    if outside > max(_SMALLEST_SHARE, _SURE * deviation * np.sqrt(empty.sum())):
        found.append(Fact("uncovered", share=f"{outside:.0%}"))
    gap = np.abs(measured.value - weighted)[~empty]
    if len(gap) and gap.max() > max(_SMALLEST_GAP, _SURE * deviation):
        found.append(Fact("missed", gap=f"{gap.max():.2g}"))
    effective = float(1 / (shares**2).sum())
    if effective < max(_FEW_ROWS, _FEW * len(shares)):
        found.append(Fact("few_public_rows", effective=f"{effective:,.1f}", all=f"{len(shares):,}"))
    return tuple(found)


LEVEL = 0.9
_MOST_CELLS = 10_000


@dataclass(frozen=True)
class Model:
    """A fitted ratio of the declared space: w = max(0, t'k) or exp(t'k + offset), never above ``cap``.

    ``error`` (size, size) is the covariance that the noise gives the weighted means of the features, where it is in the
    coefficients themselves.
    """

    space: Space
    basis: Basis
    coefficients: Floats
    link: Link
    offset: float = 0.0
    cap: float = np.inf
    error: Floats | None = None

    def ratio(self, codes: Codes) -> Floats:
        """w (rows,) at codes; an exponential stops short of what a float can hold."""
        value = PublicFeatures(self.basis, codes).projected(self.coefficients[:, None])[:, 0]
        found = np.maximum(value, 0) if self.link == "linear" else np.exp(np.minimum(value + self.offset, 700))
        return np.minimum(found, self.cap)


@dataclass(frozen=True, repr=False)
class Weighting(Framed):
    """``weights`` (rows,) of the public rows, so that weighted averages over them answer for the private records.

    The numerator of the ratio is the private data, its denominator the public data. Weights are never negative, with a
    mean of about one (exactly one for a tilt). ``weight(x)`` is the same ratio anywhere; beyond the public rows it is
    never above the largest of theirs. ``columns`` are the public rows in the order of the weights: that of the array or
    frame that was given; records of an engine have none of their own. Everything here may be public, as far as
    ``guarantee`` says.
    """

    model: Model
    weights: Floats
    guarantee: Guarantee
    estimator: str
    parameters: dict[str, Any]
    measured: NoisyMean
    columns: Mapping[str, NDArray[Any]]
    features: PublicFeatures

    def to_arrow(self) -> pa.Table:
        """The public rows that were given, and ``weight`` beside them."""
        import pyarrow as pa

        return pa.table({**self.columns, "weight": self.weights})

    def weight(self, x: Any) -> Floats:
        """The ratio private / public at the rows of ``x``, which has the declared columns."""
        columns = columns_of(x, self.model.space, Message("given"))
        return self.model.ratio(self.model.space.encode(columns))

    def normalised(self, total: float = 1.0) -> Floats:
        """The weights scaled to add up to ``total``."""
        if not (np.isfinite(total) and total > 0):
            raise ParameterError("total is not positive", value=total, allowed="a finite number > 0")
        return self.weights * (total / self._sum)

    def relative(self, alpha: float) -> Floats:
        """Weights of the relative ratio w / (alpha w + 1 - alpha): at most 1/alpha, steadier where rows are few."""
        if not 0 <= alpha < 1:
            raise ParameterError("alpha is not a share below one", value=alpha, allowed="0 <= alpha < 1")
        return self.weights / (alpha * self.weights + 1 - alpha)

    @cached_property
    def _sum(self) -> float:
        return float(self.weights.sum())

    @property
    def effective_sample_size(self) -> float:
        """(sum w)^2 / sum w^2: how many unweighted rows would be as exact."""
        return self._sum**2 / float((self.weights**2).sum())

    @cached_property
    def warnings(self) -> tuple[Fact, ...]:
        """Where the private records lie outside the reach of the public rows, as far as released things show it."""
        return coverage_warnings(self.features, self.normalised(), self.measured)

    @cached_property
    def doubt(self) -> Doubt:
        """How far answers may be off."""
        return Doubt(self.features, self.normalised(), self.measured, self.model.error)

    @cached_property
    def public(self) -> Public:
        """The public rows, as queries ask for them."""
        return Public(self.model.space, self.model.basis, self.features.codes, dict(self.columns))

    def answer(self, values: str | ArrayLike, level: float = LEVEL) -> Answers:
        """The mean of a number, or the number of units with each value of a category: what a column is asked first."""
        if isinstance(values, str) and values in self.columns and self.columns[values].dtype.kind not in "iuf":
            return self.table(values, level=level)
        return self.mean(values, level)

    def mean(
        self,
        values: str | ArrayLike,
        level: float = LEVEL,
        extremes: ArrayLike | None = None,
        labels: Sequence[str | PageMessage] = (),
    ) -> Answers:
        """Means over the private records of a column, or of functions given at the public rows: (rows,), (rows, q).

        Where private records have no public row near them, a function may be anything between its ``extremes``, (2,)
        or (2, q): those of its rows where they are not given, 0 and 1 for conditions. Declared columns are known.
        """
        return answer(self.doubt, self.public.queries(values, extremes), level, labels)

    def count(self, condition: ArrayLike, level: float = LEVEL, labels: Sequence[str] = ()) -> Answers:
        """How many private units are like the public rows where ``condition`` (rows,) or (rows, q) is true."""
        queries, people = self.public.queries(condition), self.measured.people
        if not queries.conditions.all():
            raise ParameterError(
                "a condition has to be true or false at every row", hint="For other values, ask for a mean."
            )
        shares = answer(self.doubt, queries, level, labels, self.measured.people_variance / people**2)
        return replace(shares, value=shares.value * people, low=shares.low * people, high=shares.high * people)

    def histogram(self, column: str, edges: ArrayLike, level: float = LEVEL) -> Answers:
        """Counts of private units in half-open bins of a column; the last bin holds its upper edge."""
        bounds = np.asarray(edges, dtype=np.float64)
        if bounds.ndim != 1 or len(bounds) < 2 or not (np.diff(bounds) > 0).all():
            raise ParameterError("edges are not ascending numbers", allowed="at least two")
        values = self.public.numbers(column)
        place = np.searchsorted(bounds, values, side="right") - 1
        place[values == bounds[-1]] = len(bounds) - 2
        names = [f"{column} {low:g} to {high:g}" for low, high in pairwise(bounds.tolist())]
        return self.count(place[:, None] == np.arange(len(bounds) - 1), level, names)

    def table(self, *columns: str, level: float = LEVEL) -> Answers:
        """The cross table: counts of private units for every combination of the values that columns take."""
        if not columns:
            raise ParameterError("a table needs a column", allowed=self.public.columns)
        found = [np.unique(self.public.column(name), return_inverse=True) for name in columns]
        if np.prod([len(values) for values, _ in found]) > _MOST_CELLS:
            raise ParameterError(
                "the table has too many cells", allowed="at most {most_cells:,}", most_cells=_MOST_CELLS
            )
        names, cells = [], []
        for combination in product(*(range(len(values)) for values, _ in found)):
            members = list(zip(columns, found, combination, strict=True))
            names.append(", ".join(f"{name} {values[code]}" for name, (values, _), code in members))
            cells.append(np.logical_and.reduce([codes == code for _, (_, codes), code in members]))
        return self.count(np.stack(cells, axis=1), level, names)

    def moments(self, *columns: str, level: float = LEVEL) -> Answers:
        """Means of products of two columns, a constant 1 first: all that a linear regression needs, row by row."""
        names = ["1", *columns]
        values = [np.ones(len(self.weights)), *(self.public.numbers(name) for name in columns)]
        bounds = np.array([(1.0, 1.0), *(self.public.bounds(name) for name in columns)])
        pairs = list(product(range(len(names)), repeat=2))
        functions = np.stack([values[a] * values[b] for a, b in pairs], axis=1)
        corners = np.array([np.outer(bounds[a], bounds[b]).ravel() for a, b in pairs])
        square = np.array([a == b and bounds[a].min() < 0 < bounds[a].max() for a, b in pairs])
        extremes = np.array([np.where(square, 0.0, corners.min(axis=1)), corners.max(axis=1)])
        return self.mean(functions, level, extremes, [f"{names[a]} {names[b]}" for a, b in pairs])

    @property
    def summary(self) -> dict[str, Any]:
        """Plain facts that may be public."""
        return {
            "kind": "weights",
            "estimator": self.estimator,
            "basis": self.model.basis.to_json()["basis"],
            "features": self.model.basis.size,
            "parameters": self.parameters,
            "public_rows": len(self.weights),
            "private_units": self.measured.people,
            "noise": float(np.sqrt(self.measured.variance)),
            "sensitivity": self.measured.sensitivity,
            "effective_sample_size": self.effective_sample_size,
            "largest_weight": float(self.weights.max()),
            "warnings": [str(warning) for warning in self.warnings],
        }

    def __repr__(self) -> str:
        return (
            f"Weighting({self.estimator}, {len(self.weights):,} public rows, effective "
            f"{self.effective_sample_size:,.1f}; {self.guarantee})"
        )


FORMAT, READ = "sudare-weighting/2", ("sudare-weighting/1", "sudare-weighting/2")
_NUMBERS = ("variance", "people", "sensitivity", "people_variance")


def to_json(made: Weighting) -> dict[str, Any]:
    """All that a reader needs: nothing but released things."""
    model, measured = made.model, made.measured
    if isinstance(model.basis, Functions):
        raise ParameterError("own functions cannot be saved", value=model.basis.name, hint="Save the weights instead.")
    return {
        "format": FORMAT,
        "estimator": made.estimator,
        "parameters": made.parameters,
        "guarantee": made.guarantee.to_json(),
        "columns": model.space.to_json(),
        "basis": model.basis.to_json(),
        "link": model.link,
        "offset": model.offset,
        "cap": model.cap if np.isfinite(model.cap) else None,
        "coefficients": model.coefficients.tolist(),
        "error": None if model.error is None else model.error.tolist(),
        "measured": {"value": measured.value.tolist(), **{name: getattr(measured, name) for name in _NUMBERS}},
    }


def from_json(data: dict[str, Any], public: Any) -> Weighting:
    """The weighting for the rows of ``public``, which has the declared columns."""
    try:
        if data["format"] not in READ:
            raise InputError("not a saved weighting of this format", value=data["format"], allowed=READ)
        space = Space.declare(
            {column["name"]: tuple(column["bounds"]) for column in data["columns"] if "bounds" in column},
            {column["name"]: column["categories"] for column in data["columns"] if "categories" in column},
        )
        facts = data["measured"]
        measured = NoisyMean(np.array(facts["value"]), *(facts[name] for name in _NUMBERS))
        basis, coefficients = _basis(space, data["basis"]), np.array(data["coefficients"], dtype=np.float64)
        # Format 1 states an error for all; where the means were measured, it was never used.
        error = None if data["error"] is None or measured.variance else np.array(data["error"], dtype=np.float64)
        cap = np.inf if data["cap"] is None else float(data["cap"])
        model = Model(space, basis, coefficients, data["link"], float(data["offset"]), cap, error)
        guarantee = Guarantee.from_json(data["guarantee"])
        estimator, parameters = str(data["estimator"]), dict(data["parameters"])
    except SudareError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError("the saved weighting lacks a part or has a wrong one") from None
    columns = columns_of(public, space, Message("public"))
    codes = space.encode(columns)
    return Weighting(
        model, model.ratio(codes), guarantee, estimator, parameters, measured, columns, PublicFeatures(basis, codes)
    )


def _basis(space: Space, data: dict[str, Any]) -> Basis:
    if data["basis"] == "hats":
        return Hats.from_json(data)
    if "made_of" in data:
        return parametric_from_json(space, data["made_of"])
    kernel = Kernel(space, np.array(data["centres"], dtype=np.float64), float(data["width"]))
    return GaussianProcess(kernel) if data["basis"] == "gaussian process" else kernel
