"""How far a neighbour moves what is measured: of the declared sensitivity, and in the currency of the guarantee.

Each recorded measurement knows the law it was drawn by. Added noise costs what its law makes of the change of the exact
values, and a refinement what it adds to the cost of its coarse value; a record that is randomised on its own costs its
epsilon, whatever it changed to; scores of an exponential mechanism, which one unit may only raise or only lower, cost
their largest step. The sum over all measurements of a
release is what telling the two apart costs at most, and must not be above what is promised.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.anonymity.choice import Exponential
from sudare.errors import AccountingError
from sudare.noise import AddedGaussian, AddedLaplace, Measured, Refined, Sparse, Tape

_ADDED = AddedLaplace | AddedGaussian | Refined


def change_of(one: Any, other: Any) -> list[int]:
    """The entries in which two measurements differ, as whole numbers of any size.

    >>> change_of(np.array([1, 5, 5]), np.array([1, 3, 6]))
    [-2, 1]
    """
    if isinstance(one, Sparse) and isinstance(other, Sparse):
        before = dict(zip(one.index.tolist(), one.value.tolist(), strict=True))
        after = dict(zip(other.index.tolist(), other.value.tolist(), strict=True))
        change = (after.get(key, 0) - before.get(key, 0) for key in sorted(before.keys() | after.keys()))
        return [step for step in change if step]
    first, second = np.asarray(one), np.asarray(other)
    if first.shape != second.shape:
        raise AccountingError("the replay measures another number of values")
    moved = np.flatnonzero(first.ravel() != second.ravel())
    return [int(second.flat[place]) - int(first.flat[place]) for place in moved]


def replaced_rows(one: Any, other: Any) -> list[int]:
    """By how much each replaced record changed, where records stand in no order: those that differ, paired by size.

    >>> replaced_rows(np.array([7, 0, 3]), np.array([3, 7, 9]))
    [9]
    """
    if len(one) != len(other):
        raise AccountingError("the replay measures another number of values")
    before, after = Counter(np.asarray(one).tolist()), Counter(np.asarray(other).tolist())
    gone, come = sorted((before - after).elements()), sorted((after - before).elements())
    return [new - old for old, new in zip(gone, come, strict=True)]


def share_moved(one: Measured, other: Measured, factor: int = 1, rows: int | None = None) -> float:
    """The change of one measurement, of what its sensitivity allows.

    ``factor`` is by how much more values may move: 2 where a record is replaced and sensitivity is that of adding one.
    ``rows`` says that records are randomised each on its own: so many may have changed, each within the sensitivity.
    """
    law = one.law
    if isinstance(law, Exponential):
        return float(_one_way(change_of(one.exact, other.exact)) / law.sensitivity)
    if rows is not None or not isinstance(law, _ADDED):
        change = replaced_rows(one.exact, other.exact)
        farthest = max(map(abs, change), default=0) if isinstance(law, _ADDED) else 0
        return max(len(change) / (rows or 1), float(farthest / one.sensitivity))
    change = change_of(one.exact, other.exact)
    bound = one.sensitivity * factor
    if isinstance(law, AddedGaussian):
        return math.sqrt(sum(step * step for step in change) / bound**2)
    return float(sum(map(abs, change)) / bound)


def cost_of(one: Measured, other: Measured, rows: int | None = None) -> Fraction:
    """What telling two measurements apart costs at most: epsilon, or rho where the noise is Gaussian."""
    law = one.law
    if isinstance(law, Exponential):
        return law.epsilon * _one_way(change_of(one.exact, other.exact)) / law.sensitivity
    if isinstance(law, _ADDED):
        apart = change_of if rows is None else replaced_rows
        return law.cost(apart(one.exact, other.exact))
    return law.epsilon * len(replaced_rows(one.exact, other.exact))


def _one_way(change: list[int]) -> Fraction:
    """The largest step of scores that move all up or all down; where they do not, from the lowest to the highest."""
    return Fraction(max([*change, 0]) - min([*change, 0]))


def loss_of(recorded: Tape, again: Tape) -> Fraction:
    """The exact privacy loss of a recorded release: ln P(what was measured | its data)/P(the same | the replayed data).

    No test of two data sets tells more than this number. Sparse noise is drawn in full, so for small domains only.
    """
    loss = Fraction(0)
    for one, other in zip(recorded.measured, again.measured, strict=True):
        noisy, here, there = one.noisy, one.exact, other.exact
        if isinstance(one.law, Refined):
            assert one.coarse is not None  # noqa: S101 - what was refined is on the tape
            loss += one.law.log_ratio(np.asarray(noisy), one.coarse, np.asarray(here), np.asarray(there))
        elif not isinstance(one.law, AddedLaplace | AddedGaussian):
            raise AccountingError("only added noise has a known ratio", value=one.label)
        elif isinstance(noisy, np.ndarray) and isinstance(here, np.ndarray) and isinstance(there, np.ndarray):
            loss += one.law.log_ratio(noisy, here, there)
        elif not isinstance(noisy, np.ndarray) and isinstance(here, Sparse) and isinstance(there, Sparse):
            index, value = noisy.above(-(2**62))
            loss += one.law.log_ratio(value, _dense(here, index), _dense(there, index))
    return loss


def _dense(vector: Sparse, index: Any) -> Any:
    """The entries at ``index``, which lists every cell."""
    dense = np.zeros(len(index), dtype=np.int64)
    dense[np.searchsorted(index, vector.index)] = vector.value
    return dense
