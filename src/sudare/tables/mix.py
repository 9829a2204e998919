"""How the people of thin places divide among categories, from totals over all places and from places measured.

A block too thin to be split has people, but nothing is known of their sexes and ages. Spread evenly, thin places would
have as many children as adults, and over a map that adds up. So they get what the measured places lack of the totals.
What these have is known: not what was measured there but what is released, for a simplex projection lifts small cells
at the cost of large ones. Everything here is a function of noisy measurements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain import Domain
from sudare.measure.simplex import project_rows
from sudare.tables.tree_level import Level

MOST_BITS = 16
"""A place with more cells than this has no mix: nobody measures so many well enough."""
_LEAST = 1e-9
"""What no category goes below: nothing can be divided in the proportions 0 to 0."""
_BUCKETS = 16
"""For each cell of a place, in the table that finds cells quickly."""
_NOWHERE = -(2.0**60)
"""The value of padding: no projection gives it anybody."""


def mix_level(domain: Domain) -> int:
    """The level of the blocks that a mix divides; 0 where places have no categories."""
    return domain.place_level if domain.place_level <= MOST_BITS else 0


def kinds(domain: Domain) -> NDArray[np.bool_]:
    """Which of the 2**level cells of a place are no padding: the same in every place."""
    level = mix_level(domain)
    first = domain.cells(np.zeros(1, dtype=np.int64)) >> level << level
    return domain.contains(first + np.arange(1 << level))


@dataclass(frozen=True)
class Margin:
    """Noisy totals (2**level,) of every cell of a place over all places, 0 for padding, with one variance."""

    totals: Floats
    variance: float

    def drawn_to(self, expected: Floats, logical: NDArray[np.bool_]) -> Floats:
        """Drawn towards the ``expected`` totals by as much of the differences as noise would make."""
        apart = np.where(logical, self.totals - expected, 0.0)
        trust = _trust((apart**2).sum(), self.variance * np.count_nonzero(logical))
        return np.asarray(expected + trust * apart)


@dataclass(frozen=True)
class MixMeasurements:
    """What was measured of all places together, for the levels within a place from the top.

    Each of ``sums`` is (3, 2**bits), by where in its place a block lies, which has that many bits at its level: the
    sum of the estimates, what a projection of each node makes of them, and the variance. Those of parts add up.
    """

    sums: tuple[Floats, ...]

    @classmethod
    def of(cls, domain: Domain, levels: Sequence[Level]) -> Self:
        """From levels after the way up."""
        within = [level for level in levels if level.below < mix_level(domain)]
        return cls(tuple(_sums(level, mix_level(domain) - level.below) for level in within))

    def flat(self) -> Floats:
        """All numbers in a row."""
        return np.concatenate([np.empty(0), *(own.reshape(-1) for own in self.sums)])

    def joined(self, bits: Sequence[int], parts: Iterable[Floats]) -> Self:
        """With the levels below these, of so many ``bits``: the sums over ``parts``, which are flat."""
        total = np.zeros(sum(3 << own for own in bits))
        for part in parts:
            total += part
        lower = np.split(total, np.cumsum([3 << own for own in bits]))[:-1]
        return type(self)((*self.sums, *(own.reshape(3, -1) for own in lower)))


def _sums(level: Level, bits: int) -> Floats:
    kind = (level.children & ((1 << bits) - 1)).reshape(-1)
    total, _ = level.sums()
    columns = (level.value, project_rows(level.value, np.maximum(total, 0.0)), level.variance)
    own = [np.where(level.logical, column, 0.0).reshape(-1) for column in columns]
    return np.array([np.bincount(kind, column, minlength=1 << bits) for column in own])


@dataclass(frozen=True)
class Mix:
    """How people divide among the 2**level cells of a place.

    ``within`` (2**level,) holds for blocks that are part of a place, in proportion; ``rest`` for whole places.
    Both are 0 for padding and add up to 1.
    """

    level: int
    within: Floats
    rest: Floats

    @classmethod
    def learned(cls, domain: Domain, tally: MixMeasurements, total: float, margin: Margin | None = None) -> Self | None:
        """From a tally, how many people there are in all, and the totals of categories; None where nothing is known.

        ``within`` multiplies shares level by level, so that kinds of people who were measured less often, being few,
        do not become fewer by that. The people of blocks of whole places are those who are in no tally.
        """
        level = mix_level(domain)
        measured = max(0.0, float(tally.sums[0][0].sum())) if tally.sums else 0.0
        if not level or (not measured and margin is None):
            return None
        even = kinds(domain).astype(np.float64)
        even /= even.sum()
        within, surplus = _learned(tally, even) if measured else (even, np.zeros(len(even)))
        rest, thin = within, total - measured
        if thin >= 1:
            totals = total * within if margin is None else margin.drawn_to(total * within, even > 0)
            lacking = np.where(even > 0, totals - measured * within - surplus, _NOWHERE)
            rest = project_rows(lacking[None], np.array([thin]))[0] / thin
        return cls(level, (1 - _LEAST) * within + _LEAST * even, rest / rest.sum())

    def rows(self, block: Integers, level: int) -> Floats:
        """The proportions (blocks, 2**level) within blocks of no more than a place."""
        weight = self.rest if level == self.level else self.within
        return np.asarray(weight.reshape(-1, 1 << level)[block & ((1 << (self.level - level)) - 1)])

    def cells(self, point: Floats, level: int, block: Integers | None = None) -> Integers:
        """Which cell of its block each ``point`` from 0 to 1 falls on, where cells are as wide as their proportions.

        Blocks of 2**level cells are parts of a place, or without ``block`` places.

        >>> Mix(2, np.zeros(4), np.array([0.1, 0.6, 0.3, 0.0])).cells(np.array([0.05, 0.1, 0.699, 0.999]), 2).tolist()
        [0, 1, 1, 2]
        """
        weight = self.rest if block is None else self.within
        ends = np.cumsum(weight)
        if block is None:
            aim = np.minimum(point * ends[-1], np.nextafter(ends[-1], 0.0))
            return _found(ends, aim)
        first = (block & ((1 << (self.level - level)) - 1)) << level
        before, last = ends[first] - weight[first], ends[first + (1 << level) - 1]
        aim = np.minimum(before + point * (last - before), np.nextafter(last, 0.0))
        return np.asarray(np.searchsorted(ends, aim, side="right") - first)


def _found(ends: Floats, aim: Floats) -> Integers:
    """The stretch up to one of ``ends`` that each ``aim`` lies in: by a table, where one bucket lies in one stretch."""
    buckets = _BUCKETS * len(ends)
    if len(aim) < buckets:
        return np.searchsorted(ends, aim, side="right")
    guide = np.searchsorted(ends, np.linspace(0.0, ends[-1], buckets + 1), side="right")
    bucket = (aim * (buckets / ends[-1])).astype(np.int64)
    np.minimum(bucket, buckets - 1, out=bucket)
    found = guide[bucket]
    unclear = np.flatnonzero((guide[:-1] != guide[1:])[bucket])
    found[unclear] = np.searchsorted(ends, aim[unclear], side="right")
    return np.asarray(found)


def _learned(tally: MixMeasurements, even: Floats) -> tuple[Floats, Floats]:
    """The shares of kinds of people in the places that were measured, and how many each is given too many."""
    within, surplus = np.ones(1), np.zeros(1)
    for measured, given, variance in tally.sums:
        logical = even.reshape(len(measured), -1).sum(axis=1)
        shares = _shares(*(column.reshape(len(within), -1) for column in (measured, variance, logical)))
        surplus = (surplus[:, None] * shares).reshape(-1) + given - measured
        within = (within[:, None] * shares).reshape(-1)
    return within, surplus


def _shares(measured: Floats, variance: Floats, even: Floats) -> Floats:
    """Rows as shares: measured sums, drawn towards even ones by as much of their differences as noise would make."""
    total = np.maximum(measured.sum(axis=1), 0.0)
    even = even / np.maximum(even.sum(axis=1), _LEAST)[:, None]
    apart = np.where(even > 0, measured - total[:, None] * even, 0.0)
    trust = _trust((apart**2).sum(axis=1), variance.sum(axis=1))
    drawn = np.where(even > 0, total[:, None] * even + trust[:, None] * apart, _NOWHERE)
    projected = project_rows(drawn, total)
    known = total > 0
    return np.where(known[:, None], projected / np.where(known, total, 1.0)[:, None], even)


def _trust(seen: Any, noise: Any) -> Any:
    """Of squared differences that were seen, the share that is not noise (James and Stein's)."""
    return np.maximum(0.0, 1 - noise / np.maximum(seen, noise + _LEAST))
