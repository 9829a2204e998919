"""What a release costs, and what several releases promise together.

**One release** costs what its neighbours say. Guarantees for "add or remove one unit" and for "replace one record" are
about different neighbours. Replacing a record is one removal and one addition: two steps of the first kind, one of the
second. So a guarantee under adding and removing also holds for replacing, at the cost of a group of two; the converse
does not hold (a public total shows every addition). Once one release is about replacing, all are added up for
replacing. Local guarantees (epsilon-LDP, and the epsilon behind Pk-anonymity) bound any change of one person's value
and do not hide presence: they are about replacing, whatever their text says. A group of n units is n steps:

- pure: n epsilon. The odds change by e^epsilon at each step.
- rho: n^2 rho (Bun and Steinke 2016, proposition 1.9); less where the method shows it (`Guarantee.replace_rho`).
- (epsilon, delta): n epsilon, and delta (1 + e^epsilon + ... + e^((n-1) epsilon)), rounded up: each step multiplies
  the delta of the steps before. For two steps that is (1 + e^epsilon) delta.

**Several releases** in sequence, about the same people, add up, each as an exact rational: epsilons, deltas and rhos.
Gaussian noise is counted by its rho however its budget was asked for, and rho is converted to an epsilon once, when
somebody names a delta. At a delta the sum is the smallest of two true statements: the epsilons added, with the
conversion of all rho beside them; or all of it order by order (`renyi`), which covers zCDP, advanced composition and
their mixtures. An (epsilon, delta)-DP release is epsilon-DP but for an event of probability delta (Kairouz, Oh and
Viswanath 2015, theorem 3.1; Bun and Steinke 2016, lemma 8.8), so its delta is taken off and its epsilon is counted like
a pure one. In parallel, about different people, the largest cost stands for all. Releases may depend on earlier ones;
the *sizes* of their budgets are taken as fixed without looking at earlier outputs. Proof:
docs/explanation/proofs.md, theorem 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import repeat, zip_longest
from typing import TYPE_CHECKING

from sudare.errors import Message, ParameterError
from sudare.privacy.budget import Number, exact, positive
from sudare.privacy.guarantee import Adjacency, Guarantee
from sudare.privacy.zcdp import epsilon_for, exp_above, rho_of_pure, round_up

if TYPE_CHECKING:
    from sudare.privacy.renyi import Counted

ADDED, REPLACED = Adjacency
LOCAL = ("epsilon-LDP", "Pk-anonymity")
_ZERO = Fraction(0)
_CERTAIN = Fraction(1)  # a delta of one promises nothing


@dataclass(frozen=True)
class Cost:
    """A release as it is added up: rho alone, or an epsilon with the delta it may fail by.

    ``stated_delta`` is the delta that was asked for, also where Gaussian noise is counted by its rho.
    """

    epsilon: Fraction | None = None
    delta: Fraction = _ZERO
    rho: Fraction = _ZERO
    stated_delta: Fraction = _ZERO


def adjacency_of(guarantee: Guarantee) -> str:
    """The neighbours that a guarantee is about."""
    return REPLACED if guarantee.notion in LOCAL else guarantee.adjacency


def common_adjacency(guarantees: Iterable[Guarantee]) -> str:
    """The neighbours under which all of them hold: replacing, as soon as one of them knows no other.

    >>> common_adjacency([Guarantee("epsilon-DP", epsilon=1), Guarantee("epsilon-LDP", epsilon=1)])
    'replace one record'
    """
    each = {id(guarantee): guarantee for guarantee in guarantees}.values()  # thousands of rows share a few objects
    return REPLACED if any(adjacency_of(guarantee) == REPLACED for guarantee in each) else ADDED


def cost_of(guarantee: Guarantee, adjacency: str | None = None, units: int = 1) -> Cost:
    """What the release costs a group of ``units`` units, under ``adjacency`` (its own if absent).

    >>> half = Guarantee("epsilon-DP", epsilon=Fraction(1, 2))
    >>> cost_of(half).epsilon, cost_of(half, "replace one record").epsilon, cost_of(half, units=30).epsilon
    (Fraction(1, 2), Fraction(1, 1), Fraction(15, 1))
    """
    own = adjacency_of(guarantee)
    steps = units * (2 if own == ADDED and adjacency == REPLACED else 1)
    if guarantee.rho is not None:
        moved = guarantee.replace_rho if steps > units else None
        rho = steps**2 * guarantee.rho if moved is None else units**2 * moved
        return Cost(rho=rho, stated_delta=guarantee.delta or _ZERO)
    epsilon = guarantee.epsilon or _ZERO
    delta = _ZERO if guarantee.delta is None else _group_delta(epsilon, guarantee.delta, steps)
    return Cost(epsilon=steps * epsilon, delta=delta, stated_delta=delta)


@lru_cache(maxsize=1024)
def _group_delta(epsilon: Fraction, delta: Fraction, steps: int) -> Fraction:
    """delta (1 + e^epsilon + ... ) with ``steps`` terms, rounded up; at most 1, which promises nothing."""
    summed, power, factor = _ZERO, Fraction(1), _CERTAIN
    for step in range(steps):
        if step == 1:
            if epsilon > 10**3:
                return _CERTAIN
            factor = exp_above(epsilon)
        power = round_up(power * factor) if step else power
        summed += power
        if summed * delta >= 1:
            return _CERTAIN
    return delta if steps == 1 else round_up(delta * summed)


# A guarantee has a positive epsilon, also where delta alone would do.
_SMALLEST_EPSILON = Fraction(1, 10**12)
# Added epsilons are exact and anyone can check them: the sum by orders must be better by this to be preferred.
WORTH_IT = Fraction(1001, 1000)


def composes(guarantee: Guarantee) -> bool:
    """True where the cost can be added up; the evaluated epsilon of k-anonymity cannot: it is of one output.

    Pk-anonymity is about linkage and does not compose; the local epsilon of its perturbation does.

    >>> composes(Guarantee("epsilon-DP", epsilon=Fraction(1))), composes(Guarantee("k-anonymity"))
    (True, False)
    """
    if guarantee.notion in ("epsilon-DP", *LOCAL):
        return guarantee.epsilon is not None
    return guarantee.notion in ("(epsilon, delta)-DP", "rho-zCDP")


@dataclass(frozen=True)
class ComposedEpsilon:
    """An epsilon, and how it was found: ``way`` is "nothing", "added", "converted", "added and converted" or "by
    orders", then with its alpha as ``order``.

    ``delta`` is what was left for reading rho and orders as an epsilon.
    """

    epsilon: Fraction
    way: str
    order: Fraction | None = None
    delta: Fraction = _ZERO


@dataclass(frozen=True)
class Total:
    """The costs of releases in sequence, each kind in a sum of its own, before anything is converted.

    ``epsilons``: those that are not counted by rho, each value with how many releases have it, smallest first;
    ``delta``: what those may fail by; ``rho``: of zCDP, and of all Gaussian noise; ``stated_delta``: the deltas that
    were asked for. Sums, so the order never matters.

    >>> tenth = Guarantee("epsilon-DP", epsilon=Fraction(1, 10))
    >>> Total.of([tenth, tenth, tenth]).epsilon_at(0)
    Fraction(3, 10)
    """

    epsilons: Counted = ()
    delta: Fraction = _ZERO
    rho: Fraction = _ZERO
    stated_delta: Fraction = _ZERO

    @classmethod
    def of(cls, guarantees: Iterable[Guarantee], adjacency: str | None = None, units: int = 1) -> Total:
        """The total of ``guarantees`` for a group of ``units`` units; refuses what does not compose.

        Under ``adjacency``, or each under its own, which adds up only where they agree.
        """
        held = list(guarantees)
        each = {id(guarantee): guarantee for guarantee in held}  # thousands of rows share a few objects
        counts = Counter(map(id, held))
        return cls.summed((_cost(each[key], adjacency, units) for key in each), counts.values())

    @classmethod
    def summed(cls, costs: Iterable[Cost], times: Iterable[int] = repeat(1)) -> Total:
        """The total of costs, each counted its number of ``times``."""
        counts: dict[Fraction, int] = {}
        delta = rho = stated = _ZERO
        for cost, number in zip(costs, times, strict=False):  # one for each by default, without end
            if cost.epsilon is not None:
                counts[cost.epsilon] = counts.get(cost.epsilon, 0) + number
            if cost.delta:
                delta += cost.delta * number
            if cost.rho:
                rho += cost.rho * number
            if cost.stated_delta:
                stated += cost.stated_delta * number
        return cls(tuple(sorted(counts.items())), delta, rho, stated)

    def __add__(self, other: Total) -> Total:
        counts = dict(self.epsilons)
        for epsilon, count in other.epsilons:
            counts[epsilon] = counts.get(epsilon, 0) + count
        return Total(
            tuple(sorted(counts.items())),
            self.delta + other.delta,
            self.rho + other.rho,
            self.stated_delta + other.stated_delta,
        )

    @classmethod
    def largest(cls, totals: Iterable[Total]) -> Total:
        """A total that none of ``totals`` exceeds: number by number, epsilons from the largest down.

        Every bound here grows with each number, so what holds for it holds for each of them. For totals under
        replacing it also holds for one unit less in one of them and one more in another, which costs each half of
        what it says: halves a and b of two totals, paired from the largest down, cost at most one whole of the larger,
        since D(a) + D(b) <= D(2 max(a, b)) at every order (`renyi`: D(epsilon)/epsilon never falls), as for sums
        and squares; and rho and delta under replacing are at least twice those of one step.
        """
        found = cls()
        for total in totals:
            pairs = zip_longest(found._from_the_largest(), total._from_the_largest(), fillvalue=_ZERO)
            costs = (Cost(epsilon=max(pair)) for pair in pairs)
            numbers = (max(getattr(found, name), getattr(total, name)) for name in ("delta", "rho", "stated_delta"))
            found = cls(cls.summed(costs).epsilons, *numbers)
        return found

    def _from_the_largest(self) -> Iterable[Fraction]:
        return (epsilon for epsilon, count in reversed(self.epsilons) for _ in range(count))

    @cached_property
    def added(self) -> Fraction:
        """The epsilons that are not counted by rho, added."""
        return sum((count * epsilon for epsilon, count in self.epsilons), _ZERO)

    @cached_property
    def all_rho(self) -> Fraction | None:
        """Everything in rho, epsilon as epsilon^2 / 2; None where an (epsilon, delta)-DP release has no rho."""
        if self.delta:
            return None
        return self.rho + sum((count * rho_of_pure(epsilon) for epsilon, count in self.epsilons), _ZERO)

    def epsilon_at(self, delta: Number) -> Fraction | None:
        """The smallest known epsilon of the whole at ``delta``; None where that delta does not suffice."""
        found = self.sum_at(delta)
        return None if found is None else found.epsilon

    def sum_at(self, delta: Number) -> ComposedEpsilon | None:
        """As `epsilon_at`, with the way it was found.

        The releases' own deltas are taken off first, the rest serves the conversion.
        """
        rest = exact(delta, "delta") - self.delta
        if rest < 0 or (rest == 0 and self.rho):
            return None
        if not self.epsilons:
            return (
                ComposedEpsilon(epsilon_for(self.rho, rest), "converted", delta=rest)
                if self.rho
                else ComposedEpsilon(_ZERO, "nothing")
            )
        converted = epsilon_for(self.rho, rest) if self.rho else _ZERO
        plain = ComposedEpsilon(self.added + converted, "added and converted" if self.rho else "added", delta=rest)
        if rest == 0 or (len(self.epsilons) == 1 and self.epsilons[0][1] == 1 and not self.rho):
            return plain
        from sudare.privacy.renyi import composed_epsilon

        epsilon, order = composed_epsilon(self.epsilons, self.rho, rest)
        by_orders = ComposedEpsilon(epsilon * WORTH_IT, "by orders", order, rest)
        return min(plain, by_orders, key=lambda found: found.epsilon)


def _refuse_costless(guarantee: Guarantee) -> None:
    if not composes(guarantee):
        raise ParameterError("a release without a cost does not compose", value=guarantee.notion)


def _cost(guarantee: Guarantee, adjacency: str | None, units: int) -> Cost:
    _refuse_costless(guarantee)
    return cost_of(guarantee, adjacency, units)


def sequential(*guarantees: Guarantee, delta: Number | None = None) -> Guarantee:
    """What releases about the same units promise together; with ``delta``, stated as (epsilon, delta)-DP.

    Without ``delta`` the notion is kept: epsilons add, deltas add, rhos add, and pure beside zCDP counts
    epsilon^2 / 2. Compose all releases at once: the rho of a sum of epsilons is more than the sum of rhos.

    >>> half = Guarantee("epsilon-DP", epsilon=Fraction(1, 2))
    >>> sequential(half, half).epsilon
    Fraction(1, 1)
    """
    _comparable(guarantees)
    notion = _common_notion(guarantees, delta)
    return _stated(guarantees, notion, _numbers(guarantees, notion, delta))


def parallel(*guarantees: Guarantee, disjoint_units: bool, delta: Number | None = None) -> Guarantee:
    """What releases about *different* units promise together: to each unit, what its own part promises.

    ``disjoint_units=True`` is the caller's word that no unit (a person with all their rows, not a row) is
    in two parts. Only for adding or removing a unit: a replaced record can leave one part and enter
    another. ``delta`` is needed where zCDP meets (epsilon, delta)-DP.

    >>> half, one = (Guarantee("epsilon-DP", epsilon=Fraction(n, 2)) for n in (1, 2))
    >>> parallel(half, one, disjoint_units=True).epsilon
    Fraction(1, 1)
    """
    if disjoint_units is not True:
        raise ParameterError(
            "parallel composition needs parts that share no unit",
            value=disjoint_units,
            allowed="disjoint_units=True",
            hint="If a person may be in two parts, compose in sequence.",
        )
    _comparable(guarantees)
    if (own := adjacency_of(guarantees[0])) != Adjacency.ADDED:
        raise ParameterError(
            "parallel composition does not hold for replaced records",
            value=own,
            allowed=[Adjacency.ADDED],
        )
    notion = _common_notion(guarantees, delta)
    parts = [_numbers([guarantee], notion, delta) for guarantee in guarantees]
    shared = [name for name in parts[0] if all(name in part for part in parts)]
    return _stated(guarantees, notion, {name: max(part[name] for part in parts) for name in shared})


def _comparable(guarantees: Sequence[Guarantee]) -> None:
    """Refuses what cannot be said in one sentence: no releases, or different units or neighbours."""
    if not guarantees:
        raise ParameterError("there is nothing to compose", hint="Give at least one guarantee.")
    for guarantee in guarantees:
        _refuse_costless(guarantee)
    for what, given in (
        (Message("units"), {str(guarantee.unit) for guarantee in guarantees}),
        (Message("neighbours"), {adjacency_of(guarantee) for guarantee in guarantees}),
    ):
        if len(given) > 1:
            raise ParameterError("guarantees for different {what} do not compose", value=sorted(given), what=what)


def _common_notion(guarantees: Sequence[Guarantee], delta: Number | None) -> str:
    """The strongest notion in which every one of ``guarantees`` can be stated."""
    has_delta = any(guarantee.delta is not None for guarantee in guarantees)
    has_rho = any(guarantee.notion == "rho-zCDP" for guarantee in guarantees)
    if delta is None and has_delta and has_rho:
        raise ParameterError("rho-zCDP and (epsilon, delta)-DP compose at a stated delta only", hint="Give delta=.")
    if delta is not None or has_delta:
        return "(epsilon, delta)-DP"
    if has_rho:
        return "rho-zCDP"
    local = all(guarantee.notion in LOCAL for guarantee in guarantees)
    return "epsilon-LDP" if local else "epsilon-DP"


def _numbers(guarantees: Sequence[Guarantee], notion: str, delta: Number | None) -> dict[str, Fraction]:
    """``guarantees`` together in the numbers of ``notion``, which `_common_notion` found possible."""
    total = Total.of(guarantees)
    if notion == "rho-zCDP":
        return {"rho": total.all_rho or _ZERO}
    if notion != "(epsilon, delta)-DP":
        return {"epsilon": total.added}
    gaussian = {"rho": total.rho} if total.rho and not total.epsilons else {}
    if delta is None:
        added = sum((guarantee.epsilon or _ZERO for guarantee in guarantees), _ZERO)
        return {"epsilon": added, "delta": total.stated_delta, **gaussian}
    whole = positive(delta, "delta")
    epsilon = total.epsilon_at(whole)
    if epsilon is None:
        raise ParameterError(
            "delta does not cover the releases",
            value=delta,
            allowed="more than the sum of their own deltas",
        )
    return {"epsilon": max(epsilon, _SMALLEST_EPSILON), "delta": whole, **gaussian}


def _stated(guarantees: Sequence[Guarantee], notion: str, numbers: dict[str, Fraction]) -> Guarantee:
    """One guarantee with everything that is public, and everything assumed, in any of the parts."""
    return Guarantee(
        notion,
        guarantees[0].unit,
        adjacency_of(guarantees[0]),
        public=tuple(dict.fromkeys(fact for guarantee in guarantees for fact in guarantee.public)),
        assumptions=tuple(dict.fromkeys(fact for guarantee in guarantees for fact in guarantee.assumptions)),
        in_no_ledger=any(guarantee.in_no_ledger for guarantee in guarantees),
        **numbers,
    )
