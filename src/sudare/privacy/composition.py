"""What several releases promise together.

In sequence, about the same people, costs add: epsilons, deltas and rhos, each as an exact rational. Where
notions mix, pure epsilon counts as rho = epsilon^2 / 2 beside zCDP (so the result stays rho until somebody
names a delta), and zCDP is converted to epsilon beside (epsilon, delta)-DP, which needs that delta. In
parallel, about different people, the largest cost stands for all. Releases may depend on earlier ones; the
*sizes* of their budgets are taken as fixed without looking at earlier outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sudare.errors import ParameterError
from sudare.privacy.budget import Number, exact, positive
from sudare.privacy.guarantee import ADJACENCIES, Guarantee
from sudare.privacy.zcdp import epsilon_for, rho_of_pure

# Pk-anonymity is about linkage and does not compose; the local epsilon of its perturbation does.
_PURE = ("epsilon-DP", "epsilon-LDP", "Pk-anonymity")
# A guarantee has a positive epsilon, also where delta alone would do.
_SMALLEST_EPSILON = Fraction(1, 10**12)


def composes(guarantee: Guarantee) -> bool:
    """True where the cost can be added up; the evaluated epsilon of k-anonymity cannot: it is of one output.

    >>> composes(Guarantee("epsilon-DP", epsilon=Fraction(1))), composes(Guarantee("k-anonymity"))
    (True, False)
    """
    if guarantee.notion in _PURE:
        return guarantee.epsilon is not None
    return guarantee.notion in ("(epsilon, delta)-DP", "rho-zCDP")


@dataclass(frozen=True)
class Total:
    """The costs of releases in sequence, each kind in a sum of its own, before anything is converted.

    ``pure``: epsilons of pure DP; ``pure_as_rho``: the same releases as epsilon^2 / 2; ``approximate`` and
    ``delta``: the numbers of (epsilon, delta)-DP; ``rho``: of zCDP. Sums, so the order never matters.

    >>> tenth = Guarantee("epsilon-DP", epsilon=Fraction(1, 10))
    >>> Total.of([tenth, tenth, tenth]).epsilon_at(0)
    Fraction(3, 10)
    """

    pure: Fraction = Fraction(0)
    pure_as_rho: Fraction = Fraction(0)
    approximate: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    @classmethod
    def of(cls, guarantees: Iterable[Guarantee]) -> Total:
        """The total of ``guarantees``; refuses what does not compose."""
        total = cls()
        for guarantee in guarantees:
            total += cls._one(guarantee)
        return total

    @classmethod
    def _one(cls, guarantee: Guarantee) -> Total:
        if not composes(guarantee):
            raise ParameterError("a release without a cost does not compose", value=guarantee.notion)
        if guarantee.rho is not None:
            return cls(rho=guarantee.rho)
        epsilon = positive(guarantee.epsilon or 0, "epsilon")
        if guarantee.delta is not None:
            return cls(approximate=epsilon, delta=guarantee.delta)
        return cls(pure=epsilon, pure_as_rho=rho_of_pure(epsilon))

    def __add__(self, other: Total) -> Total:
        return Total(
            self.pure + other.pure,
            self.pure_as_rho + other.pure_as_rho,
            self.approximate + other.approximate,
            self.delta + other.delta,
            self.rho + other.rho,
        )

    @property
    def all_rho(self) -> Fraction | None:
        """Everything in rho; None where an (epsilon, delta)-DP release is among it, which has no rho."""
        return None if self.approximate else self.rho + self.pure_as_rho

    def epsilon_at(self, delta: Number) -> Fraction | None:
        """The smallest known epsilon of the whole at ``delta``; None where that delta does not suffice.

        The releases' own deltas are taken off first, the rest serves the conversion. Pure releases enter
        either by their epsilons or by their rho, whichever gives less in total: both are true.
        """
        rest = exact(delta, "delta") - self.delta
        if rest < 0 or (rest == 0 and self.rho):
            return None
        by_epsilon = self.pure + (epsilon_for(self.rho, rest) if self.rho else 0)
        if rest == 0 or not self.pure:
            return self.approximate + by_epsilon
        by_rho = epsilon_for(self.rho + self.pure_as_rho, rest)
        return self.approximate + min(by_epsilon, by_rho)


def sequential(*guarantees: Guarantee, delta: Number | None = None) -> Guarantee:
    """What releases about the same units promise together; with ``delta``, stated as (epsilon, delta)-DP.

    Without ``delta`` the notion is kept: epsilons add, deltas add, rhos add, and pure beside zCDP counts
    epsilon^2 / 2. Compose all releases at once: the rho of a sum of epsilons is more than the sum of rhos.

    >>> half = Guarantee("epsilon-DP", epsilon=Fraction(1, 2))
    >>> sequential(half, half).epsilon
    Fraction(1, 1)
    """
    _comparable(guarantees)
    total = Total.of(guarantees)
    notion = _common_notion(guarantees, delta)
    return _stated(guarantees, notion, _numbers(total, notion, delta))


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
    if guarantees[0].adjacency != ADJACENCIES[0]:
        raise ParameterError(
            "parallel composition does not hold for replaced records",
            value=guarantees[0].adjacency,
            allowed=ADJACENCIES[0],
        )
    notion = _common_notion(guarantees, delta)
    parts = [_numbers(Total.of([guarantee]), notion, delta) for guarantee in guarantees]
    return _stated(guarantees, notion, {name: max(part[name] for part in parts) for name in parts[0]})


def _comparable(guarantees: Sequence[Guarantee]) -> None:
    """Refuses what cannot be said in one sentence: no releases, or different units or neighbours."""
    if not guarantees:
        raise ParameterError("there is nothing to compose", hint="Give at least one guarantee.")
    for what, given in (
        ("units", {str(guarantee.unit) for guarantee in guarantees}),
        ("neighbours", {guarantee.adjacency for guarantee in guarantees}),
    ):
        if len(given) > 1:
            raise ParameterError(f"guarantees for different {what} do not compose", value=sorted(given))


def _common_notion(guarantees: Sequence[Guarantee], delta: Number | None) -> str:
    """The strongest notion in which every one of ``guarantees`` can be stated."""
    has_delta = any(guarantee.delta is not None for guarantee in guarantees)
    has_rho = any(guarantee.rho is not None for guarantee in guarantees)
    if delta is None and has_delta and has_rho:
        raise ParameterError("rho-zCDP and (epsilon, delta)-DP compose at a stated delta only", hint="Give delta=.")
    if delta is not None or has_delta:
        return "(epsilon, delta)-DP"
    if has_rho:
        return "rho-zCDP"
    local = all(guarantee.notion in ("epsilon-LDP", "Pk-anonymity") for guarantee in guarantees)
    return "epsilon-LDP" if local else "epsilon-DP"


def _numbers(total: Total, notion: str, delta: Number | None) -> dict[str, Fraction]:
    """``total`` in the numbers of ``notion``, which `_common_notion` found possible."""
    if notion == "rho-zCDP":
        return {"rho": total.rho + total.pure_as_rho}
    if notion != "(epsilon, delta)-DP":
        return {"epsilon": total.pure}
    if delta is None:
        return {"epsilon": total.pure + total.approximate, "delta": total.delta}
    whole = positive(delta, "delta")
    epsilon = total.epsilon_at(whole)
    if epsilon is None:
        raise ParameterError(
            "delta does not cover the releases",
            value=delta,
            allowed="more than the sum of their own deltas",
        )
    return {"epsilon": max(epsilon, _SMALLEST_EPSILON), "delta": whole}


def _stated(guarantees: Sequence[Guarantee], notion: str, numbers: dict[str, Fraction]) -> Guarantee:
    """One guarantee with everything that is public, and everything assumed, in any of the parts."""
    return Guarantee(
        notion,
        guarantees[0].unit,
        guarantees[0].adjacency,
        public=tuple(dict.fromkeys(fact for guarantee in guarantees for fact in guarantee.public)),
        assumptions=tuple(dict.fromkeys(text for guarantee in guarantees for text in guarantee.assumptions)),
        in_no_ledger=any(guarantee.in_no_ledger for guarantee in guarantees),
        **numbers,
    )
