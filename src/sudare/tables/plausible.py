"""Tables that the truth could have been, drawn from a released table and public facts alone.

A released table is not a likely truth itself: where it was thin, a method spread people evenly, or let noise
invent and remove them. Error bars need tables that are as uneven as the truth. They are found in two steps.

1. `first_guess`: where people are spread evenly or smoothly, their positions were not measured. They are concentrated
   again, by splits like those of the measured blocks, made more uneven, since thin areas are more uneven. Within a
   place they are divided at random in the proportions of the whole table.
2. `redraw`: the guesses are released once more. How a block's true halves differ from its released ones, given how
   many people it truly has, how many were released and how they were split, is then known from many examples;
   new truths are drawn from the root down by picking an example like each block. Repeated, this is a stochastic
   EM algorithm for the law of the truth: what it draws would be released as what was released.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain import Domain
from sudare.parallel import each
from sudare.tables.mix import mix_level
from sudare.tables.pyramid import Pyramid, at_blocks, found_at

Split = Callable[[np.random.Generator, Integers, Integers], Floats]
"""What share of its people goes to the first half: for nodes of one level, and their people."""

UNEVEN = 3.0
"""Odds of a borrowed split are raised to this power: thin areas are more uneven than the measured ones."""
FEW_SPLITS = 30
"""With fewer measured blocks at a level, those of the levels above are borrowed from too."""
FEW_EXAMPLES = 10
MOST_EXAMPLES = 1 << 17
_NO_KEY = 2**62
_SHARES = np.array([1e-9, 0.1, 0.25, 0.4])


def first_guess(
    released: Pyramid,
    domain: Domain,
    generators: Sequence[np.random.Generator],
    least: Sequence[tuple[int, float]] = (),
) -> list[Pyramid]:
    """A table for each generator with the sums of ``released`` where it was measured, and uneven ones below that.

    ``least`` lists levels of blocks, from the top, and how many people they needed to be split: where people are spread
    smoothly this tells what was not measured. Without it that is what is even.
    """
    kinds = _Kinds.of(released, mix_level(domain))
    even = _even_blocks(released, domain, kinds)
    if least:
        even[kinds.level + 1 :] = _thin_blocks(released, domain, kinds.level, least)
    borrowed = _measured_shares(released, even, generators[0])

    def at_level(level: int) -> Split:
        block, left, whole = released.halves(level)
        own, measured = left[0] / whole[0], ~even[level]

        def split(generator: np.random.Generator, node: Integers, people: Integers) -> Floats:
            if level <= kinds.level:
                share = kinds.first_halves(node, level)
            else:
                share = generator.choice(borrowed[level], len(node))
                share = share**UNEVEN / (share**UNEVEN + (1 - share) ** UNEVEN)
            drawn = generator.binomial(people, share) / people
            place, listed = found_at(node, block)
            return np.where(listed & measured[place], own[place], drawn) if len(block) else drawn

        return split

    return _descend(domain, [int(released.columns[0].sum())] * len(generators), at_level, generators)


def redraw(
    released: Pyramid, pairs: Sequence[Pyramid], domain: Domain, generators: Sequence[np.random.Generator]
) -> list[Pyramid]:
    """As many tables as ``pairs`` (two columns: a guess, and what it was released as), given ``released``."""
    errors = np.array([pair.columns[0].sum() - pair.columns[1].sum() for pair in pairs])
    total = int(released.columns[0].sum())

    def at_level(level: int) -> Split:
        examples = _Examples.of(pairs, level, mix_level(domain), generators)
        block, left, whole = released.halves(level)

        def split(generator: np.random.Generator, node: Integers, people: Integers) -> Floats:
            place, listed = found_at(node, block)
            own = [
                np.where(listed, column[0][place], 0) if len(block) else np.zeros_like(people)
                for column in (left, whole)
            ]
            return examples.like(generator, node, people, *own)

        return split

    totals = [max(0, total + int(generator.choice(errors))) for generator in generators]
    return _descend(domain, totals, at_level, generators)


def _descend(
    domain: Domain,
    totals: Sequence[int],
    at_level: Callable[[int], Split],
    generators: Sequence[np.random.Generator],
) -> list[Pyramid]:
    """Tables from the root down; all of them level by level, so that what a level needs is made once."""
    tables = [(np.zeros(int(total > 0), dtype=np.int64), np.full(int(total > 0), total)) for total in totals]
    padded = domain.size < 1 << domain.bits
    for level in range(domain.bits, 0, -1):
        logical = _logical(domain, [node for node, _ in tables], level) if padded else [None] * len(tables)
        halve = partial(_halved, at_level(level))
        tables = each(lambda known: halve(*known), zip(generators, tables, logical, strict=True))  # noqa: B023 - used at once
    return [Pyramid(node, people[None, :]) for node, people in tables]


def _halved(
    split: Split, generator: np.random.Generator, table: tuple[Integers, Integers], logical: Booleans | None
) -> tuple[Integers, Integers]:
    """The halves with people of the nodes of a table, and their people; a half that is not ``logical`` gets nobody."""
    node, people = table
    share = split(generator, node, people)
    if logical is not None:
        share = np.where(logical[:, 0], np.where(logical[:, 1], share, 1.0), 0.0)
    both = np.empty((len(node), 2), dtype=np.int64)
    np.floor(people * share + generator.random(len(share)), out=both[:, 0], casting="unsafe")
    np.minimum(both[:, 0], people, out=both[:, 0])
    np.subtract(people, both[:, 0], out=both[:, 1])
    kept = np.flatnonzero(both)
    people = both.reshape(-1).take(kept)
    halves = node.take(kept >> 1)
    halves <<= 1
    kept &= 1
    halves |= kept
    return halves, people


def _logical(domain: Domain, nodes: Sequence[Integers], level: int) -> list[Booleans]:
    """(nodes, 2) for each table: which halves of its nodes have logical cells; asked of the domain once for all."""
    node = np.concatenate(nodes)
    halves = np.column_stack([node << 1, (node << 1) + 1]).reshape(-1)
    found = (domain.block_sizes(halves, level - 1) > 0).reshape(-1, 2)
    return np.split(found, np.cumsum([len(each) for each in nodes])[:-1])


@dataclass(frozen=True)
class _Kinds:
    """``people`` (2**level,) of each category and bin, over all places."""

    level: int
    people: Integers

    @classmethod
    def of(cls, released: Pyramid, level: int) -> Self:
        kind = released.index & ((1 << level) - 1)
        return cls(level, np.bincount(kind, released.columns[0], minlength=1 << level).astype(np.int64))

    def first_halves(self, node: Integers, level: int) -> Floats:
        """Of the people of all blocks that lie in their place as ``node`` does: the share in the first half."""
        halves = self.people.reshape(-1, 2, 1 << (level - 1)).sum(axis=2)
        whole = halves.sum(axis=1)
        share = np.where(whole > 0, halves[:, 0] / np.maximum(whole, 1), 0.5)
        return np.asarray(share[node & (len(share) - 1)])


def _even_blocks(released: Pyramid, domain: Domain, kinds: _Kinds) -> list[Booleans]:
    """Per level and listed block: whether its people stand as evenly as its logical cells, down to the cells.

    One person off is allowed in each half, which is as even as randomly placed whole people are. Within a place even
    is what is as likely as the shares of all places make it, within two standard deviations more.
    """
    even = [np.ones(len(released.index), dtype=np.bool_)]
    half = released.index
    for level in range(1, domain.bits + 1):
        block, left, whole = released.halves(level)
        share: Floats | float = 0.5
        allowed: Floats | float = 1.0
        if level <= kinds.level:
            share = kinds.first_halves(block, level)
            allowed = 1 + 2 * np.sqrt(whole[0] * share * (1 - share))
        elif domain.size < 1 << domain.bits:
            share = domain.block_sizes(block << 1, level - 1) / domain.block_sizes(block, level)
        flags = np.abs(left[0] - share * whole[0]) <= allowed
        flags[np.searchsorted(block, half[~even[-1]] >> 1)] = False
        even.append(flags)
        half = block
    return even


def _thin_blocks(released: Pyramid, domain: Domain, places: int, least: Sequence[tuple[int, float]]) -> list[Booleans]:
    """Per level above ``places`` and listed block: whether the block that it is part of was too thin to be split."""
    flags = []
    for level in range(places + 1, domain.bits + 1):
        block, _ = released.level(level)
        thin = np.zeros(len(block), dtype=np.bool_)
        for above, needed in least:
            if above >= level:
                whole, sums = released.level(above)
                thin |= at_blocks(block >> (above - level), whole, sums[0] < needed, absent=False)
        flags.append(thin)
    return flags


def _measured_shares(released: Pyramid, even: list[Booleans], generator: np.random.Generator) -> list[Floats]:
    """Per level: shares of first halves (and, mirrored, of second ones) in blocks that are not even."""
    shares = [np.empty(0)] * (len(even) + 1)
    for level in range(len(even) - 1, 0, -1):
        _, left, whole = released.halves(level)
        found = (left[0] / whole[0])[~even[level]]
        found = np.concatenate([found, 1 - found])
        if len(found) < 2 * FEW_SPLITS:
            found = np.concatenate([found, shares[level + 1]])
        if len(found) < 2 * FEW_SPLITS:
            found = np.concatenate([found, generator.beta(0.5, 0.5, 2 * FEW_SPLITS)])
        shares[level] = found
    return shares


@dataclass(frozen=True)
class _Examples:
    """Blocks of guesses of one level with their releases, by true sum, released sum and released share.

    ``off`` (m,) is by how much the true share of an example's first half differs from the released one. For each way
    to compare, examples are put in ``order`` by their key; those of the k-th of the ``known`` keys begin at ``first``
    k. The last key is no example's. Within a place, that is below ``places``, they are also distinguished by their
    position in the place, that is by category. Elsewhere a block and its mirror image count as alike.
    """

    level: int
    places: int
    off: Floats
    orders: tuple[tuple[Integers, Integers, Integers], ...]

    @classmethod
    def of(cls, pairs: Sequence[Pyramid], level: int, places: int, generators: Sequence[np.random.Generator]) -> Self:
        """A sample of all blocks of 2**level cells."""
        most = MOST_EXAMPLES // len(pairs)

        def collected(number: int) -> tuple[Integers, Floats]:
            node, left, whole = pairs[number].halves(level)
            some = np.flatnonzero(whole[0] > 0)
            if len(some) > most:
                some = some[((np.arange(most) + generators[number].random()) * (len(some) / most)).astype(np.int64)]
            key, share, mirrored = _features(level, places, node[some], whole[0, some], left[1, some], whole[1, some])
            true = left[0, some] / whole[0, some]
            return key, np.where(mirrored, 1 - true, true) - share

        keys, offs = zip(*each(collected, range(len(pairs))), strict=True)
        key, orders = np.concatenate(keys), []
        for coarser in _COARSER:
            own = coarser(key)
            order = np.argsort(own, kind="stable")
            own = own[order]
            first = np.flatnonzero(np.diff(own, prepend=-1))
            orders.append((order, np.append(own[first], _NO_KEY), np.append(first, [len(own), len(own)])))
        return cls(level, places, np.concatenate(offs), tuple(orders))

    def like(
        self, generator: np.random.Generator, node: Integers, people: Integers, left: Integers, whole: Integers
    ) -> Floats:
        """True shares of first halves: the released share plus what a similar example was off."""
        key, share, mirrored = _features(self.level, self.places, node, people, left, whole)
        off = np.zeros(len(people))
        waiting = np.arange(len(people))
        for coarser, (order, known, first) in zip(_COARSER, self.orders, strict=True):
            wanted = coarser(key[waiting])
            place = np.searchsorted(known, wanted)
            place[known[place] != wanted] = len(known) - 1
            start = first[place]
            number = first[place + 1] - start
            enough = number >= FEW_EXAMPLES
            start += (generator.random(len(waiting)) * number).astype(np.int64)
            off[waiting[enough]] = self.off[order[start[enough]]]
            waiting = waiting[~enough]
        share = np.clip(share + off, 0, 1)
        return np.where(mirrored, 1 - share, share)


def _features(
    level: int, places: int, node: Integers, people: Integers, left: Integers, whole: Integers
) -> tuple[Integers, Floats, Booleans]:
    """A key of octaves and of the share's class; a share; whether it is that of the second half, the smaller."""
    share = np.where(whole > 0, left / np.maximum(whole, 1), 0.5)
    second = share > 0.5
    smaller = np.where(second, 1 - share, share)
    octaves = [np.frexp(number.astype(np.float64))[1].astype(np.int64) for number in (people, whole)]
    key = (octaves[0] << 16) + (octaves[1] << 8) + np.searchsorted(_SHARES, smaller, side="right")
    if level > places:
        return key, smaller, second
    kind = node & ((1 << (places - level)) - 1)
    return key + (second << 4) + (kind << 32), share, np.zeros_like(second)


_COARSER: tuple[Callable[[Integers], Integers], ...] = (
    lambda key: key,
    lambda key: key & ~np.int64(0xFF00),
    lambda key: key >> 16,
)
