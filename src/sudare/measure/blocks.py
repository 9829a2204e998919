"""Error by the size of an area: blocks of 2**level neighbouring cells in index order.

How many blocks of a domain hold at least one logical cell: the number that errors are averaged over.

A block of 2**level cells in index order is a box: along each axis it is an aligned run of coordinates. So the
blocks that are neither padding nor masked are counted attribute by attribute and multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats, Integers, Numbers
from sudare.domain import CountTable, Domain
from sudare.domain.attribute import Attribute
from sudare.errors import ParameterError
from sudare.measure.comparison import ColumnArrays, pair


def logical_blocks(domain: Domain, level: int) -> int:
    """Blocks of 2**level cells in index order with at least one logical cell, an exact integer."""
    # The last cell of the first block sits at the far corner of its box: 2**shift - 1 along each axis.
    corner = domain.coordinates(np.array([(1 << level) - 1], dtype=np.int64))
    shifts = [int(coordinate[0]).bit_length() for coordinate in corner]
    number = 1
    for attribute in domain.attributes.values():
        own, shifts = shifts[: len(attribute.lengths)], shifts[len(attribute.lengths) :]
        number *= logical_boxes(attribute, own)
    return number


def logical_boxes(attribute: Attribute, shifts: list[int]) -> int:
    """Aligned boxes of 2**shift coordinates per axis in which the attribute has a cell.

    Boxes are halved from the whole down; one that is empty or entirely allowed is settled without looking
    inside, so the work follows the outline of the mask and not its area.
    """
    if not any(shifts):
        return attribute.size
    sizes = [max(shift, (length - 1).bit_length()) for shift, length in zip(shifts, attribute.lengths, strict=True)]
    prefixes = [np.zeros(1, dtype=np.int64) for _ in sizes]
    number = 0
    while len(prefixes[0]):
        cells = attribute.block_counts(tuple(sizes), *prefixes)
        whole = cells == 1 << sum(sizes)
        smaller = [size - shift for size, shift in zip(sizes, shifts, strict=True)]
        if not any(smaller):
            return number + int(np.count_nonzero(cells))
        number += int(np.count_nonzero(whole)) * math.prod(1 << steps for steps in smaller)
        open_boxes = (cells > 0) & ~whole
        prefixes = [prefix[open_boxes] for prefix in prefixes]
        axis = int(np.argmax(smaller))
        sizes[axis] -= 1
        prefixes = [
            np.concatenate([prefix << 1, (prefix << 1) + 1]) if position == axis else np.tile(prefix, 2)
            for position, prefix in enumerate(prefixes)
        ]
    return number


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


def margin_of(level: int, index: Integers, count: Integers) -> Integers:
    """Exact sums (2**level,) of cells by where they lie in their place. They go nowhere but into `measure`."""
    sums = np.zeros(1 << level, dtype=np.int64)
    np.add.at(sums, index & ((1 << level) - 1), count)
    return sums
