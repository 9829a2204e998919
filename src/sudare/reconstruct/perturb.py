"""`perturb`: records in, the same number of noisy records out, shuffled, with their guarantee.

Privacy. Column j of a row is perturbed by a law whose likelihoods of two values differ by a factor of at most
e**(epsilon_j): discrete Laplace noise on a grid with sensitivity = the grid's width (``noise.measure``), a square
wave or randomised response (``noise.respond``). Columns compose, so a row costs the sum; rows are different people's
(parallel composition), or at most ``max_rows`` of one person's, who then has spent ``max_rows`` times the sum. The
order of the rows is drawn from the secret source afterwards, and so reveals nothing: Pk-anonymity needs it (`linkage`).
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.domain.frames import Framed
from sudare.domain.text import numbers as read_numbers
from sudare.errors import DomainError, InputError, ParameterError, either
from sudare.noise import RandomisedResponse, Source, SquareWave, measure, metered, respond, secret
from sudare.parameters import keywords_of
from sudare.privacy import Adjacency, Budget, Fact, Guarantee, Number, Unit, exact, positive
from sudare.privacy.guarantee import warn_of
from sudare.reconstruct.linkage import epsilon_for, linked_k
from sudare.reconstruct.noises import (
    LaplaceNoise,
    NamedColumns,
    Noise,
    RetentionNoise,
    SquareWaveNoise,
    checked_bounds,
    checked_categories,
    table_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.reconstruct.histogram import Histogram

Method: TypeAlias = Literal["laplace", "square_wave"]
METHODS = ("laplace", "square_wave")
GRID = 1 << 20
"""Steps between the bounds of a number under Laplace noise."""
CELLS = 1 << 10
"""Cells between the bounds of a number under a square wave."""


class PerturbedFacts(ABC):
    """The public facts about perturbed rows, on this machine or in a cluster."""

    guarantee: Guarantee
    row_epsilon: Fraction

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many there are."""

    @property
    @abstractmethod
    def columns(self) -> dict[str, Noise]:
        """How each column was perturbed."""

    @property
    def k(self) -> float:
        """No row is linked to a person with probability above 1/k; 1 says that nothing is promised."""
        return linked_k(float(self.row_epsilon), self.rows, self.guarantee.unit.max_rows)

    @property
    def summary(self) -> dict[str, Any]:
        """Plain facts that may be public: what an analyst needs to reconstruct distributions."""
        return {
            "kind": "perturbation",
            "rows": self.rows,
            "k": round(self.k, 6),
            "row_epsilon": str(self.row_epsilon),
            "columns": {name: noise.to_json() for name, noise in self.columns.items()},
        }


@dataclass(frozen=True)
class Perturbed(PerturbedFacts, Framed):
    """Perturbed rows. ``values`` has the form the records came in: an array, a table, or columns by name.

    ``noises`` say how each column was perturbed, ``guarantee`` what that promises.
    """

    table: NamedColumns
    noises: tuple[Noise, ...]
    guarantee: Guarantee
    row_epsilon: Fraction

    @property
    def values(self) -> Any:
        """The perturbed rows, in random order."""
        if self.table.form == "table":
            return np.stack(self.table.values, axis=1)
        return self.table.shaped(self.table.values)

    def to_arrow(self) -> pa.Table:
        import pyarrow as pa

        return pa.table(dict(zip(self.table.names, self.table.values, strict=True)))

    @property
    def scale(self) -> Any:
        """The scale of each column's Laplace noise; None for a column with another noise."""
        return self.table.shaped([noise.scale if isinstance(noise, LaplaceNoise) else None for noise in self.noises])

    @property
    def channel(self) -> Any:
        """The noise of each column: what `iterative_bayes` takes in place of a scale."""
        return self.table.shaped(self.noises)

    @property
    def rows(self) -> int:
        return self.table.rows

    def reconstruct(self, columns: Sequence[str] = (), *, bins: int = 30, **how: Any) -> dict[str, Histogram]:
        """The distribution behind each column, or each of ``columns``; that of a number in this many ``bins``.

        ``how`` is as in `sudare.reconstruct.released.RecoverParameters`: method, components, covariance.
        """
        from sudare.reconstruct.released import recovered

        named = dict(zip(self.table.names, self.table.values, strict=True))
        return recovered(named, self.columns, columns, bins, **how)

    @property
    def columns(self) -> dict[str, Noise]:
        return dict(zip(self.table.names, self.noises, strict=True))


@dataclass(frozen=True)
class PerturbParameters:
    """The parameters of `perturb`, on this machine and in a cluster; described there."""

    categories: Any = None
    k: float | None = None
    epsilon: Number | None = None
    noise: Method = "laplace"
    shares: Any = None
    outside: Literal["error", "clamp"] = "error"

    def __post_init__(self) -> None:
        if self.noise not in METHODS:
            raise ParameterError("no such noise", value=self.noise, allowed=either(METHODS))
        if self.outside not in ("error", "clamp"):
            raise ParameterError(
                "unknown way to treat values outside the bounds", value=self.outside, allowed="error or clamp"
            )


