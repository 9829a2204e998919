"""Error by the size of an area: blocks of 2**level neighbouring cells in index order.

Errors are averaged over the blocks that hold at least one logical cell. A block is a box: along each axis it is an
aligned run of coordinates. So the blocks that are neither padding nor masked are counted attribute by attribute and
multiplied. `block_area` and its kin say how large blocks are on the ground.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats, Integers, Numbers
from sudare.domain import CountTable, Domain, Place
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


MOST = 0.9
"""The share of areas with people for which what is said of a size must hold."""


@dataclass(frozen=True)
class PeopledErrors(ColumnArrays):
    """One entry per level: blocks with people apart from empty ones.

    ``populated`` is how many blocks truly hold people and ``people_each`` how many on average; ``populated_error`` and
    ``empty_error`` are root mean squares over the blocks with and without people; ``relative_error`` is what the error
    of nine of ten blocks with people keeps to, as a share of the people in them. NaN where there is no such block.
    """

    level: Integers
    populated: Integers
    people_each: Floats
    populated_error: Floats
    empty_error: Floats
    relative_error: Floats


def error_with_people(truth: CountTable, released: CountTable, levels: Iterable[int]) -> PeopledErrors:
    """Errors of blocks with people, and of those without: nobody's empty cells are averaged into a town's error.

    >>> truth, released = CountTable.from_array([4, 0, 0, 0]), CountTable.from_array([3, 0, 2, 0])
    >>> found = error_with_people(truth, released, [0, 2])
    >>> found.populated_error.tolist(), found.relative_error.tolist()
    ([1.0, 1.0], [0.25, 0.25])
    """
    both, chosen = pair(truth, released), sorted(set(levels))
    rows = []
    index, true, error, reached = both.index, both.truth, both.error, 0
    for level in chosen:
        block = index >> (level - reached)
        (index, error), (_, true), reached = _merge(block, error), _merge(block, true), level
        size, held = np.abs(error.astype(np.float64)), true > 0
        populated = int(held.sum())
        empty = logical_blocks(truth.domain, level) - populated
        relative = size[held] / true[held]
        rows.append(
            (
                level,
                populated,
                float(true.sum()) / populated if populated else np.nan,
                float(np.sqrt(np.mean(size[held] ** 2))) if populated else np.nan,
                float(np.sqrt(np.sum(size[~held] ** 2) / empty)) if empty else np.nan,
                float(np.quantile(relative, MOST, method="higher")) if populated else np.nan,
            )
        )
    return PeopledErrors(*(np.array(column) for column in zip(*rows, strict=True)))


def _merge(block: Integers, error: Numbers) -> tuple[Integers, Numbers]:
    """Sum the errors of equal neighbours; ``block`` is ascending."""
    first = np.flatnonzero(np.diff(block, prepend=-1))
    return block[first], np.add.reduceat(error, first) if len(first) else error


def margin_of(level: int, index: Integers, count: Integers) -> Integers:
    """Exact, hence private, sums (2**level,) of cells by their position in their block: only for `measure`."""
    sums = np.zeros(1 << level, dtype=np.int64)
    np.add.at(sums, index & ((1 << level) - 1), count)
    return sums


GOOD = 0.1
"""The relative error up to which a number is called publishable."""


def square_km(domain: Domain, level: int) -> float | None:
    """The area on the ground of a block of 2**level cells: the mean over all blocks that have a cell.

    None where a block is no area: without exactly one place on the earth, and where a block holds only a part
    of the people of a place. As exact as `Place.square_km`.

    >>> from sudare.domain import Categories, Mesh
    >>> domain = Domain(mesh=Mesh("1km", codes=["5339"]), sex=Categories(["f", "m"]))
    >>> square_km(domain, 0), round(square_km(domain, 1), 3), round(square_km(domain, domain.bits))
    (None, 1.046, 6697)
    """
    places = [attribute for attribute in domain.attributes.values() if attribute.spatial]
    if len(places) != 1 or not isinstance(places[0], Place):
        return None
    for shift, length, axis in zip(domain.plan.shifts(level), domain.shape, domain.axes, strict=True):
        if not domain.attributes[axis.name].spatial and shift < (length - 1).bit_length():
            return None
    return places[0].square_km / logical_blocks(domain, level)


def smallest_publishable(
    cells: Sequence[float], relative: Sequence[float], good: float = GOOD
) -> tuple[int, float] | None:
    """The size of area from which on the relative error stays at most ``good``; None where no size has it.

    ``cells`` of an area, ascending, and the ``relative`` error there. Returns the first of these sizes, by position,
    and the cells at which the error passes ``good``: between two sizes on a straight line in logarithms, to three
    digits.

    >>> smallest_publishable([1, 100], [1.0, 0.01])
    (1, 10.0)
    """
    first = len(relative)
    while first and relative[first - 1] <= good:
        first -= 1
    if first == len(relative):
        return None
    if first == 0 or relative[first] <= 0:
        return first, float(cells[first])
    before, after = math.log(relative[first - 1]), math.log(relative[first])
    share = (before - math.log(good)) / (before - after)
    between = math.exp((1 - share) * math.log(cells[first - 1]) + share * math.log(cells[first]))
    return first, float(f"{between:.3g}")
