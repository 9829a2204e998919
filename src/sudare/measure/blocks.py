"""Error by the size of an area: blocks of 2**level neighbouring cells in index order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats, Integers, Numbers
from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.measure.columns import ColumnArrays
from sudare.measure.logical import logical_blocks
from sudare.measure.pairs import pair


@dataclass(frozen=True)
class BlockErrors(ColumnArrays):
    """One entry per level. All means are over every logical block, also where both tables are zero.

    ``cells`` is the size of a whole block (2**level), ``blocks`` how many there are, ``mean_truth`` what a
    block truly holds on average, ``relative_error`` the sum of absolute errors divided by the true total
    (NaN without a total).
    """

    level: Integers
    cells: Integers
    blocks: Integers
    mean_absolute_error: Floats
    root_mean_square_error: Floats
    mean_error: Floats
    mean_truth: Floats
    relative_error: Floats


def error_by_block(truth: CountTable, released: CountTable, levels: Iterable[int] | None = None) -> BlockErrors:
    """Mean absolute, root mean square and mean error (released minus true) per block level, 0 = single cells.

    Without ``levels``: all of them, up to the block that is the whole domain.

    >>> from sudare.domain import CountTable
    >>> truth, released = CountTable.from_array([4, 0, 0, 0]), CountTable.from_array([3, 0, 2, 0])
    >>> error_by_block(truth, released).mean_absolute_error.tolist()
    [0.75, 1.5, 1.0]
    """
    both = pair(truth, released)
    bits = truth.domain.bits
    chosen = list(range(bits + 1)) if levels is None else [int(level) for level in levels]
    if unknown := [level for level in chosen if not 0 <= level <= bits]:
        raise ParameterError("there is no such block level", value=unknown[0], allowed="0 to {bits}", bits=bits)
    total = float(both.truth.sum())

    found: dict[int, tuple[int, float, float, float]] = {}
    block, error, reached = both.index, both.error, 0
    for level in sorted(set(chosen)):
        block, error = _merge(block >> (level - reached), error)
        reached = level
        # Squares of sums of counts pass 2**63 long before the sums do.
        size = error.astype(np.float64)
        number = logical_blocks(truth.domain, level)
        found[level] = (number, float(np.abs(size).sum()), float(size @ size), float(size.sum()))
    blocks = np.array([found[level][0] for level in chosen], dtype=np.int64)
    absolute, square, signed = (np.array([found[level][part] for level in chosen]) for part in (1, 2, 3))
    return BlockErrors(
        level=np.array(chosen, dtype=np.int64),
        cells=np.array([1 << level for level in chosen], dtype=np.int64),
        blocks=blocks,
        mean_absolute_error=absolute / blocks,
        root_mean_square_error=np.sqrt(square / blocks),
        mean_error=signed / blocks,
        mean_truth=total / blocks,
        relative_error=absolute / (total or np.nan),
    )


def _merge(block: Integers, error: Numbers) -> tuple[Integers, Numbers]:
    """Sum the errors of equal neighbours; ``block`` is ascending."""
    first = np.flatnonzero(np.diff(block, prepend=-1))
    return block[first], np.add.reduceat(error, first) if len(first) else error
