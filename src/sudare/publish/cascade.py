"""A synthetic table for any declared domain: clustered, heavy-tailed counts that belong to nobody.

People are dealt out down the domain's own tree. A block of 2**level cells in index order passes its populated
cells and its people on to its two halves in random proportions; because the tree's blocks are areas, unequal
halves at every level make towns within regions and peaks within towns (a random cascade). Only blocks that
hold someone are visited, so the cost follows the populated cells, not the size of the domain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.domain import CountTable, Domain
from sudare.errors import ParameterError

SEED = 7
_CLUSTERING = 1.1  # standard deviation of the log-odds by which the halves of an area differ in populated cells
_SPREAD = 2.0  # standard deviation of the logarithm of a populated cell's count, over all levels together
_LOCAL = 0.25  # how much the mix of categories differs from place to place


def synthetic_table(domain: Domain, people: int, seed: int = SEED, populated_share: float = 0.1) -> CountTable:
    """``people`` invented people over ``domain``, in about ``populated_share`` of its cells.

    Never more cells than half the people, so that a huge domain stays as thin as real ones are. Masked and
    padding cells stay empty. Categories and bins get uneven shares, nearly the same in every place.

    >>> from sudare.domain import Domain, Grid
    >>> table = synthetic_table(Domain(cell=Grid(64, 64)), people=100_000)
    >>> table.total, len(table)
    (100000, 410)
    """
    people = whole_people(people)
    if not 0 < populated_share <= 1:
        raise ParameterError("populated_share is not a share", value=populated_share, allowed="0 < share <= 1")
    generator = np.random.default_rng(seed)
    if people == 0:
        return CountTable(domain, np.zeros(0, np.int64), np.zeros(0, np.int64))
    populated = max(1, min(round(populated_share * domain.size), (people + 1) // 2))
    spread = 2 * _SPREAD / max(1.0, np.log2(populated)) ** 0.5
    mixes = _mixes(domain, generator)

    blocks = _Blocks(*(np.array([value], np.int64) for value in (0, domain.size, populated, people - populated)))
    for level in range(domain.bits - 1, -1, -1):
        room = domain.block_sizes(blocks.block << 1, level)
        expected = _expected_category_share(domain, blocks, level, mixes)
        if expected is None:
            blocks = blocks.areas(generator, room, spread)
        else:
            blocks = blocks.categories(generator, room, expected)
    return CountTable(domain, blocks.block, blocks.populated + blocks.others)


def whole_people(people: object) -> int:
    """A declared number of people as an int; refuses what is none."""
    if isinstance(people, bool) or not isinstance(people, int | np.integer) or people < 0:
        raise ParameterError("people is not a number of people", value=people, allowed="a whole number >= 0")
    return int(people)


@dataclass(frozen=True)
class _Blocks:
    """Blocks of one level that hold people; arrays of one entry per block.

    ``room`` is how many logical cells a block has, ``populated`` how many of them hold somebody, and
    ``others`` how many people it has besides one in each populated cell.
    """

    block: Integers
    room: Integers
    populated: Integers
    others: Integers

    def areas(self, generator: np.random.Generator, room: Integers, spread: float) -> _Blocks:
        """Deal out to the halves of areas, of which the lower has ``room`` cells."""
        tilt, luck = generator.standard_normal((2, len(self.block)))
        populated = self._fit(room, _deal(generator, self.populated, _tilted(room / self.room, _CLUSTERING * tilt)))
        # What is dense is also high: the people lean the same way as the cells they fill.
        odds = _tilted(populated / self.populated, spread * (0.6 * tilt + 0.8 * luck))
        return self._halves(room, populated, _deal(generator, self.others, odds))

    def categories(self, generator: np.random.Generator, room: Integers, expected: Floats) -> _Blocks:
        """Deal out to the halves of categories; the lower has ``room`` cells, ``expected`` its share of people."""
        odds = _tilted(expected, _LOCAL * generator.standard_normal(len(self.block)))
        populated = self._fit(room, _deal(generator, self.populated, odds))
        odds = np.where(populated == 0, 0.0, np.where(populated == self.populated, 1.0, odds))
        return self._halves(room, populated, _deal(generator, self.others, odds))

    def _fit(self, room: Integers, populated: Integers) -> Integers:
        """The lower half's populated cells, within the room of both halves."""
        return np.clip(populated, self.populated - (self.room - room), np.minimum(room, self.populated))

    def _halves(self, room: Integers, populated: Integers, others: Integers) -> _Blocks:
        """The halves that hold somebody, given what the lower ones get."""
        lower = (self.block << 1, room, populated, others)
        upper = ((self.block << 1) + 1, self.room - room, self.populated - populated, self.others - others)
        columns = [np.column_stack(pair).ravel() for pair in zip(lower, upper, strict=True)]
        kept = columns[2] > 0
        return _Blocks(*(column[kept] for column in columns))


def _tilted(share: Floats, log_odds: Floats) -> Floats:
    """``share`` with its odds multiplied by exp(log_odds); 0 and 1 stay what they are."""
    lower = share * np.exp(log_odds)
    return np.asarray(lower / (lower + (1 - share)))


def _deal(generator: np.random.Generator, amount: Integers, share: Floats) -> Integers:
    """``amount * share`` as whole numbers, rounded at random."""
    dealt = np.floor(amount * share + generator.random(len(amount))).astype(np.int64)
    # A share of 0 or 1 leaves nothing to chance, and products of large numbers may round past the amount.
    return np.where(share <= 0, 0, np.where(share >= 1, amount, np.clip(dealt, 0, amount)))


def _mixes(domain: Domain, generator: np.random.Generator) -> list[Floats | None]:
    """Per axis: None for an area's axis, else running sums (length + 1) of the shares of its categories."""
    mixes: list[Floats | None] = []
    for attribute in domain.attributes.values():
        for length in attribute.lengths:
            weights = None if attribute.spatial else generator.gamma(1.5, size=length)
            mixes.append(None if weights is None else np.concatenate([[0.0], np.cumsum(weights)]))
    return mixes


def _axis(domain: Domain, level: int) -> tuple[int, int]:
    """Which axis the halves of a block of 2**(level + 1) cells differ in, and in which of its bits."""
    coordinates = domain.coordinates(np.array([1 << level], np.int64))
    axis = next(position for position, value in enumerate(coordinates) if value[0])
    return axis, int(coordinates[axis][0]).bit_length() - 1


def _expected_category_share(domain: Domain, blocks: _Blocks, level: int, mixes: list[Floats | None]) -> Floats | None:
    """The lower half's share of people by the mix of categories; None where the halves are areas."""
    axis, bit = _axis(domain, level)
    sums = mixes[axis]
    if sums is None:
        return None
    start = domain.coordinates(blocks.block << (level + 1))[axis]
    edges = [sums[np.minimum(start + (step << bit), len(sums) - 1)] for step in range(3)]
    return np.asarray((edges[1] - edges[0]) / (edges[2] - edges[0]))
