"""What is promised, against what can be told apart: neighbours of small domains, released many times.

Each `Pair` is two data sets that differ in one unit, a release, and the epsilon (and delta) that its guarantee states.
The distinguishers of `distinguish` look at several views of the outcomes; the largest lower bound counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.audit.distinguish import Bound, lower_bound
from sudare.audit.finding import Finding
from sudare.audit.laws import encoding_of, supported
from sudare.domain import CountTable, Domain, Line
from sudare.local import ENCODINGS, LocalHashing
from sudare.noise import Source, measure
from sudare.privacy import Budget, Unit, epsilon_for
from sudare.reconstruct.perturb import perturb
from sudare.tables import Laplace, Method, NegativeL2, NonnegativeLasso, Privelet, Simplex, TopDown, Tree, release

Outcomes = NDArray[Any]
View = Callable[[Outcomes], Outcomes]
METHODS: tuple[Method, ...] = (
    Laplace(), Tree(), TopDown(), Simplex(), NegativeL2(strength=Fraction(1, 2)), NonnegativeLasso(), Privelet()
)  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """Two neighbours: ``draw`` gives (trials, parts) outcomes of one of them; ``views`` are what is looked at."""

    name: str
    draw: Callable[[Any, int], Outcomes]
    here: Any
    there: Any
    epsilon: float
    delta: float = 0.0
    views: tuple[View, ...] = (lambda outcomes: outcomes,)
    slow: bool = False


def bound_of(pair: Pair, trials: int) -> Bound:
    """The largest lower bounds over the views of a pair."""
    here, there = pair.draw(pair.here, trials), pair.draw(pair.there, trials)
    found = [lower_bound(view(here), view(there), epsilon=pair.epsilon, delta=pair.delta) for view in pair.views]
    return Bound(max(one.epsilon for one in found), max(one.delta for one in found), trials)


def promise_finding(pair: Pair, trials: int) -> Finding:
    """Whether what can be told apart stays below what is promised."""
    bound = bound_of(pair, trials)
    passed = bound.epsilon <= pair.epsilon and bound.delta <= pair.delta
    figure = f"epsilon at least {max(bound.epsilon, 0.0):.3f}, delta at least {max(bound.delta, 0.0):.2g}"
    allowed = f"epsilon {pair.epsilon:.3f}, delta {pair.delta:g}"
    return Finding("distinguishers", pair.name, passed, 2 * trials, figure, allowed)


TABLE_VIEWS: tuple[View, ...] = (
    lambda cells: cells.sum(axis=1, keepdims=True),
    lambda cells: cells[:, :1],
    lambda cells: cells[:, :1] - cells[:, 1:2],
    lambda cells: np.clip(cells[:, :2], -4, 8),
    lambda cells: cells != 0,
)
"""The total, the cell that changes, its difference to the next, both together, and which cells are listed."""


def released(method: Method, epsilon: Fraction, rows: int = 1) -> Callable[[Any, int], Outcomes]:
    """Releases of the counts of a short line, by ``method``; one person has at most ``rows`` of them."""

    def draw(counts: tuple[int, ...], trials: int) -> Outcomes:
        cells = np.flatnonzero(counts)
        domain = Domain(cell=Line(len(counts)))
        table = CountTable(domain, cells, np.asarray(counts)[cells], unit=Unit("person", rows))
        made = (release(table, method, epsilon, source=Source.system()).table for _ in range(trials))
        # A trial at a time: each is a release of its own.
        return np.round([one.to_array() for one in made], 6)

    return draw


def table_pairs() -> Iterator[Pair]:
    """Each method: somebody comes to a cell with others, to an empty table, and with all their rows."""
    for method in METHODS:
        one, three = released(method, Fraction(1)), released(method, Fraction(1), 3)
        named = f"table, {method.name}"
        yield Pair(f"{named}, one person more", one, (2, 0, 1, 0), (3, 0, 1, 0), 1.0, views=TABLE_VIEWS, slow=True)
        yield Pair(f"{named}, the only person", one, (0, 0, 0, 0), (1, 0, 0, 0), 1.0, views=TABLE_VIEWS, slow=True)
        yield Pair(f"{named}, three rows", three, (2, 0, 1, 0), (5, 0, 1, 0), 1.0, views=TABLE_VIEWS, slow=True)


def measured(budget: Budget) -> Callable[[Any, int], Outcomes]:
    """A count, measured; every entry of a vector has noise of its own, so one call gives all trials."""

    def draw(count: int, trials: int) -> Outcomes:
        return measure(np.full(trials, count, dtype=np.int64), 1, budget, Source.system(), "count")[:, None]

    return draw


def quick_pairs() -> Iterator[Pair]:
    """What can be drawn many times at once: `measure`, reports of devices, perturbed rows."""
    for epsilon in (Fraction(1, 2), Fraction(2)):
        draw = measured(Budget(epsilon=epsilon))
        yield Pair(f"measure, Laplace, epsilon {epsilon}", draw, 5, 6, float(epsilon))
    delta = Fraction(1, 100)
    for rho in (Fraction(1, 10), Fraction(1, 2)):
        epsilon, draw = epsilon_for(rho, delta), measured(Budget(rho=rho))
        yield Pair(f"measure, Gaussian, rho {rho}", draw, 5, 6, float(epsilon), float(delta))
    for name in ENCODINGS:
        encoding = encoding_of(name, 4, Fraction(1))
        yield Pair(f"reports, {name}", reported(encoding), 0, 3, float(encoding.report_epsilon))
    for noise in ("laplace", "square_wave"):
        yield Pair(f"perturbed numbers, {noise}", _perturbed(noise), 0.0, 16.0, 1.0)


def reported(encoding: Any) -> Callable[[Any, int], Outcomes]:
    """Reports of one value; hashed ones as the values that they support, since their keys are random."""

    def draw(value: int, trials: int) -> Outcomes:
        packed = encoding.draw(np.full(trials, value), Source.system())
        return np.asarray(supported(encoding, packed) if isinstance(encoding, LocalHashing) else packed)

    return draw


def _perturbed(noise: Any) -> Callable[[Any, int], Outcomes]:
    def draw(value: float, trials: int) -> Outcomes:
        made = perturb([value] * trials, (0, 16), epsilon=1, noise=noise, step=1, source=Source.system())
        return np.asarray(made.values, dtype=np.float64)[:, None]

    return draw


def promise_findings(trials: int, releases: int, pairs_per_method: int = 3) -> Iterator[Finding]:
    """A finding for every pair: ``trials`` of what is quick to draw, ``releases`` of whole tables."""
    for pair in quick_pairs():
        yield promise_finding(pair, trials)
    for place, pair in enumerate(table_pairs()):
        if place % 3 < pairs_per_method:
            yield promise_finding(pair, releases)
