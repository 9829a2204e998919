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
from functools import lru_cache
from typing import Self

import numpy as np

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain import Domain
from sudare.tables.mix import mix_level
from sudare.tables.pyramid import Pyramid, at_blocks

Splits = Callable[[Integers, Integers, int], Floats]
"""What share of its people goes to the first half: for nodes, their people and their level."""

UNEVEN = 3.0
"""Odds of a borrowed split are raised to this power: thin areas are more uneven than the measured ones."""
FEW_SPLITS = 30
"""With fewer measured blocks at a level, those of the levels above are borrowed from too."""
FEW_EXAMPLES = 10
MOST_EXAMPLES = 1 << 17
_SHARES = np.array([1e-9, 0.1, 0.25, 0.4])


def first_guess(
    released: Pyramid,
    domain: Domain,
    generator: np.random.Generator,
    number: int,
    least: Sequence[tuple[int, float]] = (),
) -> list[Pyramid]:
    """``number`` tables with the sums of ``released`` where it was measured, and uneven ones below that.

    ``least`` lists levels of blocks, from the top, and how many people they needed to be split: where people are spread
    smoothly this tells what was not measured. Without it that is what is even.
    """
    kinds = _Kinds.of(released, mix_level(domain))
    even = _even_blocks(released, domain, kinds)
    if least:
        even[kinds.level + 1 :] = _thin_blocks(released, domain, kinds.level, least)
    borrowed = _measured_shares(released, even, generator)
    halves = lru_cache(maxsize=1)(released.halves)

    def split(node: Integers, people: Integers, level: int) -> Floats:
        block, left, whole = halves(level)
        own = at_blocks(node, block, left[0] / whole[0])
        if level <= kinds.level:
            share = kinds.first_halves(node, level)
        else:
            share = generator.choice(borrowed[level], len(node))
            share = share**UNEVEN / (share**UNEVEN + (1 - share) ** UNEVEN)
        drawn = generator.binomial(people, share) / people
        return np.where(at_blocks(node, block, even[level], absent=True), drawn, own)

    total = int(released.columns[0].sum())
    return _descend(domain, [total] * number, [split] * number, generator)


def redraw(
    released: Pyramid, pairs: Sequence[Pyramid], domain: Domain, generator: np.random.Generator
) -> list[Pyramid]:
    """As many tables as ``pairs`` (two columns: a guess, and what it was released as), given ``released``."""
    errors = np.array([pair.columns[0].sum() - pair.columns[1].sum() for pair in pairs])
    total = int(released.columns[0].sum())
    examples = _Examples(tuple(pairs), mix_level(domain), generator)
    halves = lru_cache(maxsize=1)(released.halves)

    def split(node: Integers, people: Integers, level: int) -> Floats:
        block, left, whole = halves(level)
        return examples.like(level, node, people, at_blocks(node, block, left[0]), at_blocks(node, block, whole[0]))

    totals = [max(0, total + int(error)) for error in generator.choice(errors, len(pairs))]
    return _descend(domain, totals, [split] * len(pairs), generator)


def _descend(
    domain: Domain, totals: Sequence[int], splits: Sequence[Splits], generator: np.random.Generator
) -> list[Pyramid]:
    """Tables from the root down; all of them level by level, so that what a level needs is made once."""
    nodes = [np.zeros(int(total > 0), dtype=np.int64) for total in totals]
    people = [np.array([total][: len(node)], dtype=np.int64) for total, node in zip(totals, nodes, strict=True)]
    padded = domain.size < 1 << domain.bits
    for level in range(domain.bits, 0, -1):
        logical = _logical(domain, nodes, level) if padded else []
        for number, split in enumerate(splits):
            share = split(nodes[number], people[number], level)
            if padded:  # a half without logical cells gets nobody
                share = np.where(logical[number][:, 0], np.where(logical[number][:, 1], share, 1.0), 0.0)
            left = np.floor(people[number] * share + generator.random(len(share))).astype(np.int64)
            np.minimum(left, people[number], out=left)
            both = np.column_stack([left, people[number] - left]).reshape(-1)
            halves = np.column_stack([nodes[number] << 1, (nodes[number] << 1) + 1]).reshape(-1)
            kept = both > 0
            nodes[number], people[number] = halves[kept], both[kept]
    return [Pyramid(node, count[None, :]) for node, count in zip(nodes, people, strict=True)]


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


@dataclass
class _Examples:
    """Blocks of guesses with their releases, by true sum, released sum and released share.

    Within a place, that is below ``places``, they are also distinguished by their position in the place, that is by
    category. Elsewhere a block and its mirror image count as alike.
    """

    pairs: tuple[Pyramid, ...]
    places: int
    generator: np.random.Generator
    level: int = -1

    def like(self, level: int, node: Integers, people: Integers, left: Integers, whole: Integers) -> Floats:
        """True shares of first halves: the released share plus what a similar example was off."""
        if level != self.level:
            self._collect(level)
        key, share, mirrored = self._features(level, node, people, left, whole)
        off = np.zeros(len(people))
        waiting = np.arange(len(people))
        for coarser, (order, known) in zip(_COARSER, self._orders, strict=True):
            wanted = coarser(key[waiting])
            first = np.searchsorted(known, wanted)
            number = np.searchsorted(known, wanted, side="right") - first
            enough = number >= FEW_EXAMPLES
            pick = first + (self.generator.random(len(waiting)) * number).astype(np.int64)
            off[waiting[enough]] = self._off[order[pick[enough]]]
            waiting = waiting[~enough]
        share = np.clip(share + off, 0, 1)
        return np.where(mirrored, 1 - share, share)

    def _collect(self, level: int) -> None:
        keys, offs = [], []
        for pair in self.pairs:
            node, left, whole = pair.halves(level)
            some = np.flatnonzero(whole[0] > 0)
            if len(some) > MOST_EXAMPLES // len(self.pairs):
                some = self.generator.choice(some, MOST_EXAMPLES // len(self.pairs), replace=False)
            key, share, mirrored = self._features(level, node[some], whole[0, some], left[1, some], whole[1, some])
            true = left[0, some] / whole[0, some]
            keys.append(key)
            offs.append(np.where(mirrored, 1 - true, true) - share)
        key, self._off = np.concatenate(keys), np.concatenate(offs)
        orders = [np.argsort(coarser(key), kind="stable") for coarser in _COARSER]
        self._orders = [(order, coarser(key)[order]) for order, coarser in zip(orders, _COARSER, strict=True)]
        self.level = level

    def _features(
        self, level: int, node: Integers, people: Integers, left: Integers, whole: Integers
    ) -> tuple[Integers, Floats, Booleans]:
        """A key of octaves and of the share's class; a share; whether it is that of the second half, the smaller."""
        share = np.where(whole > 0, left / np.maximum(whole, 1), 0.5)
        second = share > 0.5
        smaller = np.where(second, 1 - share, share)
        octaves = [np.frexp(number.astype(np.float64))[1].astype(np.int64) for number in (people, whole)]
        key = (octaves[0] << 16) + (octaves[1] << 8) + np.searchsorted(_SHARES, smaller, side="right")
        if level > self.places:
            return key, smaller, second
        kind = node & ((1 << (self.places - level)) - 1)
        return key + (second << 4) + (kind << 32), share, np.zeros_like(second)


_COARSER: tuple[Callable[[Integers], Integers], ...] = (
    lambda key: key,
    lambda key: key & ~np.int64(0xFF00),
    lambda key: key >> 16,
)
