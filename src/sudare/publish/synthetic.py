"""Synthetic people: nobody in them exists, so they may be shown, shared and rehearsed on.

`city` draws one row per person of an invented city (see `sudare.publish.landscape`); `write_city` puts it
into a Parquet file; `synthetic_table` draws plausible counts for any declared domain. All of them are
deterministic in their seed. The generator is NumPy's: it draws data, never privacy noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import Message, OutputError, system_reason
from sudare.publish.cascade import synthetic_table, whole_people
from sudare.publish.landscape import PROFILES, SPLIT, WINDOW, landscape

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["city", "city_batches", "synthetic_table", "write_city"]

SEED = 20_240_229
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


def city(people: int = 3_000_000, seed: int = SEED) -> pa.Table:
    """One row per person: person_id, latitude, longitude (degrees), sex ("f" or "m"), age (years).

    Ids are 1 to ``people`` in no order. Every home lies in the 500 m mesh rows 8480 to 8607 and columns 6300
    to 6427, where the map of Japan has another city: this one is invented.

    >>> city(people=1000).column_names
    ['person_id', 'latitude', 'longitude', 'sex', 'age']
    """
    import pyarrow as pa

    return pa.Table.from_batches(city_batches(people, seed), schema=_schema())


def write_city(path: str | Path, people: int = 3_000_000, seed: int = SEED) -> Path:
    """Write `city` as Parquet (zstd), batch by batch; the file appears under its name only when complete."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    partial = path.with_name(path.name + ".partial")
    try:
        with pq.ParquetWriter(partial, _schema(), compression="zstd", use_dictionary=["sex", "age"]) as writer:
            for batch in city_batches(people, seed):
                writer.write_batch(batch)
        partial.replace(path)
    except (OSError, pa.ArrowException) as failure:
        partial.unlink(missing_ok=True)
        # Arrow's own text repeats the path of the partial file.
        known = isinstance(failure, OSError) and failure.errno
        reason = system_reason(failure) if known else Message("{type}", type=type(failure).__name__)
        raise OutputError("the city cannot be written: {reason}", value=str(path), reason=reason) from None
    return path


def city_batches(people: int = 3_000_000, seed: int = SEED) -> Iterator[pa.RecordBatch]:
    """`city` in batches of half a million rows: 12 bytes a person are kept, the rest is drawn on the way."""
    import pyarrow as pa

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
    for start in range(0, people, BATCH_ROWS):
        home = homes[start : start + BATCH_ROWS]
        latitude, longitude = _positions(generator, home)
        profile = (profiles[home, :-1] < generator.random((len(home), 1))).sum(axis=1)
        age = _ages(generator, profile)
        female = generator.random(len(home)) < _female_share(age, profile)
        sex = pa.DictionaryArray.from_arrays(np.where(female, 0, 1).astype(np.int8), ["f", "m"])
        columns = [identifiers[start : start + BATCH_ROWS], latitude, longitude, sex.dictionary_decode(), age]
        yield pa.record_batch(columns, schema=_schema())


def _schema() -> pa.Schema:
    import pyarrow as pa

    fields = {"person_id": pa.int64(), "latitude": pa.float64(), "longitude": pa.float64()}
    return pa.schema([*fields.items(), ("sex", pa.string()), ("age", pa.int16())])


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