@keywords_of(PerturbParameters)
def perturb(
    values: Any,
    bounds: Any = None,
    *,
    parameters: PerturbParameters,
    step: Any = None,
    unit: Unit | None = None,
    seed: int | None = None,
    source: Source | None = None,
) -> Perturbed:
    """Perturb records so that distributions can be recovered from them, and values cannot.

    ``values``: one column (n,) with ``bounds`` = (low, high), or with ``categories``; a table (n, columns) with a list
    of bounds; or a mapping (or data frame) of names to columns, each with ``bounds`` or ``categories`` by its name.
    Give ``k``, the Pk-anonymity of `linkage`, or ``epsilon``, the local privacy of a row; several columns share it in
    proportion to ``shares``. ``noise`` of numbers: "laplace" as in Hasegawa et al., or "square_wave", which recovers
    distributions better at the same cost. Categories are kept with some probability, else drawn from all (retention).

    Bounds are declared, never read off the data. A value outside is an error, or moved to the nearest bound with
    ``outside="clamp"``. Numbers are first rounded to a grid of ``step``, by default a millionth of the bounds' width.
    ``unit`` says whose rows they are and how many one person may have; without it a row stands for itself.

    >>> made = perturb([30, 41, 27, 52], bounds=(17, 90), k=2, seed=1)
    >>> made.values.shape, round(made.scale, 1), made.guarantee.notion
    ((4,), 132.9, 'none: seeded')
    """
    table = table_of(values)
    owner = unit or Unit()
    own = Source.chosen(source, seed)
    row_epsilon = row_cost(parameters.k, parameters.epsilon, table.rows, owner)
    noises = declared_noises(table, bounds, parameters, row_epsilon, step)
    with metered() as meter:
        noisy = [
            _perturbed(column, law, cost, parameters.outside, own, name)
            for column, (law, cost), name in zip(table.values, noises, table.names, strict=True)
        ]
    meter.check(Budget(epsilon=row_epsilon))
    order = _shuffled(table.rows, own)
    guarantee = promise(row_epsilon, owner, parameters.k)
    if own.seeded:
        guarantee = guarantee.without_protection()
    warn_of(guarantee)
    shuffled = replace(table, values=tuple(column[order] for column in noisy))
    return Perturbed(shuffled, tuple(law for law, _ in noises), guarantee.unbooked(), row_epsilon)


def row_cost(k: float | None, epsilon: Number | None, records: int, unit: Unit) -> Fraction:
    """What one row may spend: from k and the number of records, or given. ``epsilon`` is that of the whole unit."""
    if (k is None) == (epsilon is None):
        raise ParameterError("give either k or epsilon", value=(k, epsilon))
    if epsilon is not None:
        return positive(epsilon, "epsilon") / unit.max_rows
    assert k is not None  # noqa: S101 - one of the two is there
    return epsilon_for(k, records, unit.max_rows)


def split_cost(row_epsilon: Fraction, table: NamedColumns, shares: Any) -> tuple[Fraction, ...]:
    """The epsilon of each column: even, or in proportion to ``shares``."""
    wanted = [1] * len(table.names) if shares is None else list(table.each(shares, "shares"))
    if any(share is None for share in wanted):
        raise ParameterError("a column has no share", allowed="one positive share for each column")
    return tuple(part.amount for part in Budget(epsilon=row_epsilon).split(wanted))


def promise(row_epsilon: Fraction, unit: Unit, k: float | None) -> Guarantee:
    """What perturbed rows promise: known from public things alone.

    With ``k`` it is Pk-anonymity, for which the attacker's prior and the shuffling count, beside the local epsilon,
    for which they do not. Without, it is the local epsilon, ``max_rows`` times that of a row.
    """
    public = (Fact("declared"), Fact("rows"))
    facts: dict[str, Any] = {"adjacency": Adjacency.REPLACED, "epsilon": row_epsilon * unit.max_rows}
    if k is None:
        return Guarantee("epsilon-LDP", unit, public=public, **facts)
    claims = (Fact("linked", k=f"{float(k):g}"), Fact("uniform"), Fact("any_attacker"))
    return Guarantee("Pk-anonymity", unit, public=public, assumptions=claims, **facts)


def declared_noises(
    table: NamedColumns, bounds: Any, asked: PerturbParameters, row_epsilon: Fraction, step: Any = None
) -> tuple[tuple[Noise, Any], ...]:
    """The noise of every column with what it costs: for Laplace noise its grid, which the analyst need not know."""
    given = zip(
        table.names,
        table.each(bounds, "bounds"),
        table.each(asked.categories, "categories"),
        table.each(step, "step"),
        split_cost(row_epsilon, table, asked.shares),
        strict=True,
    )
    return tuple(_declared(name, ends, listed, size, asked.noise, cost) for name, ends, listed, size, cost in given)


