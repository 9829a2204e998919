"""Spreading the people of a block evenly over its cells: what is left to do where nothing finer was measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Domain
from sudare.estimate import round_rows

Integers = NDArray[np.int64]

_STEP_BITS = 4


def spread(
    domain: Domain, block: Integers, level: int, people: Integers, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """Cells and counts: ``people`` > 0 of each block of 2**level cells, as even as whole people allow.

    Each of x people of a block gets a stretch of 1/x of it and a random cell in there. Where padding or a mask
    takes part of a block, its people go down the tree in proportion to the logical cells instead.
    """
    if level == 0 or not len(block):
        return block, people
    whole = np.ones(len(block), dtype=np.bool_)
    if domain.size < 1 << domain.bits:
        whole = domain.block_sizes(block, level) == 1 << level
    index, count = _stretches(block[whole], level, people[whole], generator)
    if whole.all():
        return index, count
    rest = _descend(domain, block[~whole], level, people[~whole], generator)
    return np.concatenate([index, rest[0]]), np.concatenate([count, rest[1]])


def _stretches(
    block: Integers, level: int, people: Integers, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """Blocks without padding, ascending: person q of x is in cell floor((q + u) cells / x), u random for each.

    With one u for all, people at equal distances could all fall on the same category of different places.
    """
    cells = 1 << level
    everywhere, people = np.divmod(people, cells)
    total = int(people.sum())
    place = generator.random(total)
    place += np.arange(total)
    place -= np.repeat(np.cumsum(people) - people, people)
    place *= np.repeat(cells / np.maximum(people, 1), people)
    index = place.astype(np.int64)
    np.minimum(index, cells - 1, out=index)
    index += np.repeat(block << level, people)
    count = np.ones(total, dtype=np.int64)
    full = np.flatnonzero(everywhere)
    if len(full):
        index = np.concatenate([((block[full] << level)[:, None] + np.arange(cells)).ravel(), index])
        count = np.concatenate([np.repeat(everywhere[full], cells), count])
        order = np.argsort(index, kind="stable")
        index, count = index[order], count[order]
    apart = index[1:] != index[:-1]
    if apart.all():
        return index, count
    first = np.append(0, np.flatnonzero(apart) + 1)
    return index[first], np.add.reduceat(count, first)


def _descend(
    domain: Domain, block: Integers, level: int, people: Integers, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """Blocks with padding or masked cells: a few bits at a time, in proportion to logical cells."""
    while level:
        bits = min(_STEP_BITS, level)
        level -= bits
        children = (block[:, None] << bits) + np.arange(1 << bits)
        sizes = domain.block_sizes(children.ravel(), level).reshape(children.shape).astype(np.float64)
        split = round_rows(sizes * (people / sizes.sum(axis=1))[:, None], people, generator)
        kept = split > 0
        block, people = children[kept], split[kept]
    return block, people
