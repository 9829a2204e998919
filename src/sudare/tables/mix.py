"""How the people of thin places divide among categories, from totals over all places and from measured places.

A block too thin to be split has people, but their sexes and ages were not measured. Spread evenly, thin places would
have as many children as adults, and over a map that adds up. So thin places get the difference between the totals of
the categories and what is released in the measured places. (What is released there, not what was measured: a simplex
projection raises small cells at the cost of large ones.) Everything here is a function of noisy measurements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain import Domain
from sudare.measure.simplex import project_rows
from sudare.tables.tree_level import Level

MOST_BITS = 16
"""No mix is learned for places of more than 2**16 cells: too many to be measured well enough."""
_LEAST = 1e-9
"""The smallest share of a category, so that shares never divide 0 by 0."""
_BUCKETS = 16
"""Buckets per cell of a place in the lookup table of `_found`."""
NOWHERE = -(2.0**60)
"""The value of padding: so low that a projection always gives it 0."""


def mix_level(domain: Domain) -> int:
    """The level of the blocks that a mix divides; 0 where places have no categories."""
    return domain.place_level if domain.place_level <= MOST_BITS else 0


def kinds(domain: Domain) -> NDArray[np.bool_]:
    """Which of the 2**level cells of a place are logical cells and not padding: the same in every place."""
    level = mix_level(domain)
    first = domain.cells(np.zeros(1, dtype=np.int64)) >> level << level
    return domain.contains(first + np.arange(1 << level))


@dataclass(frozen=True)
class Margin:
    """Noisy totals (2**level,) of every cell of a place over all places, 0 for padding, with one variance."""

    totals: Floats
    variance: float


@dataclass(frozen=True)
class MixMeasurements:
    """What was measured of all places together, for the levels within a place from the top.

    Each of ``sums`` is (3, 2**bits), by the position of a block in its place, which has that many bits at its level:
    the sum of the estimates, the sum after the projection of each node, and the variance. Sums over parts of a table
    add up.
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
        """With the levels below these, of the given ``bits``: the sums over ``parts``, each in the form of `flat`."""
        total = np.zeros(sum(3 << own for own in bits))
        for part in parts:
            total += part
        lower = np.split(total, np.cumsum([3 << own for own in bits]))[:-1]
        return type(self)((*self.sums, *(own.reshape(3, -1) for own in lower)))


def _sums(level: Level, bits: int) -> Floats:
    total, _ = level.sums()
    np.maximum(total, 0.0, out=total)
    sums = np.zeros((3, 1 << bits))
    for piece, value in level.rows():
        logical, kind = level.logical[piece], level.places(piece, bits).reshape(-1)
        projected = project_rows(value, total[piece])
        for own, column in zip(sums, (np.where(logical, value, 0.0), projected), strict=False):
            own += np.bincount(kind, column.reshape(-1), minlength=1 << bits)
        sums[2] += level.variance[0] * np.bincount(kind[logical.reshape(-1)], minlength=1 << bits)
    if level.goes.any():
        more = (level.variance[1] if level.joined is None else level.joined[1]) - level.variance[0]
        split = level.numbers(level.goes) & ((1 << bits) - 1)
        sums[2] += np.bincount(split, np.broadcast_to(more, split.shape), minlength=1 << bits)
    return sums


