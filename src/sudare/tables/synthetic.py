"""Synthetic people: nobody in them exists, so they may be shown, shared and rehearsed on.

`city` draws one row per person of an invented city (see `sudare.tables.landscape`); `write_city` puts it
into a Parquet file; `synthetic_table` draws plausible counts for any declared domain. All of them are
deterministic in their seed. The generator is NumPy's: it draws data, never privacy noise.

A synthetic table has clustered, heavy-tailed counts. People are dealt out down the domain's own tree: a block of
2**level cells in index order passes its populated cells and its people on to its two halves in random proportions;
because the tree's blocks are areas, unequal halves at every level make towns within regions and peaks within towns (a
random cascade). Only blocks with people are visited, so the cost follows the populated cells, not the size of the
domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain import CountTable, Domain
from sudare.domain.frames import arrow_table
from sudare.domain.parquet import staged
from sudare.engines.scratch import PrivateFolder
from sudare.errors import OutputError, ParameterError, system_reason
from sudare.tables.landscape import PROFILES, SPLIT, WINDOW, landscape

if TYPE_CHECKING:
    import pyarrow as pa


SEED = 7
CLUSTERING = 1.1
"""Standard deviation of the log-odds by which the halves of an area differ in populated cells."""
SPREADS = {"low": 1.0, "medium": 2.0, "high": 5.0}
"""By concentration: the standard deviation of the logarithm of a populated cell's count, over all levels together. The
fullest tenth of the populated cells has then about a third of the people, a half, or most of them. The last is set on
the tuning tables of benchmarks/held_out.py."""
_LOCAL = 0.25  # how much the mix of categories differs from place to place


def synthetic_table(
    domain: Domain,
    people: int,
    seed: int = SEED,
    populated_share: float = 0.1,
    concentration: str = "medium",
    clustering: float = CLUSTERING,
) -> CountTable:
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
    spread = 2 * SPREADS[concentration] / max(1.0, np.log2(populated)) ** 0.5
    mixes = _mixes(domain, generator)

    blocks = _Blocks(*(np.array([value], np.int64) for value in (0, domain.size, populated, people - populated)))
    for level in range(domain.bits - 1, -1, -1):
        room = domain.block_sizes(blocks.block << 1, level)
        expected = _expected_category_share(domain, blocks, level, mixes)
        if expected is None:
            blocks = blocks.areas(generator, room, spread, clustering)
        else:
            blocks = blocks.categories(generator, room, expected)
    return CountTable(domain, blocks.block, blocks.populated + blocks.others)


def whole_people(people: object) -> int:
    """A declared number of people as an int; refuses anything else."""
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

    def areas(self, generator: np.random.Generator, room: Integers, spread: float, clustering: float) -> _Blocks:
        """Deal out to the halves of areas, of which the lower has ``room`` cells."""
        tilt, luck = generator.standard_normal((2, len(self.block)))
        populated = self._fit(room, _deal(generator, self.populated, _tilted(room / self.room, clustering * tilt)))
        # Dense areas also have high counts: people are tilted to the same side as populated cells.
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


__all__ = ["city", "city_pieces", "synthetic_table", "write_city"]

CITY_SEED = 20_240_229
BATCH_ROWS = 500_000
AGES = 100  # whole years 0 to 99
_PYRAMIDS = (  # ages, then the height of the pyramid there for each of PROFILES
    [0, 5, 10, 17, 19, 23, 27, 33, 40, 48, 55, 63, 70, 75, 82, 90, 99],
    (
        [64, 70, 76, 82, 86, 92, 92, 98, 112, 138, 118, 108, 124, 136, 84, 34, 2],
        [8, 5, 5, 12, 160, 190, 70, 26, 16, 12, 10, 8, 7, 6, 4, 2, 0],
        [150, 160, 130, 80, 50, 40, 70, 150, 170, 110, 50, 45, 48, 40, 20, 8, 0],
        [14, 18, 22, 26, 16, 16, 20, 26, 36, 48, 66, 110, 160, 190, 150, 70, 4],
    ),
)
_ROWS_PER_DEGREE, _COLUMNS_PER_DEGREE = 240, 160  # of the 500 m mesh; columns count from 100 degrees east


def city(people: int = 3_000_000, seed: int = CITY_SEED) -> pa.Table:
    """One row per person: person_id, latitude, longitude (degrees), sex ("f" or "m"), age (years).

    Ids are 1 to ``people`` in no order. Every home lies in the 500 m mesh rows 8480 to 8607 and columns 6300
    to 6427, where the map of Japan has another city: this one is invented.

    >>> city(people=1000).column_names
    ['person_id', 'latitude', 'longitude', 'sex', 'age']
    """
    return arrow_table(list(city_pieces(people, seed)))


def write_city(path: str | Path, people: int = 3_000_000, seed: int = CITY_SEED) -> Path:
    """Write `city` as Parquet (zstd), or as CSV by that ending, batch by batch; complete, or not under its name."""
    path = Path(path)
    partial = path.with_name(path.name + ".partial")
    try:
        with PrivateFolder.within() as own, staged(city_pieces(people, seed), own.path) as rows:
            if path.suffix == ".csv":
                rows.to_csv(partial, list(rows.columns))
            else:
                rows.to_parquet(partial, list(rows.columns), {})
        partial.replace(path)
    except OSError as failure:
        partial.unlink(missing_ok=True)
        reason = system_reason(failure)
        raise OutputError("the city cannot be written: {reason}", value=str(path), reason=reason) from None
    return path


def city_pieces(people: int = 3_000_000, seed: int = CITY_SEED) -> Iterator[dict[str, NDArray[Any]]]:
    """`city` in pieces of half a million rows: 12 bytes a person are kept, the rest is drawn on the way."""
    people = whole_people(people)
    place = landscape()
    generator = np.random.default_rng(seed)
    homes = np.repeat(
        np.arange(place.density.size, dtype=np.int32),
        generator.multinomial(people, place.density.ravel()),
    )
    generator.shuffle(homes)
    identifiers = generator.permutation(np.arange(1, people + 1, dtype=np.int64))
    profiles = place.profiles.reshape(-1, len(PROFILES)).cumsum(axis=1)
    for start in range(0, max(1, people), BATCH_ROWS):
        home = homes[start : start + BATCH_ROWS]
        latitude, longitude = _positions(generator, home)
        profile = (profiles[home, :-1] < generator.random((len(home), 1))).sum(axis=1)
        age = _ages(generator, profile)
        female = generator.random(len(home)) < _female_share(age, profile)
        yield {
            "person_id": identifiers[start : start + BATCH_ROWS],
            "latitude": latitude,
            "longitude": longitude,
            "sex": np.where(female, "f", "m"),
            "age": age,
        }


def _positions(generator: np.random.Generator, home: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Latitude and longitude of homes with six decimals, as registers keep them."""
    (south, _), (west, east) = WINDOW
    row, column = np.divmod(home, (east - west) * SPLIT)
    # The margin of one hundredth keeps a rounded position inside its own lattice square.
    within = generator.uniform(0.01, 0.99, (2, len(home)))
    latitude = (south + (row + within[0]) / SPLIT) / _ROWS_PER_DEGREE
    longitude = 100 + (west + (column + within[1]) / SPLIT) / _COLUMNS_PER_DEGREE
    return latitude.round(6), longitude.round(6)


def _ages(generator: np.random.Generator, profile: NDArray[np.int64]) -> NDArray[np.int16]:
    """An age for every person, by the age pyramid of the person's profile."""
    knots, heights = _PYRAMIDS
    pyramids = np.array([np.interp(np.arange(AGES), knots, height) for height in heights])
    shares = pyramids.cumsum(axis=1) / pyramids.sum(axis=1, keepdims=True)
    # One search serves all profiles: the shares of profile p are moved to the stretch from p to p + 1.
    line = (shares + np.arange(len(heights))[:, None]).ravel()
    found = np.searchsorted(line, profile + generator.random(len(profile)), side="right")
    return np.asarray(np.minimum(found - profile * AGES, AGES - 1), dtype=np.int16)


def _female_share(age: NDArray[np.int16], profile: NDArray[np.int64]) -> Floats:
    """Women outlive men; the university teaches engineering."""
    share = np.interp(age, [0, 20, 40, 60, 75, 85, 99], [0.487, 0.488, 0.493, 0.503, 0.535, 0.62, 0.82])
    return np.asarray(share - 0.14 * (profile == PROFILES.index("students")))
