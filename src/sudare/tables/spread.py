"""Spreading the people of a block over its cells, where nothing finer was measured."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from sudare.arrays import Floats, Integers, Numbers
from sudare.domain import Domain
from sudare.measure.simplex import round_rows
from sudare.tables.mix import Mix
from sudare.tables.smoothing import Density

_STEP_BITS = 4
_AT_ONCE = 1 << 15
_GROUPS_AT_ONCE = 1 << 17
"""Of blocks with padding: what is known of all their children takes much memory."""


def spread(
    domain: Domain,
    block: Integers,
    level: int,
    people: Integers,
    generator: np.random.Generator,
    group: int = 1,
    mix: Mix | None = None,
    density: Density | None = None,
) -> tuple[Integers, Integers]:
    """Cells and counts: ``people`` > 0 of each block of 2**level cells, spread evenly as far as whole people allow.

    With a ``mix`` they are spread evenly over places, and divided by it within a place. People stand in groups of about
    ``group``, where there are more cells than groups. Where padding or a mask takes part of a block, its groups go down
    the tree in proportion to the logical cells; a block that is whole has them at equal distances. Cells of a block
    come in ascending order. With a ``density`` places are given people in proportion to it instead.
    """
    if level == 0 or not len(block):
        return block, people
    if density is not None and density.covers(level):
        places = _descend(density.sums, block, level, density.level, people, people, generator)
        if mix is None:
            return spread(domain, places[0], density.level, places[1], generator, group)
        return _divided(places[0], density.level, places[1], generator, group, mix)
    if mix is None:
        return _evenly(domain, block, level, 0, people, generator, group)
    floor = min(level, mix.level)
    groups = -(-people // group)
    few = (_places(domain, block, level, floor) == 1 << (level - floor)) & (groups <= 1 << level)
    parts = [_stretches(block[few], level, floor, people[few], groups[few], generator, mix)]
    if not few.all():
        places = _evenly(domain, block[~few], level, floor, people[~few], generator, group)
        parts.append(_divided(places[0], floor, places[1], generator, group, mix))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _places(domain: Domain, block: Integers, level: int, floor: int) -> Integers:
    """How many blocks of 2**floor cells, that are not all padding, each of 2**level has."""
    if domain.size == 1 << domain.bits or level == floor:
        return np.full(len(block), 1 << (level - floor), dtype=np.int64)
    return domain.block_sizes(block, level) // domain.block_sizes(domain.cells([0]) >> floor, floor)


def _evenly(
    domain: Domain,
    block: Integers,
    level: int,
    floor: int,
    people: Integers,
    generator: np.random.Generator,
    group: int,
) -> tuple[Integers, Integers]:
    """Down to blocks of 2**floor cells, which are places or cells."""
    places = _places(domain, block, level, floor)
    groups = np.minimum(-(-people // group), places)
    whole = places == 1 << (level - floor)
    if whole.all():
        return _stretches(block, level - floor, 0, people, groups, generator, None)
    parts = [_stretches(block[whole], level - floor, 0, people[whole], groups[whole], generator, None)]
    broken = np.flatnonzero(~whole)
    for piece in np.split(broken, np.flatnonzero(np.diff(np.cumsum(groups[broken]) // _GROUPS_AT_ONCE)) + 1):
        parts.append(_descend(domain.block_sizes, block[piece], level, floor, people[piece], groups[piece], generator))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _stretches(
    block: Integers,
    level: int,
    floor: int,
    people: Integers,
    groups: Integers,
    generator: np.random.Generator,
    mix: Mix | None,
) -> tuple[Integers, Integers]:
    """Blocks without padding: each of k groups gets a stretch of 1/k of its block, and a random point u in there.

    Group q is (q + u) places / k places from the first; what is left of that within its place says which cell. With
    one u for all, groups at equal distances could all fall on the same category of different places.
    """
    places, ends = 1 << (level - floor), np.cumsum(groups)
    points = generator.random(int(groups.sum()))
    offset = None if (people == groups).all() else generator.random(len(groups))
    step = _AT_ONCE if mix is None else max(_AT_ONCE, mix.worth_a_table)
    cuts = np.append(np.flatnonzero(np.diff(ends // step, prepend=0)), len(groups))
    found = [(block[:0], people[:0])]
    for first, last in pairwise(np.unique(np.append(0, cuts)).tolist()):
        here, own = slice(first, last), groups[first:last]
        number, owner = _numbered(own)
        point = points[ends[first] - own[0] :][: len(number)]
        point += number
        point *= (places / own)[owner]
        index = point.astype(np.int64)
        np.minimum(index, places - 1, out=index)
        if mix is not None:
            point -= index
            index <<= floor
            index += mix.cells(point, floor, block[here][owner] if level < mix.level else None)
        index += (block[here] << level)[owner]
        count = np.ones(len(index), dtype=np.int64)
        if offset is not None:
            count = _sizes(number, count, (people[here] / own)[owner], offset[here][owner])
        apart = np.flatnonzero(np.diff(index, prepend=-1))
        if len(apart) < len(index):
            index, count = index[apart], np.add.reduceat(count, apart)
        found.append((index, count))
    return np.concatenate([part[0] for part in found]), np.concatenate([part[1] for part in found])


def _divided(
    block: Integers, level: int, people: Integers, generator: np.random.Generator, group: int, mix: Mix
) -> tuple[Integers, Integers]:
    """Blocks of no more than a place. Few groups fall on cells with chances in proportion, many are divided so."""
    groups = -(-people // group)
    many = groups > 1 << level
    few = _stretches(block[~many], level, level, people[~many], groups[~many], generator, mix)
    rows = mix.rows(block[many], level)
    split = round_rows(rows * (people[many] / rows.sum(axis=1))[:, None], people[many], generator)
    children = (block[many] << level)[:, None] + np.arange(1 << level)
    return np.concatenate([children[split > 0], few[0]]), np.concatenate([split[split > 0], few[1]])


def _numbered(groups: Integers) -> tuple[Floats, Integers]:
    """The groups of all blocks in a row: the number of each within its block, from 0 on, and its block."""
    owner = np.repeat(np.arange(len(groups)), groups)
    return np.arange(len(owner)) - (np.cumsum(groups) - groups).astype(np.float64)[owner], owner


def _sizes(start: Numbers, width: Numbers, each: Floats, offset: Floats) -> Integers:
    """People in runs of groups [start, start + width) of their block, ``each`` per group: whole, fair, adding up."""
    upper = np.floor((start + width) * each + offset + 1e-9)
    return (upper - np.floor(start * each + offset + 1e-9)).astype(np.int64)


def _descend(
    weights: Callable[[Integers, int], Numbers],
    block: Integers,
    level: int,
    floor: int,
    people: Integers,
    groups: Integers,
    generator: np.random.Generator,
) -> tuple[Integers, Integers]:
    """A few bits at a time, groups in proportion to the weights of blocks: their logical cells, or their people."""
    owner, node, here = np.arange(len(block)), block, groups
    while level > floor:
        bits = min(_STEP_BITS, level - floor)
        level -= bits
        children = (node[:, None] << bits) + np.arange(1 << bits)
        sizes = weights(children.ravel(), level).reshape(children.shape).astype(np.float64)
        split = round_rows(sizes * (here / sizes.sum(axis=1))[:, None], here, generator)
        kept = split > 0
        owner = np.repeat(owner, kept.sum(axis=1))
        node, here = children[kept], split[kept]
    runs = np.bincount(owner, minlength=len(block))
    before = np.cumsum(here) - here
    start = before - np.repeat((np.cumsum(groups) - groups), runs)
    each = np.repeat(people / groups, runs)
    return node, _sizes(start, here, each, np.repeat(generator.random(len(runs)), runs))
