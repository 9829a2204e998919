"""The meter: the total cost of the measurements made under it, and the rows that may not be measured again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sudare.arrays import Integers
from sudare.errors import AccountingError
from sudare.privacy import Budget


@dataclass(frozen=True)
class Blocks:
    """Which rows values count: of blocks of 2**``bits`` neighbouring cells, one block for each value.

    ``number`` ascends strictly, so that no block stands twice: block b holds the indices from b * 2**bits up to, and
    not including, (b + 1) * 2**bits. With ``parts``, each of its that many equal parts has a value.
    """

    number: Integers
    bits: int
    parts: int = 1

    def __post_init__(self) -> None:
        if self.number.ndim != 1 or not (self.number[1:] > self.number[:-1]).all():
            raise AccountingError("the blocks of a measurement do not ascend, so that rows may be counted twice")

    def __len__(self) -> int:
        """How many values."""
        return len(self.number) * self.parts

    def stretches(self) -> Stretches:
        """The same rows: neighbouring blocks are one stretch."""
        parted = np.flatnonzero(self.number[1:] - self.number[:-1] > 1)
        bounds = np.append(parted, len(self.number) - 1), np.append(0, parted + 1)
        last, first = (own[: len(self.number)] for own in bounds)
        return Stretches(self.number[first] << self.bits, (self.number[last] + 1) << self.bits)


@dataclass(frozen=True)
class Stretches:
    """Rows of neighbouring cells, from each ``first`` index up to, and not including, ``end``; they ascend.

    >>> Blocks(np.array([0, 3]), 2).stretches().touch(Blocks(np.array([7, 12, 20]), 0).stretches())
    True
    >>> Blocks(np.array([0, 3]), 2).stretches().touch(Blocks(np.array([7, 11, 16]), 0).stretches())
    False
    """

    first: Integers
    end: Integers

    def touch(self, other: Stretches) -> bool:
        """Whether a cell lies in both; the shorter list is searched in the longer."""
        few, many = sorted((self, other), key=lambda stretches: len(stretches.first))
        # Of the many, only the last one that begins before one of the few ends may reach into it.
        place = np.searchsorted(many.first, few.end) - 1
        before = place >= 0
        return bool((many.end[place[before]] > few.first[before]).any())


@dataclass
class Meter:
    """Adds up what the measurements made under it cost.

    A ``final`` measurement is of rows that no later measurement touches: by parallel composition over disjoint rows,
    its cost adds to what came before and not to what comes later. This is checked, not assumed: a final measurement
    names the blocks whose rows it counts, and so does every one after it, which may not touch them. A refinement adds
    to the measurement that it ``refines``, named by its label and by its cost, which must have been booked: the noises
    of both are a pair of these scales.
    """

    costs: list[tuple[str, Budget, bool]] = field(default_factory=list)
    done: list[Stretches] = field(default_factory=list)
    """What was measured as final."""
    refinable: dict[str, Budget] = field(default_factory=dict)
    """By label: what values that are not final cost so far, with those that they refine."""

    def add(
        self,
        label: str,
        budget: Budget,
        rows: Blocks | None = None,
        *,
        final: bool = False,
        refines: tuple[str, Budget] | None = None,
    ) -> None:
        """Count one measurement, or refuse it before any noise is drawn."""
        if refines is not None and self.refinable.get(refines[0]) != refines[1]:
            raise AccountingError("values are refined that were not measured with this budget", value=label)
        if rows is None and (final or self.done):
            raise AccountingError(
                "a measurement does not name its rows, where some are measured for the last time",
                value=label,
                hint="Give measure the blocks that its values count.",
            )
        stretches = None if rows is None else rows.stretches()
        if stretches is not None and any(stretches.touch(done) for done in self.done):
            raise AccountingError("rows are measured again that were measured for the last time", value=label)
        self.costs.append((label, budget, final))
        if not final:
            self.refinable[label] = budget if refines is None else refines[1] + budget
            if refines is not None:
                del self.refinable[refines[0]]
        if final and stretches is not None:
            self.done.append(stretches)

    def check(self, budget: Budget) -> None:
        """Refuse when the costs are not exactly ``budget``: then the guarantee would be a false statement."""
        total = Fraction(0)
        for label, cost, final in self.costs:
            if cost.currency != budget.currency:
                raise AccountingError(
                    "a measurement costs {currency}, the guarantee {second_currency}",
                    currency=cost.currency,
                    second_currency=budget.currency,
                )
            if not final:
                total += cost.amount
            elif total + cost.amount > budget.amount:
                raise AccountingError("a final measurement costs more than is left", value=label)
        if total != budget.amount:
            raise AccountingError(
                "the measurements do not add up to the guarantee",
                value=str(total),
                allowed="exactly {amount}",
                amount=budget.amount,
            )


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


def meter_here() -> Meter | None:
    """The meter that watches the caller."""
    return _meter.get()


@contextmanager
def metered() -> Iterator[Meter]:
    """Collect the cost of every measurement made inside."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def delegate(label: str, budget: Budget, rows: Blocks | None = None) -> None:
    """Meter what workers elsewhere will measure; each of them has a meter of its own, checked for the same cost.

    Their parts together are one vector of sums over disjoint cells, and the noise of each is scaled to how far a unit
    moves all of it (max_rows in L1, however its rows are shared out): all of them cost ``budget`` once. ``rows`` is
    needed after a final measurement, as in `measure`.
    """
    if (meter := _meter.get()) is not None:
        meter.add(label, budget, rows)
