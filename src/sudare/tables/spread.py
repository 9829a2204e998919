"""Spreading the people of a block evenly over its cells: what is left to do where nothing finer was measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Domain
from sudare.estimate import round_rows

Integers = NDArray[np.int64]

_STEP_BITS = 4


def spread(
    domain: Domain, block: Integers, level: int, people: Integers, generator: np.random.Generator, group: int = 1
) -> tuple[Integers, Integers]:
    """Cells and counts: ``people`` > 0 of each block (ascending) of 2**level cells, as even as whole people allow.

    People stand in groups of about ``group``, where a block has more cells than groups. Each of k groups gets a
    stretch of 1/k of the block and a random cell in there. Where padding or a mask takes part of a block, the
    groups go down the tree in proportion to the logical cells instead.
    """
    if level == 0 or not len(block):
        return block, people
    cells = np.full(len(block), 1 << level, dtype=np.int64)
    if domain.size < 1 << domain.bits:
        cells = domain.block_sizes(block, level)
    groups = np.minimum(-(-people // group), cells)
    whole = cells == 1 << level
    if whole.all():
        return _stretches(block, level, people, groups, generator)
    parts = [
        _stretches(block[whole], level, people[whole], groups[whole], generator),
        _descend(domain, block[~whole], level, people[~whole], groups[~whole], generator),
    ]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _stretches(
    block: Integers, level: int, people: Integers, groups: Integers, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """Blocks without padding: group q of k is in cell floor((q + u) cells / k), u random for each.

    With one u for all, groups at equal distances could all fall on the same category of different places.
    """
    cells = 1 << level
    total = int(groups.sum())
    number = np.arange(total, dtype=np.float64)
    number -= np.repeat(np.cumsum(groups) - groups, groups)
    place = generator.random(total)
    place += number
    place *= np.repeat(cells / groups, groups)
    index = place.astype(np.int64)
    np.minimum(index, cells - 1, out=index)
    index += np.repeat(block << level, groups)
    if (people == groups).all():
        count = np.ones(total, dtype=np.int64)
    else:
        count = _sizes(number, np.ones(total), np.repeat(people / groups, groups), generator, groups)
    apart = index[1:] != index[:-1]
    if apart.all():
        return index, count
    first = np.append(0, np.flatnonzero(apart) + 1)
    return index[first], np.add.reduceat(count, first)


def _sizes(
    start: NDArray[np.float64],
    width: NDArray[np.float64],
    each: NDArray[np.float64],
    generator: np.random.Generator,
    per_block: Integers,
) -> Integers:
    """People in runs of groups [start, start + width) of their block, ``each`` per group: whole, fair, adding up."""
    offset = np.repeat(generator.random(len(per_block)), per_block)
    upper = np.floor((start + width) * each + offset + 1e-9)
    return (upper - np.floor(start * each + offset + 1e-9)).astype(np.int64)


def _descend(
    domain: Domain, block: Integers, level: int, people: Integers, groups: Integers, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """Blocks with padding or masked cells: a few bits at a time, groups in proportion to logical cells."""
    owner, node, here = np.arange(len(block)), block, groups
    while level:
        bits = min(_STEP_BITS, level)
        level -= bits
        children = (node[:, None] << bits) + np.arange(1 << bits)
        sizes = domain.block_sizes(children.ravel(), level).reshape(children.shape).astype(np.float64)
        split = round_rows(sizes * (here / sizes.sum(axis=1))[:, None], here, generator)
        kept = split > 0
        owner = np.repeat(owner, kept.sum(axis=1))
        node, here = children[kept], split[kept]
    runs = np.bincount(owner, minlength=len(block))
    before = np.cumsum(here) - here
    start = before - np.repeat((np.cumsum(groups) - groups), runs)
    each = np.repeat(people / groups, runs)
    return node, _sizes(start.astype(np.float64), here.astype(np.float64), each, generator, runs)
