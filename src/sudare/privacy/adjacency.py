"""What a release costs somebody, under one kind of neighbours, so that costs may be added.

Guarantees for "add or remove one unit" and for "replace one record" speak of different steps. Whoever moves, or
changes, is one unit removed and one added: two steps of the first kind, one of the second. So a guarantee under adding
and removing also holds for replacing, at the cost of a group of two; the other way round nothing holds (a public total
shows every addition). Once one release is about replacing, everything is therefore added up for replacing.

A group of n units is n steps, one after the other:

- pure: n epsilon. The odds change by e^epsilon at each step.
- rho: n^2 rho (Bun and Steinke 2016, proposition 1.9); less where the method shows it (`Guarantee.replace_rho`).
- (epsilon, delta): n epsilon, and delta (1 + e^epsilon + ... + e^((n-1) epsilon)), rounded up: each step multiplies
  what the steps before have failed by. For two steps that is (1 + e^epsilon) delta.

Local guarantees (epsilon-LDP, and the epsilon behind Pk-anonymity) bound any change of one person's value and hide no
presence: they are about replacing whatever their text says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sudare.privacy.directed import exp_above, round_up
from sudare.privacy.guarantee import Adjacency, Guarantee

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
    """What the release costs somebody who is ``units`` units of it, under ``adjacency`` (its own if absent).

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
    """delta (1 + e^epsilon + ... ) with ``steps`` terms, rounded up; 1 where that is no promise any more."""
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