@dataclass(frozen=True)
class Mix:
    """How people divide among the 2**level cells of a place.

    ``within`` (2**level,) holds for parts of places that were not split, in proportion; ``rest`` for whole places.
    Both are 0 for padding and add up to 1. ``totals`` are all people of each kind, where they were measured.
    """

    level: int
    within: Floats
    rest: Floats
    totals: Floats | None = None

    @classmethod
    def learned(cls, domain: Domain, tally: MixMeasurements, total: float, margin: Margin | None = None) -> Self | None:
        """From a tally, how many people there are in all, and the totals of categories; None where nothing is known.

        Shares are multiplied level by level, so that rare categories, whose blocks were measured less often, do not
        become rarer. The people of blocks of whole places are those in no tally.
        """
        level = mix_level(domain)
        measured = max(0.0, float(tally.sums[0][0].sum())) if tally.sums else 0.0
        if not level or (not measured and margin is None):
            return None
        even = kinds(domain).astype(np.float64)
        even /= even.sum()
        within, surplus = _learned(tally, even) if measured else (even, np.zeros(len(even)))
        rest, thin, totals = within, max(total - measured, 0.0), None
        if margin is not None:
            unmeasured, totals = _by_margin(
                tally.sums[-1] if measured else np.zeros((3, len(even))), total, margin, within
            )
            within = unmeasured + _LEAST * even
            within /= within.sum()
            lacking = unmeasured - _ended(tally, within)
        else:
            lacking = thin * within - surplus
        if thin >= 1:
            rest = project_rows(np.where(even > 0, lacking, NOWHERE)[None], np.array([thin]))[0] / thin
        return cls(level, (1 - _LEAST) * within + _LEAST * even, rest / rest.sum(), totals)

    @property
    def worth_a_table(self) -> int:
        """How many points at once make `cells` quick."""
        return 4 * _BUCKETS * len(self.rest)

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


def _by_margin(measured: Floats, total: float, margin: Margin, within: Floats) -> tuple[Floats, Floats]:
    """How many people of each kind stand where kinds were not measured, and how many there are in all.

    ``measured`` (3, kinds) is the tally of cells. Two things are known of each kind: its total with the margin's noise,
    and a part of it with the noise of so many cells. What is missing of this part is at least 0 and adds up; it is
    drawn towards shares ``within`` by as much as noise would make. What then still differs is divided by the variances.
    """
    cells, _, variance = measured
    logical, missing = within > 0, max(total - float(cells.sum()), 0.0)
    usual = missing * within
    apart = np.where(logical, margin.totals - cells - usual, 0.0)
    trust = _trust((apart**2).sum(), np.count_nonzero(logical) * margin.variance + variance.sum())
    drawn = np.where(logical, usual + trust * apart, NOWHERE)
    unmeasured = project_rows(drawn[None], np.array([missing]))[0]
    rest = usual + apart - unmeasured
    totals = np.where(logical, cells + unmeasured + variance / (variance + margin.variance) * rest, NOWHERE)
    return unmeasured, project_rows(totals[None], np.array([max(total, 0.0)]))[0]


def _ended(tally: MixMeasurements, within: Floats) -> Floats:
    """The people of parts of places that were not split, divided into kinds."""
    found = np.zeros(len(within))
    for upper, lower in pairwise(tally.sums):
        people = upper[0] - lower[0].reshape(len(upper[0]), -1).sum(axis=1)
        shares = within.reshape(len(people), -1)
        found += (shares / np.maximum(shares.sum(axis=1, keepdims=True), _LEAST) * people[:, None]).reshape(-1)
    return found


def _learned(tally: MixMeasurements, even: Floats) -> tuple[Floats, Floats]:
    """The shares of the categories in the measured places, and how much the projection adds to each there."""
    within, surplus = np.ones(1), np.zeros(1)
    for measured, given, variance in tally.sums:
        logical = even.reshape(len(measured), -1).sum(axis=1)
        shares = _shares(*(column.reshape(len(within), -1) for column in (measured, variance, logical)))
        surplus = (surplus[:, None] * shares).reshape(-1) + given - measured
        within = (within[:, None] * shares).reshape(-1)
    return within, surplus


def _shares(measured: Floats, variance: Floats, even: Floats) -> Floats:
    """Rows as shares: measured sums, shrunk towards equal ones by the share of the differences that noise explains."""
    total = np.maximum(measured.sum(axis=1), 0.0)
    even = even / np.maximum(even.sum(axis=1), _LEAST)[:, None]
    apart = np.where(even > 0, measured - total[:, None] * even, 0.0)
    trust = _trust((apart**2).sum(axis=1), variance.sum(axis=1))
    drawn = np.where(even > 0, total[:, None] * even + trust[:, None] * apart, NOWHERE)
    projected = project_rows(drawn, total)
    known = total > 0
    return np.where(known[:, None], projected / np.where(known, total, 1.0)[:, None], even)


def _trust(seen: Any, noise: Any) -> Any:
    """The share of the observed squared differences that noise does not explain (the James-Stein factor)."""
    return np.maximum(0.0, 1 - noise / np.maximum(seen, noise + _LEAST))
