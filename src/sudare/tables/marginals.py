"""Tables without places: cells and marginals are measured together and joined in one non-negative table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np

from sudare.arrays import Cells, Floats, Integers
from sudare.domain import Domain
from sudare.errors import ParameterError, did_you_mean
from sudare.language.messages import PageMessage
from sudare.measure.simplex import round_rows
from sudare.noise import measure, noise_variance, secret
from sudare.privacy import Budget, readable
from sudare.tables.marginal_axes import Axes, Box, subsets
from sudare.tables.marginal_fit import MOST_SETS, View, fit, precisions, variance_of
from sudare.tables.marginal_pairs import weighted_rows
from sudare.tables.method import MeasuredSums, Task

DENSE_CELLS = 1 << 20
"""Cells up to which all of them can be measured and fitted; also entries of a pair that is measured."""
ONE_WAY_SHARE = Fraction(1, 5)
"""Of the budget, what the totals of the attributes have beside the cells, before public facts move it."""
BESIDE_PAIRS = Fraction(1, 10)
"""The same beside pairs, whose sums tell of them too."""
TOTAL_SHARE = Fraction(1, 50)
"""For the number of people, where it decides whether cells are worth measuring."""
PEOPLE_PER_CELL = 1.4
"""In scales of the noise: with fewer, pairs alone are measured. Found on Adult with six attributes."""
_MATTERS = 4
"""By which factor the share of a pair that matters is larger."""
_STEPS = (Fraction(0), Fraction(1, 2), Fraction(2))
"""By which a share may change while the best ones are looked for."""
_ROUNDS = 3
_GRAIN = 1 << 16
_MERGED = 12
"""Attributes up to which pairs are put together into larger views."""


@dataclass(frozen=True)
class Marginals(MeasuredSums):
    """Cells and totals of attributes, or pairs of attributes, fitted by one table of whole numbers >= 0.

    With enough people for each cell, and up to 2**20 cells, all cells and the totals of attributes are measured and
    joined (`sudare.tables.marginal_fit`); else all pairs of attributes, and a log-linear model is fitted to them
    (`sudare.tables.marginal_pairs`), however many cells there are. Where both are possible, the number of people is
    measured first, with 2 % of the budget, and decides.

    Sensitivity: a row is counted in one entry of each measured marginal (the total and the cells are the marginals over
    no and over all attributes), so each vector moves by at most max_rows in L1, and in L2, when a unit comes or goes.
    Each has a share of the budget and noise scaled to it, and the shares compose to epsilon (or rho). What is measured,
    and with which share, follows from the declared domain, ``matters`` and the noisy total. All the rest sees noisy
    values only.

    ``matters`` names the marginals that are to be most exact, as "age x sex" or ("age", "sex"), and moves the budget to
    them; without it, single attributes, pairs, triples and cells count alike.

    >>> import sudare as sd
    >>> domain = sd.Domain(sex=sd.Categories(["f", "m"]), age=sd.Bins(0, 80, step=20))
    >>> table = sd.CountTable(domain, [0, 1, 2, 5, 7], [40, 60, 80, 30, 10])
    >>> made = sd.release(table, sd.Marginals(), epsilon=1, total="public", seed=7)
    >>> made.table.total, bool((made.table.count > 0).all())
    (220, True)
    """

    recipe_parameters: ClassVar[tuple[str, ...]] = ("matters",)
    matters: Sequence[str | Sequence[str]] = ()

    def __post_init__(self) -> None:
        given = (self.matters,) if isinstance(self.matters, str) else self.matters
        object.__setattr__(self, "matters", tuple(one if isinstance(one, str) else tuple(one) for one in given))

    name = "marginals"

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        return {"matters": [one if isinstance(one, str) else " x ".join(one) for one in self.matters]}

    def views(self, domain: Domain, budget: Budget, *, pairs: bool) -> list[tuple[Axes, Budget]]:
        """What is measured after the total, and at which cost: from public facts alone."""
        box = Box(domain)
        if not fits(domain):
            raise ParameterError(
                "an attribute has too many values for this method",
                value=max(box.sizes),
                hint="Use Tree(), or coarser values.",
            )
        wanted = tuple(sorted({_axes(box, one) for one in self.matters}))
        if pairs:
            shares = pair_shares(box.sizes, wanted, budget.rho is not None)
        else:
            shares = planned_shares(box.sizes, wanted, budget.rho is not None)
        return list(zip((axes for axes, _ in shares), budget.split([share for _, share in shares]), strict=True))

    def explain(self, domain: Domain, budget: Budget) -> PageMessage:
        """How the budget is divided: from the domain and the budget, nothing else."""
        box = Box(domain)

        def parts(part: Budget, *, pairs: bool) -> tuple[PageMessage, ...]:
            return tuple(
                PageMessage("explain.on_all", amount=readable(share.amount))
                if not pairs and len(axes) == len(box.sizes)
                else PageMessage("explain.on_marginal", amount=readable(share.amount), marginal=box.title(axes))
                for axes, share in self.views(domain, part, pairs=pairs)
            )

        if not _undecided(domain):
            given = parts(budget, pairs=domain.size > DENSE_CELLS)
            return PageMessage("explain.marginals", currency=budget.currency, parts=given)
        first, rest = budget.split([TOTAL_SHARE, 1 - TOTAL_SHARE])
        return PageMessage(
            "explain.marginals_by_total",
            currency=budget.currency,
            total=readable(first.amount),
            people=PEOPLE_PER_CELL,
            many=parts(rest, pairs=False),
            few=parts(rest, pairs=True),
        )

    def protect(self, task: Task) -> Cells:
        """Integers > 0; cells at 0 are not listed."""
        generator = np.random.default_rng(secret(task.source, "rounding"))
        box = Box(task.domain)
        pairs, budget, views = task.domain.size > DENSE_CELLS, task.budget, []
        self.views(task.domain, budget, pairs=pairs)  # what cannot be done is refused before anything is counted
        ranks = box.ranks(task.table.index)
        if _undecided(task.domain):
            people = float(task.total)
            if not task.public_total:
                first, budget = budget.split([TOTAL_SHARE, 1 - TOTAL_SHARE])
                views = measured(task, box, ranks, [((), first)])
                people = float(views[0].values)
            scale = math.sqrt(noise_variance(task.sensitivity, task.budget) / 2)
            pairs = people < PEOPLE_PER_CELL * scale * task.domain.size
        views = measured(task, box, ranks, self.views(task.domain, budget, pairs=pairs)) + views
        total = float(task.total) if task.public_total else None
        if pairs:
            rows, weight = weighted_rows(box.sizes, views, total, generator)
            rank, own = np.unique(np.ravel_multi_index(tuple(rows.T), box.sizes), return_inverse=True)
            estimate = np.bincount(own, weight, minlength=len(rank)).astype(np.float64)
        else:
            estimate = fit(views[0], views[1:], total).reshape(-1)
            rank = np.arange(len(estimate))
        whole = task.total if task.public_total else max(0, round(float(estimate.sum())))
        return whole_cells(task.domain, rank, estimate, whole, generator)


def fits(domain: Domain) -> bool:
    """Whether all cells, or all pairs of attributes, are few enough."""
    sizes = sorted(Box(domain).sizes)
    return domain.size <= DENSE_CELLS or (len(sizes) > 2 and sizes[-1] * sizes[-2] <= DENSE_CELLS)


def _undecided(domain: Domain) -> bool:
    """Whether the number of people decides: of two attributes the only pair is the cells."""
    return domain.size <= DENSE_CELLS and sum(size > 1 for size in Box(domain).sizes) > 2


def _axes(box: Box, given: str | Sequence[str]) -> Axes:
    """The axes of a marginal given by the names of its attributes."""
    names = given if not isinstance(given, str) else (given,) if given in box.names else given.split(" x ")
    for name in names:
        if name.strip() not in box.names:
            raise ParameterError(
                "there is no such attribute in matters",
                value=name,
                allowed=box.names,
                hint=did_you_mean(name, box.names),
            )
    return tuple(sorted({box.names.index(name.strip()) for name in names}))


def measured(task: Task, box: Box, ranks: Sequence[Integers], views: Iterable[tuple[Axes, Budget]]) -> list[View]:
    """Each marginal with its noise: the seam."""
    count = task.table.count.astype(np.int64, copy=False)
    found = []
    for axes, budget in views:
        exact = box.sums(axes, ranks, count)
        label = f"marginal {box.title(axes)}" if axes else "total"
        noisy = measure(exact, task.sensitivity, budget, task.source, label)
        variance = noise_variance(task.sensitivity, budget)
        found.append(View(axes, noisy.astype(np.float64).reshape(box.shape(axes)), variance))
    return found


def whole_cells(domain: Domain, rank: Integers, estimate: Floats, people: int, generator: np.random.Generator) -> Cells:
    """Whole numbers near the estimates of cells with these ranks, which add up to ``people``."""
    total = float(estimate.sum())
    if people <= 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    scaled = estimate * (people / total) if total > 0 else np.full(estimate.size, people / estimate.size)
    whole = round_rows(scaled[None, :], np.array([people]), generator)[0]
    index = domain.cells(rank[whole > 0])
    order = np.argsort(index)
    return index[order], whole[whole > 0][order]


@lru_cache(maxsize=64)
def pair_shares(sizes: tuple[int, ...], matters: tuple[Axes, ...], gaussian: bool) -> list[tuple[Axes, Fraction]]:
    """The totals of attributes, and views that hold all pairs, with shares that make the pairs' absolute errors least.

    A view of n entries tells of a pair of m entries with the error m sqrt(n/m)/share: what it is worth is the sum c of
    m sqrt(n/m) over the pairs that it is there for, and the best shares go as c**(1/2) (c**(2/3) under rho, where the
    error goes as 1/sqrt(share)). Beginning with a view for each pair, an attribute is added to a view, which then takes
    over its pairs with it, as long as the sum of these powers falls: fewer views, and more budget for each.
    """
    some = [axis for axis, size in enumerate(sizes) if size > 1]
    power = 2 / 3 if gaussian else 1 / 2
    weight: dict[Axes, int] = {
        axes: _MATTERS if any(set(axes) <= set(one) for one in matters) else 1 for axes in combinations(some, 2)
    }

    def worth(view: Axes, pairs: Iterable[Axes]) -> float:
        cells = math.prod(sizes[axis] for axis in view)
        if cells > DENSE_CELLS:
            return math.inf
        own = sum(weight[axes] * math.sqrt(cells * math.prod(sizes[a] for a in axes)) for axes in pairs)
        return float(own**power)

    views: dict[Axes, frozenset[Axes]] = {axes: frozenset([axes]) for axes in weight}
    while len(some) <= _MERGED and (change := _best_change(views, some, worth)):
        views = change
    cost = {view: worth(view, pairs) for view, pairs in views.items()}
    whole = sum(cost.values())
    shares = [(view, (1 - BESIDE_PAIRS) * Fraction(round(c / whole * _GRAIN) or 1)) for view, c in cost.items()]
    apart = BESIDE_PAIRS * Fraction(_GRAIN, len(some))
    alone: list[tuple[Axes, Fraction]] = [((axis,), apart * (_MATTERS if (axis,) in matters else 1)) for axis in some]
    every = sum((share for _, share in (*alone, *shares)), Fraction(0))
    return [(axes, share / every) for axes, share in (*alone, *shares)]


def _best_change(
    views: dict[Axes, frozenset[Axes]], some: Sequence[int], worth: Callable[[Axes, Iterable[Axes]], float]
) -> dict[Axes, frozenset[Axes]] | None:
    """The views after the one addition of an attribute that gains most, if any gains."""
    home = {axes: view for view, pairs in views.items() for axes in pairs}
    cost = {view: worth(view, pairs) for view, pairs in views.items()}
    best, found = -1e-9, None
    for view, axis in product(views, some):
        if axis in view:
            continue
        larger = tuple(sorted((*view, axis)))
        taken = {tuple(sorted((axis, other))) for other in view}
        left = {lost: views[lost] - taken for lost in {home[axes] for axes in taken} if lost not in (view, larger)}
        pairs = views[view] | taken | views.get(larger, frozenset())
        change = worth(larger, pairs) - cost[view] - (cost[larger] if larger in views else 0.0)
        change += sum((worth(lost, rest) if rest else 0.0) - cost[lost] for lost, rest in left.items())
        if change < best:
            others = {one: left.get(one, kept) for one, kept in views.items() if one not in (view, larger)}
            best, found = change, {**{one: kept for one, kept in others.items() if kept}, larger: frozenset(pairs)}
    return found


@lru_cache(maxsize=64)
def planned_shares(sizes: tuple[int, ...], matters: tuple[Axes, ...], gaussian: bool) -> list[tuple[Axes, Fraction]]:
    """Which marginals are measured, the cells first, with which share of the budget.

    It minimises the mean logarithm of the variances of single attributes, pairs, triples and cells, each of these
    four counting alike, and what ``matters`` as much as all of them, before x >= 0 is asked for. Shares of the totals
    of attributes begin with ONE_WAY_SHARE in all, those of what matters with half of the rest.
    """
    every = tuple(range(len(sizes)))
    weight = _weights(sizes, matters)
    started: dict[Axes, Fraction] = {
        (axis,): ONE_WAY_SHARE / len(sizes) for axis in every if len(sizes) > 1 and sizes[axis] > 1
    }
    for axes in matters:
        if axes and axes != every:
            started[axes] = started.get(axes, Fraction(0)) + (1 - ONE_WAY_SHARE) / (2 * len(matters))

    def value(shares: dict[Axes, Fraction]) -> float:
        for_cells = 1 - sum(shares.values())
        if for_cells <= 0:
            return math.inf
        power = 1 if gaussian else 2
        variances = {axes: 1 / float(share) ** power for axes, share in shares.items() if share}
        other = float(for_cells) ** power
        known = {part: precision + other for part, precision in precisions(sizes, variances).items()}
        return sum(w * math.log(variance_of(sizes, axes, known, other)) for axes, w in weight.items())

    best = value(started)
    for _ in range(_ROUNDS):
        for axes in list(started):
            for factor in _STEPS:
                changed = {**started, axes: started[axes] * factor}
                if (found := value(changed)) < best - 1e-12:
                    best, started = found, changed
    if value({}) < best:
        started = {}
    kept = [(axes, share) for axes, share in started.items() if share]
    return [(every, 1 - sum((share for _, share in kept), Fraction(0))), *kept]


def _weights(sizes: tuple[int, ...], matters: tuple[Axes, ...]) -> dict[Axes, float]:
    """How much the logarithm of each marginal's variance counts."""
    every = tuple(range(len(sizes)))
    most = 3 if math.comb(len(sizes), 3) <= MOST_SETS else 2
    weight: dict[Axes, float] = {every: 1.0}
    for number in range(1, min(most, len(sizes) - 1) + 1):
        own = [axes for axes in subsets(every, most) if len(axes) == number]
        weight |= {axes: 1 / len(own) for axes in own}
    for axes in matters:
        weight[axes] = weight.get(axes, 0.0) + 4 / len(matters)
    return weight