@dataclass(frozen=True)
class NumberGrid:
    """The numbers low + step * j, j = 0 to ``steps``, of which two differ by at most ``steps`` steps."""

    low: float
    step: float
    steps: int
    epsilon: Fraction


def _declared(name: str, bounds: Any, categories: Any, step: Any, method: str, cost: Fraction) -> tuple[Noise, Any]:
    if (bounds is None) == (categories is None):
        raise ParameterError(
            "a column needs either bounds or categories", value=name, hint="They are declared, not read off the data."
        )
    if categories is not None:
        listed = checked_categories(categories)
        return RetentionNoise(listed, RandomisedResponse(len(listed), cost)), None
    low, high = checked_bounds(bounds)
    if method == "square_wave":
        cells = CELLS if step is None else _steps(high - low, step, name)
        return SquareWaveNoise((low, high), SquareWave(max(cells, 2), cost)), None
    steps = GRID if step is None else _steps(high - low, step, name)
    width = (high - low) / GRID if step is None else float(exact(step, "step"))
    return LaplaceNoise(float(steps / cost) * width, (low, high)), NumberGrid(low, width, steps, cost)


def _steps(width: float, step: Any, name: str) -> int:
    size = positive(step, "step")
    steps = -(-exact(width) // size)
    if not 1 <= steps <= 1 << 40:
        raise ParameterError(
            "step does not fit the bounds",
            value=step,
            allowed="above {width:g}/2**40",
            hint="It is the step of the column {name!r}.",
            width=width,
            name=name,
        )
    return int(steps)


def _perturbed(
    column: NDArray[Any], noise: Noise, grid: NumberGrid | None, outside: str, source: Source, name: str
) -> NDArray[Any]:
    """One column through the seam."""
    label = f"column {name}"
    numbers = _read(column, noise, outside, name)
    if isinstance(noise, RetentionNoise):
        return noise.values(respond(numbers, noise.law, source, label))
    if isinstance(noise, SquareWaveNoise):
        cells = np.floor((numbers - noise.bounds[0]) / noise.step).astype(np.int64)
        reports = respond(np.clip(cells, 0, noise.law.cells - 1), noise.law, source, label)
        return np.asarray(noise.bounds[0] + (reports - noise.law.reach + 0.5) * noise.step)
    assert grid is not None  # noqa: S101 - Laplace noise has one
    places = np.clip(np.rint((numbers - grid.low) / grid.step).astype(np.int64), 0, grid.steps)
    noisy = measure(places, grid.steps, Budget(epsilon=grid.epsilon), source, label)
    return np.asarray(grid.low + noisy * grid.step)


def refuse_unreadable(values: Any, bounds: Any = None, *, categories: Any = None, outside: str = "error") -> None:
    """Raise the errors that `perturb` would raise about the values themselves, before the ledger is charged."""
    table = table_of(values)
    noises = declared_noises(table, bounds, PerturbParameters(categories), Fraction(len(table.names)))
    for column, (noise, _), name in zip(table.values, noises, table.names, strict=True):
        _read(column, noise, outside, name)


def _read(column: NDArray[Any], noise: Noise, outside: str, name: str) -> NDArray[Any]:
    """The numbers of a column within its bounds, or the places of its categories."""
    if not isinstance(noise, RetentionNoise):
        return _within(column, noise.bounds, outside, name)
    places = noise.places(column)
    if places.min() < 0:
        raise DomainError("a value is not one of the declared categories", value=name)
    return places


def _within(column: NDArray[Any], bounds: tuple[float, float] | None, outside: str, name: str) -> NDArray[np.float64]:
    assert bounds is not None  # noqa: S101 - declared_noises asked for them
    try:
        numbers = read_numbers(column) if column.dtype.kind in "OU" else column.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("a column holds values that are not numbers", value=name) from None
    if not np.isfinite(numbers).all():
        raise InputError(
            "a column has values that are missing or not finite", value=name, hint="Leave such records out first."
        )
    low, high = bounds
    if outside == "clamp":
        return np.clip(numbers, low, high)
    if numbers.min() < low or numbers.max() > high:
        raise DomainError(
            "a column has values outside its declared bounds",
            value=name,
            allowed="{low:g} to {high:g}",
            hint='Widen the bounds, or move such values to the nearest bound with outside="clamp".',
            low=low,
            high=high,
        )
    return numbers


def _shuffled(rows: int, source: Source) -> NDArray[np.int64]:
    """A random order from the secret source: rows sorted by random numbers of 64 bits."""
    key = hashlib.blake2b(secret(source, "order of rows").to_bytes(16, "big"), digest_size=32).digest()
    numbers = Source(key).words(2 * rows).view(np.uint64)
    return np.argsort(numbers, kind="stable").astype(np.int64)
