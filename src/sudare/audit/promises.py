"""What is promised, against what can be told apart: neighbours of small domains, released many times.

Each `Pair` is two data sets that differ in one unit, a release, and the epsilon (and delta) that its guarantee states.
The distinguishers of `distinguish` look at several views of the outcomes; the largest lower bound counts, and the
false alarms of a pair are shared among its views.

The first view of a release is its privacy loss: the release is recorded, replayed for the other data set, and the laws
on the tape say by how much its noise speaks for one of the two. No other test tells more (Neyman and Pearson 1933), so
that the bound comes near what is promised wherever the number of releases allows it. The other views look at what is
published, and would show what went past the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare import anonymity
from sudare.anonymity import Hierarchy
from sudare.anonymity.anonymize import AnonymizeRequest, SampleParameters
from sudare.anonymity.lattice import Tuples
from sudare.audit.distinguish import FALSE_ALARM, Bound, lower_bound
from sudare.audit.finding import Finding, said
from sudare.audit.laws import encoding_of, supported
from sudare.audit.moves import loss_of
from sudare.audit.recorded import weights_of
from sudare.domain import Categories, CountTable, Domain, Line
from sudare.local import ENCODINGS, LocalHashing, PermanentUnary, Several
from sudare.noise import Source, measure, record
from sudare.privacy import Budget, Unit, epsilon_for
from sudare.reconstruct.perturb import perturb
from sudare.tables import (
    Laplace,
    Marginals,
    Method,
    NegativeL2,
    NonnegativeLasso,
    Privelet,
    Simplex,
    TopDown,
    Tree,
    release,
)

Outcomes = NDArray[Any]
Draw = Callable[[tuple[Any, Any], int], Outcomes]
METHODS: tuple[Method, ...] = (
    Laplace(), Marginals(), Tree(),
    TopDown(), Simplex(), NegativeL2(strength=Fraction(1, 2)), NonnegativeLasso(), Privelet()
)  # fmt: skip
_TREE = Hierarchy.from_nested({"a": ["a1", "a2"], "b": ["b1", "b2"]})


@dataclass(frozen=True)
class Observation:
    """What is looked at; ``ordered`` as in `lower_bound`."""

    of: Callable[[Outcomes], Outcomes]
    ordered: bool = False


WHOLE = (Observation(lambda outcomes: outcomes),)


@dataclass(frozen=True)
class Pair:
    """Two neighbours: ``draw((one, other), trials)`` gives (trials, parts) outcomes of one of them beside the other."""

    name: str
    draw: Draw
    here: Any
    there: Any
    epsilon: float
    delta: float = 0.0
    views: tuple[Observation, ...] = WHOLE


def bound_of(pair: Pair, trials: int, alarm: float = FALSE_ALARM) -> Bound:
    """The largest lower bounds over the views of a pair, wrong with probability ``alarm`` over all of them."""
    here, there = pair.draw((pair.here, pair.there), trials), pair.draw((pair.there, pair.here), trials)
    found = []
    for view in pair.views:
        # A privacy loss speaks for the data it was drawn of; turned round, it speaks for the first ones.
        sides = view.of(here), -view.of(there) if view.ordered else view.of(there)
        share = alarm / len(pair.views)
        found.append(lower_bound(*sides, epsilon=pair.epsilon, delta=pair.delta, alarm=share, ordered=view.ordered))
    return Bound(max(one.epsilon for one in found), max(one.delta for one in found), trials)


def promise_finding(pair: Pair, trials: int) -> Finding:
    """Whether what can be told apart stays below what is promised."""
    bound = bound_of(pair, trials)
    passed = bound.epsilon <= pair.epsilon and bound.delta <= pair.delta
    seen = said("seen_bounds", epsilon=f"{max(bound.epsilon, 0.0):.3f}", delta=f"{max(bound.delta, 0.0):.2g}")
    allowed = said("allowed_bounds", epsilon=f"{pair.epsilon:.3f}", delta=f"{pair.delta:.3g}")
    return Finding("distinguishers", pair.name, passed, 2 * trials, seen, allowed, FALSE_ALARM)


LOSS = Observation(lambda outcomes: outcomes[:, :1], ordered=True)
TABLE_VIEWS = (
    LOSS,
    Observation(lambda outcomes: outcomes[:, 1:].sum(axis=1, keepdims=True)),
    Observation(lambda outcomes: outcomes[:, 1:2]),
    Observation(lambda outcomes: outcomes[:, 1:2] - outcomes[:, 2:3]),
    Observation(lambda outcomes: np.clip(outcomes[:, 1:3], -4, 8)),
    Observation(lambda outcomes: outcomes[:, 1:] != 0),
)
"""The privacy loss, the total, the cell that changes, its difference to the next, both, and which cells are listed."""


def with_loss(run: Callable[[Any, Source], Outcomes]) -> Draw:
    """Outcomes of one data set of a pair, each with its privacy loss before it: a trial is a release of its own."""

    def draw(pair: tuple[Any, Any], trials: int) -> Outcomes:
        rows = []
        for _ in range(trials):
            with record() as tape:
                outcome = run(pair[0], Source.system())
            with record(replay=tape) as again:
                run(pair[1], Source.system())
            rows.append(np.append(float(loss_of(tape, again)), outcome))
        # So that sums of floats in another order are equal outcomes.
        return np.round(rows, 6)

    return draw


def released(method: Method, rows: int = 1, domain: Domain | None = None, **asked: Any) -> Draw:
    """Releases of the counts of a short line or of another domain; one person has at most ``rows`` of them."""

    def run(counts: tuple[int, ...], source: Source) -> Outcomes:
        cells = np.flatnonzero(counts)
        over = Domain(cell=Line(len(counts))) if domain is None else domain
        table = CountTable(over, cells, np.asarray(counts)[cells], unit=Unit("person", rows))
        return release(table, method, source=source, **asked).table.to_array()

    return with_loss(run)


def table_pairs() -> Iterator[Pair]:
    """Each method: somebody comes to a cell with others, with all their rows to an empty table, and is replaced."""
    for method in METHODS:
        named, one = f"table, {method.name}", released(method, epsilon=1)
        yield Pair(f"{named}, one person more", one, (2, 1), (3, 1), 1.0, views=TABLE_VIEWS)
        three = released(method, 3, epsilon=1)
        yield Pair(f"{named}, the only person, three rows", three, (0, 0, 0, 0), (3, 0, 0, 0), 1.0, views=TABLE_VIEWS)
        if method.uses_total:
            known = released(method, epsilon=Fraction(1, 2), total="public")
            yield Pair(f"{named}, one replaced, public total", known, (2, 1), (1, 2), 1.0, views=TABLE_VIEWS)
    halves, places = Tree(children=2, margin=Fraction(1, 4)), Domain(place=Line(2), sex=Categories(["f", "m"]))
    mixed = released(halves, 3, places, epsilon=1)
    yield Pair("table, tree, margin, three rows", mixed, (2, 1, 0, 0), (5, 1, 0, 0), 1.0, views=TABLE_VIEWS)
    gaussian = released(Tree(), rho=Fraction(1, 2))
    delta = Fraction(1, 100)
    epsilon = float(epsilon_for(Fraction(1, 2), delta))
    yield Pair("table, tree, rho 0.5", gaussian, (2, 1), (3, 1), epsilon, float(delta), TABLE_VIEWS)


def weighted(values: tuple[float, ...], source: Source) -> Outcomes:
    """The largest and the smallest weight, in tenths; the measured means are in the privacy loss."""
    public = np.array([0.1, 0.4, 0.6, 0.9])
    made = weights_of(np.array(values), public, source, number=3)
    return np.round([made.weights.max(), made.weights.min()], 1)


def sampled(leaves: tuple[int, ...], request: AnonymizeRequest) -> Callable[[Source], Outcomes]:
    """The published rows of each class of a sample of records at these leaves."""
    counts = np.bincount(leaves, minlength=4)
    some = np.flatnonzero(counts)
    tuples = Tuples(("x",), (request.hierarchies["x"],), some[:, None].astype(np.int32), counts[some])

    def run(source: Source) -> Outcomes:
        made = request.meet(tuples, source).classes
        held = np.zeros(8, dtype=np.int64)
        held[made.cells[:, 0]] = made.taken
        return held

    return run


def sample_pair(name: str, request: AnonymizeRequest, records: int, epsilon: int) -> Pair:
    """A sample with and without one record of ``records`` in one class.

    A k that can be tried is too small for a guarantee, so what is promised is the theorem's delta at ``epsilon``.
    """
    terms = request.terms
    assert terms.sample is not None  # noqa: S101 - all of them are sampled
    promised = anonymity.delta(k=terms.k, sample=terms.sample, epsilon=epsilon)

    def draw(pair: tuple[Any, Any], trials: int) -> Outcomes:
        run = sampled(pair[0], request)
        return np.array([run(Source.system()) for _ in range(trials)])

    spent = float(epsilon + (terms.choose_epsilon or 0))
    return Pair(name, draw, (0,) * records, (0,) * (records - 1), spent, promised)


def sample_pairs() -> Iterator[Pair]:
    """Levels that were fixed, and levels that are chosen privately."""
    for k, rate, epsilon in ((2, Fraction(3, 10), 1), (3, Fraction(1, 2), 1)):
        fixed = AnonymizeRequest.of({"x": _TREE}, SampleParameters(k=k, sample=rate, levels={"x": 1}, epsilon=epsilon))
        # A class of k records: with the last of them it can be published, without it never.
        yield sample_pair(f"sample, k {k}, rate {rate}, fixed levels", fixed, k, epsilon)
    asked = SampleParameters(k=2, sample=Fraction(3, 10), choose_epsilon=Fraction(1, 2), epsilon=2)
    chosen = AnonymizeRequest.of({"x": _TREE}, asked)
    yield sample_pair("sample, k 2, rate 3/10, chosen levels", chosen, 2, 2)


def slow_pairs() -> Iterator[Pair]:
    """What is released one trial at a time: tables, weights, samples."""
    yield from table_pairs()
    views = (LOSS, Observation(lambda outcomes: outcomes[:, 1:]))
    yield Pair("weights, one replaced", with_loss(weighted), (0.0, 0.3), (1.0, 0.3), 1.0, views=views)
    yield from sample_pairs()


def alone(draw: Callable[[Any, int], Outcomes]) -> Draw:
    """For outcomes that are drawn of one data set, whatever the other one is."""
    return lambda pair, trials: draw(pair[0], trials)


def measured(budget: Budget) -> Draw:
    """A count, measured; every entry of a vector has noise of its own, so one call gives all trials."""

    def draw(count: int, trials: int) -> Outcomes:
        return measure(np.full(trials, count, dtype=np.int64), 1, budget, Source.system(), "count")[:, None]

    return alone(draw)


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
    several = Several.divided({"one": 2, "other": 2}, Fraction(1))
    yield Pair("reports, several questions", reported(several), 0, 3, float(several.epsilon))
    for daily in REMEMBERED:
        yield Pair(
            f"reports, {_kind_of(daily)}, over time", nights_at_home(daily), 0, 3, float(daily.epsilon), 0.0, NIGHTS
        )
    for noise in ("laplace", "square_wave"):
        yield Pair(f"perturbation, {noise}", _perturbed((0, 16), noise=noise, step=1), 0.0, 16.0, 1.0)
    yield Pair("perturbation, categories", _perturbed(categories=[0, 1, 2]), 0, 2, 1.0)


def reported(encoding: Any) -> Draw:
    """Reports of one value; hashed ones as the values that they support, since their keys are random."""

    def draw(value: int, trials: int) -> Outcomes:
        packed = encoding.draw(np.full(trials, value), Source.system())
        return np.asarray(supported(encoding, packed) if isinstance(encoding, LocalHashing) else packed)

    return alone(draw)


REMEMBERED = (
    PermanentUnary(size=4, epsilon=Fraction(1), first=Fraction(3, 4)),
    PermanentUnary(size=4, epsilon=Fraction(1), first=Fraction(1), buckets=2),
)
NIGHTS = (Observation(lambda outcomes: outcomes, ordered=True),)
"""How much oftener the reports from home mark the one home than the other."""


def _kind_of(encoding: PermanentUnary) -> str:
    return encoding.name if encoding.buckets is None else f"{encoding.name} of some values"


def nights_at_home(encoding: PermanentUnary, nights: int = 12) -> Draw:
    """All reports from a home, of people who go to the same work place between any two: its answer is drawn once."""

    def draw(pair: tuple[int, int], trials: int) -> Outcomes:
        (home, other), memory, seen = pair, None, np.zeros(trials)
        for _ in range(nights):
            memory = encoding.remember(np.full(trials, home), memory)
            bits = encoding.report(memory).packed[:, -1]
            seen += (bits >> home & 1).astype(float) - (bits >> other & 1)
            memory = encoding.remember(np.full(trials, 1), memory)
        return seen[:, None]

    return draw


def _perturbed(*given: Any, **asked: Any) -> Draw:
    def draw(value: float, trials: int) -> Outcomes:
        made = perturb([value] * trials, *given, epsilon=1, source=Source.system(), **asked)
        return np.asarray(made.values, dtype=np.float64)[:, None]

    return alone(draw)


def promise_findings(pairs: Iterable[Pair], trials: int) -> Iterator[Finding]:
    """A finding for every pair, from ``trials`` releases of each of its neighbours; none without any."""
    for pair in pairs if trials else ():
        yield promise_finding(pair, trials)
