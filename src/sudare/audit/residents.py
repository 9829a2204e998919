"""Invented people as they stand in the files that are really published: where they live and work, their sex and age.

Most of them live in one town, so that a tree has thick blocks to split and thin ones to leave; half of the places have
nobody, and are left to odd people. Places are the meshes of 1 km under two codes that touch at a corner: half of the
box around them is masked, and every attribute is padded. Nobody is real.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

CODES = ("533945", "533956")
SEXES = ("f", "m", "o")
OLDEST = 100
DOMAIN = (
    f'[domain.home]\ntype = "mesh"\nsize = "1km"\ncodes = ["{CODES[0]}", "{CODES[1]}"]\n'
    '[domain.sex]\ntype = "categories"\nvalues = ["f", "m", "o"]\n'
    f'[domain.age]\ntype = "bins"\nstart = 0\nstop = {OLDEST}\nstep = 20\n'
)
"""200 places in a padded index of 10 bits, 3 sexes in 2 bits, 5 ages in 3 bits."""
AGES = DOMAIN[DOMAIN.index("[domain.age]") :]
JOURNEYS = "".join(
    f'[domain.{name}]\ntype = "mesh"\nsize = "1km"\ncodes = ["{CODES[0]}"]\n' for name in ("home", "work")
)
"""Origin and destination: 100 places each, in 8 bits each."""
_SEX, _AGE = DOMAIN.index("[domain.sex]"), DOMAIN.index("[domain.age]")
TOWN = f'[domain.home]\ntype = "mesh"\nsize = "1km"\ncodes = ["{CODES[0]}"]\n{DOMAIN[_SEX:_AGE]}'
"""100 places and 3 sexes."""
WORKERS = (
    f'[domain.work]\ntype = "categories"\nvalues = ["{CODES[0]}00", "{CODES[0]}01", "{CODES[0]}02"]\n{DOMAIN[_SEX:]}'
)
"""3 places as names, 3 sexes, 5 ages: no place in the domain."""

_POINTS = 'from = ["lat", "lon"]\nwindow = [139.625, 35.6625, 139.875, 35.8375]\n'
PLACES = {
    "degrees": f'[domain.home]\ntype = "latlon"\nstep = 0.0125\n{_POINTS}{DOMAIN[_SEX:_AGE]}',
    "tiles": f'[domain.home]\ntype = "tiles"\nzoom = 14\n{_POINTS}{DOMAIN[_SEX:_AGE]}',
    "regions": (
        '[domain.home]\ntype = "regions"\nfile = "regions.geojson"\nkey = "code"\n'
        f'from = ["lat", "lon"]\n{DOMAIN[_SEX:_AGE]}'
    ),
}
"""Places of points and 3 sexes: squares of degrees, tiles, and the polygons of `regions`."""


def regions() -> str:
    """GeoJSON of ten strips, each 0.025 degrees wide, over the places of both codes."""
    west = [139.625 + 0.025 * strip for strip in range(10)]
    rings = [[[x, 35.65], [x + 0.025, 35.65], [x + 0.025, 35.85], [x, 35.85], [x, 35.65]] for x in west]
    features = [
        {"type": "Feature", "properties": {"code": f"S{n}"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
        for n, ring in enumerate(rings)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features})


class Resident(NamedTuple):
    """An invented resident: one row of a published file."""

    person: int
    home: str | None
    work: str | None
    sex: str
    age: float | None


Residents = dict[str, list[Resident]]
"""Data sets by name, the one that is recorded first."""


def place(number: int) -> str:
    """The code of one of 200 meshes.

    >>> place(0), place(199)
    ('53394500', '53395699')
    """
    return f"{CODES[number // 100]}{number % 100:02d}"


_FAR, _OUTSIDE = place(199), "68481234"
ODD: dict[str, tuple[Resident, ...]] = {
    "a person alone in a cell": (Resident(9001, _FAR, place(99), "o", 99.0),) * 3,
    "a person with many rows": tuple(
        Resident(9009, place(37 * step % 200), place(53 * step % 100), SEXES[step % 3], 13.0 * step % OLDEST)
        for step in range(40)
    ),
    "the first record outside the domain": (Resident(9003, _OUTSIDE, _OUTSIDE, "f", 30.0),),
    "a person who comes first": (Resident(-1, place(0), place(0), "f", 30.0),) * 2,
}
"""People to add: alone in a corner with all their rows, everywhere, outside, and before all others."""
FAULTY: dict[str, tuple[Resident, ...]] = {
    "a missing value": (Resident(9006, None, None, "m", 30.0),),
    "not a number": (Resident(9005, place(0), place(1), "m", float("nan")),),
    "a category that is not declared": (Resident(9004, place(0), place(1), "x", 30.0),),
    "a person inside and outside": (
        Resident(9010, place(150), place(50), "m", 40.0),
        Resident(9010, _OUTSIDE, place(50), "m", 40.0),
        Resident(9010, place(150), place(50), "m", 400.0),
    ),
}
"""People of whom some row is dropped."""


def ordinary(people: int, seed: int, rows: int) -> list[Resident]:
    """People with one to ``rows`` rows, three of four in the town, the others in the places around it."""
    generator = np.random.default_rng(seed)
    found = []
    for person in range(people):
        for _ in range(int(generator.integers(1, rows + 1))):
            home, work = (0 if generator.random() < 0.75 else int(generator.integers(0, 60)) for _ in range(2))
            age = float(generator.integers(20, 40) if generator.random() < 0.7 else generator.integers(0, OLDEST))
            found.append(Resident(person, place(home), place(work), SEXES[int(generator.integers(0, 2))], age))
    return found


def strangers() -> Residents:
    """Nobody, and one person in every cell."""
    cells = [(home, sex, age) for home in range(200) for sex in SEXES for age in range(10, OLDEST, 20)]
    return {
        "nobody": [],
        "everybody": [
            Resident(person, place(home), place((home * 7 + person) % 100), sex, float(age))
            for person, (home, sex, age) in enumerate(cells)
        ],
    }


def come_and_go(people: int, seed: int, generated: int, rows: int = 3) -> Residents:
    """One person is added (odd ones) or removed (ordinary ones); and strangers."""
    return _changed(ordinary(people, seed, rows), people, seed, generated)


def _changed(data: list[Resident], people: int, seed: int, generated: int) -> Residents:
    removed = np.random.default_rng([seed, 1]).choice(people, size=generated, replace=False)
    found = {"data": data} | {name: [*data, *more] for name, more in (ODD | FAULTY).items()}
    found |= {f"person {number} removed": [row for row in data if row.person != number] for number in removed}
    return found | strangers()


def evenly(people: int, seed: int, generated: int) -> Residents:
    """The same in a town where all places of the first code have as many of each sex: a thick and even table."""
    del people  # as many as it takes
    cells = [(home, sex) for home in range(100) for sex in SEXES] * 12
    data = [
        Resident(number, place(home), place(number % 3), sex, float(20 * (number % 5)))
        for number, (home, sex) in enumerate(cells)
    ]
    return _changed(data, len(cells), seed, generated)


def once_each(people: int, seed: int, generated: int) -> Residents:
    """The same with a single row of everybody, as in a file of counts."""
    found = come_and_go(people, seed, generated, rows=1)
    return {name: list({row.person: row for row in rows}.values()) for name, rows in found.items()}


def replaced(people: int, seed: int, generated: int) -> Residents:
    """One row each, inside the domain; one of them is replaced by another, or all are."""
    data = ordinary(people, seed, 1)
    far = Resident(0, place(99), place(99), "o", 99.0)
    found = {"data": data, "the lowest row replaced by the highest": [far, *data[1:]]}
    others = ordinary(people, seed + 1, 1)
    for number in range(1, 1 + generated):
        found[f"row {number} replaced"] = [*data[:number], others[number], *data[number + 1 :]]
    return found | {"everybody else": [far._replace(person=row.person) for row in data]}


Writer = Callable[[list[Resident], Path], None]


def frame(rows: list[Resident]) -> pa.Table:
    """Rows as an Arrow table."""
    import pyarrow as pa

    kinds = (pa.int64(), pa.string(), pa.string(), pa.string(), pa.float64())
    columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
    return pa.table(
        {name: pa.array(column, kind) for name, column, kind in zip(Resident._fields, columns, kinds, strict=True)}
    )


def to_parquet(rows: list[Resident], path: Path) -> None:
    """Records as a Parquet file."""
    import pyarrow.parquet as pq

    pq.write_table(frame(rows), path)


def to_csv(rows: list[Resident], path: Path) -> None:
    """Records as a CSV file."""
    import pyarrow.csv as csv

    csv.write_csv(frame(rows), path)


def to_points(rows: list[Resident], path: Path) -> None:
    """Records as a Parquet file, with the middle of each home's mesh of 1 km as ``lat`` and ``lon``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = frame(rows)
    points = [_middle(row.home) if row.home else (None, None) for row in rows]
    for axis, name in enumerate(("lat", "lon")):
        made = made.append_column(name, pa.array([point[axis] for point in points], pa.float64()))
    pq.write_table(made, path)


def _middle(code: str) -> tuple[float, float]:
    """Latitude and longitude in the middle of a mesh of 1 km, by the digits of its code (JIS X 0410)."""
    rows = int(code[:2]) * 80 + int(code[4]) * 10 + int(code[6])
    columns = int(code[2:4]) * 80 + int(code[5]) * 10 + int(code[7])
    return (rows + 0.5) / 120, 100 + (columns + 0.5) / 80


def to_counts(rows: list[Resident], path: Path) -> None:
    """Cells with counts as a CSV file: those that hold somebody, in the order of their codes."""
    whole = [row for row in rows if row.home and row.age is not None and row.age == row.age]
    counted = Counter((row.home, row.sex, int(row.age or 0) // 20 * 20) for row in whole)
    lines = [f"{home},{sex},{age},{count}\n" for (home, sex, age), count in sorted(counted.items())]
    path.write_text("".join(["home,sex,age,count\n", *lines]), encoding="utf-8", newline="\n")
