"""Block sums of a sparse table at any level, without ever holding all levels at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers, Numbers
from sudare.domain import CountTable


@dataclass(frozen=True, eq=False)
class Pyramid:
    """``index`` (m,) ascending, ``columns`` (k, m): k tables over the cells where any of them is not 0.

    >>> from sudare.domain import Domain, Line
    >>> table = CountTable(Domain(cell=Line(8)), index=[0, 1, 6], count=[1, 2, 4])
    >>> block, sums = Pyramid.of(table).level(1)
    >>> block.tolist(), sums.tolist()
    ([0, 3], [[3, 4]])
    """

    index: Integers
    columns: Numbers

    @classmethod
    def of(cls, *tables: CountTable) -> Self:
        """Tables over one domain, side by side."""
        index = np.sort(np.concatenate([table.index for table in tables]), kind="stable")  # merges ascending runs
        index = index[np.flatnonzero(np.diff(index, prepend=-1))]
        kind = np.result_type(*(table.count.dtype for table in tables))
        columns = np.zeros((len(tables), len(index)), dtype=kind)
        for column, table in zip(columns, tables, strict=True):
            column[np.searchsorted(index, table.index)] = table.count
        return cls(index, columns)

    @cached_property
    def _before(self) -> Numbers:
        before = np.zeros((len(self.columns), len(self.index) + 1), dtype=self.columns.dtype)
        np.cumsum(self.columns, axis=1, out=before[:, 1:])
        return before

    @cached_property
    def _parting(self) -> NDArray[np.uint8]:
        """The level at which each cell parts from the one before: the bit length of what they differ in."""
        apart = self.index[1:] ^ self.index[:-1]
        apart &= ~(apart >> 1)  # the second-highest bit is 0: a double cannot round up to the next power of two
        return np.concatenate([[64], np.frexp(apart.astype(np.float64))[1]])[: len(self.index)].astype(np.uint8)

    def level(self, level: int) -> tuple[Integers, Numbers]:
        """Blocks of 2**level cells that hold a listed one, ascending, and their sums (k, blocks)."""
        first = np.flatnonzero(self._parting > level)
        ends = self._before[:, np.append(first, len(self.index))]
        return self.index[first] >> level, np.diff(ends, axis=1)

    def halves(self, level: int) -> tuple[Integers, Numbers, Numbers]:
        """Blocks of 2**level cells, the sums (k, blocks) of their first halves, and of all of them."""
        half, sums = self.level(level - 1)
        first = np.flatnonzero(np.diff(half >> 1, prepend=-1))
        whole = np.add.reduceat(sums, first, axis=1) if len(first) else sums
        return half[first] >> 1, np.where(half[first] & 1 == 0, sums[:, first], 0), whole


def at_blocks(wanted: Integers, block: Integers, values: Numbers, absent: Any = 0) -> Numbers:
    """What stands for each of ``wanted`` among ascending ``block``; ``absent`` for those not listed."""
    if not len(block):
        return np.full(len(wanted), absent, dtype=values.dtype)
    place, listed = found_at(wanted, block)
    return np.where(listed, values[place], absent)


def found_at(wanted: Integers, block: Integers) -> tuple[Integers, Booleans]:
    """The place of each of ``wanted`` among ascending ``block``, any place if it is not listed, and whether it is."""
    place = np.searchsorted(block, wanted)
    np.minimum(place, max(len(block) - 1, 0), out=place)
    return place, block[place] == wanted if len(block) else np.zeros(len(wanted), dtype=np.bool_)
