"""Invented people, and the neighbours of their data that are most likely to show a mistake.

Columns: ``person`` (whose row), ``x`` (a number of [0, 16)), ``sex`` (f or m). Nobody is real, so that an audit can be
run and its report shown anywhere. Odd people come on top of ordinary ones: alone in a cell, outside the domain, with an
unknown value, with many rows, the same as somebody else, or the farthest from all others. Strangers are no neighbours:
nobody at all, everybody in every cell, everybody somewhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

CELLS = 16
Row = tuple[int, float | None, str]
World = dict[str, list[Row]]
"""Data sets by name: the one that is recorded first, under ``data``, then those that are replayed."""

ODD: dict[str, tuple[Row, ...]] = {
    "a person alone in a cell": ((9001, 15.5, "m"),),
    "the last person of a region": ((9002, 8.5, "f"),),
    "a duplicate of somebody": ((9007, 1.5, "f"),),
    "the same row many times": ((9008, 2.5, "m"),) * 30,
    "a person with many rows": tuple((9009, place + 0.5, "fm"[place % 2]) for place in range(CELLS)),
    "the row that changes a maximum": ((9011, 15.999999, "f"),),
    "the row that changes a minimum": ((9012, 0.0, "f"),),
    "a person who comes first": ((-1, 5.5, "m"),),
}
"""People to add that every kind takes: what makes each odd, and the rows."""
UNKNOWN: dict[str, tuple[Row, ...]] = {
    "not a number": ((9005, float("nan"), "m"),),
    "a missing value": ((9006, None, "f"),),
}
"""People of whom something is not known."""
OUTSIDE: dict[str, tuple[Row, ...]] = {
    "the first record outside the domain": ((9003, -3.0, "f"),),
    "a number beyond all others": ((9013, 1e300, "m"),),
}
"""People who are not where they should be."""
UNDECLARED: dict[str, tuple[Row, ...]] = {
    "a category that is not declared": ((9004, 3.0, "x"),),
    "a person inside and outside": ((9010, 4.5, "m"), (9010, 99.0, "m"), (9010, float("nan"), "f")),
}
"""People of whom some row can only be dropped."""
EVERY = ODD | UNKNOWN | OUTSIDE | UNDECLARED
REPLACED = ("the lowest row replaced by the highest", "a row replaced by a duplicate", "a row replaced by one outside")
"""Rows that take the place of the first one, which is the lowest."""
STRANGERS = ("nobody", "everybody", "everybody else")


def ordinary(people: int, seed: int, rows: int = 3) -> list[Row]:
    """People with one to ``rows`` rows in the lower half of the range; the upper half is left to odd ones."""
    generator = np.random.default_rng(seed)
    found: list[Row] = []
    for person in range(people):
        for _ in range(int(generator.integers(1, rows + 1))):
            found.append((person, float(generator.integers(0, 64)) / 8, "fm"[int(generator.integers(0, 2))]))
    return found


def without(rows: list[Row], person: int) -> list[Row]:
    """The rows of everybody else."""
    return [row for row in rows if row[0] != person]


def frame(rows: list[Row]) -> pa.Table:
    """Rows as an Arrow table.

    >>> frame([(1, 0.5, "f")]).column_names
    ['person', 'x', 'sex']
    """
    import pyarrow as pa

    return pa.table(
        {
            "person": pa.array([row[0] for row in rows], pa.int64()),
            "x": pa.array([row[1] for row in rows], pa.float64()),
            "sex": pa.array([row[2] for row in rows], pa.string()),
        }
    )


def write_rows(rows: list[Row], path: Path) -> None:
    """Rows as a Parquet file."""
    import pyarrow.parquet as pq

    pq.write_table(frame(rows), path)


def write_public(folder: Path, rows: list[Row] | None = None) -> None:
    """``public.parquet``, the public records that recipes name: ``rows`` without their persons, or 120 of them."""
    import pyarrow.parquet as pq

    public = row_by_row(120, 77, 0)["data"] if rows is None else rows
    pq.write_table(frame(public).drop_columns(["person"]), folder / "public.parquet")


def person_by_person(
    people: int, seed: int, generated: int, odd: dict[str, tuple[Row, ...]] = EVERY, rows: int = 3
) -> World:
    """The first data set, and its neighbours: every ``odd`` person added, ``generated`` ordinary ones removed.

    Ordinary people have at most ``rows`` rows.

    >>> len(person_by_person(50, 1, 3)) == 1 + len(EVERY) + 3
    True
    """
    data = ordinary(people, seed, rows)
    generator = np.random.default_rng([seed, 1])
    removed = generator.choice(people, size=min(generated, people), replace=False)
    added = {name: [*data, *more] for name, more in odd.items()}
    return {"data": data} | added | {f"person {person} removed": without(data, int(person)) for person in removed}


def row_by_row(rows: int, seed: int, generated: int, *, outside: bool = False) -> World:
    """One row per person, all inside the domain; neighbours replace a row by an extreme or a random one.

    >>> {len(data) for data in row_by_row(20, 1, 4).values()}
    {20}
    """
    generator = np.random.default_rng(seed)

    def drawn(person: int) -> Row:
        return person, float(generator.integers(0, 128)) / 8, "fm"[int(generator.integers(0, 2))]

    data = [(0, 0.0, "f"), *(drawn(person) for person in range(1, rows))]
    found = {
        "data": data,
        REPLACED[0]: [(0, 15.999999, "m"), *data[1:]],
        REPLACED[1]: [(0, *data[1][1:]), *data[1:]],
    }
    if outside:
        found[REPLACED[2]] = [(0, -1e9, "f"), *data[1:]]
    for place in range(generated):
        at = int(generator.integers(0, rows))
        found[f"row {at} replaced, {place + 1}"] = [*data[:at], drawn(at), *data[at + 1 :]]
    found["everybody else"] = [(person, 15.5, "m") for person, _, _ in data]
    return found


def person_for_person(people: int, seed: int, generated: int) -> World:
    """Three rows each, and neighbours in which one person's are all others: a person with many rows is replaced."""
    generator = np.random.default_rng(seed)

    def drawn(person: int) -> list[Row]:
        return [(person, float(generator.integers(0, 128)) / 8, "fm"[int(generator.integers(0, 2))]) for _ in range(3)]

    persons = [drawn(person) for person in range(people)]
    found = {
        "data": [row for rows in persons for row in rows],
        "all rows of a person at the top": [(0, 15.5, "m")] * 3 + [row for rows in persons[1:] for row in rows],
    }
    for _ in range(generated):
        at = int(generator.integers(0, people))
        others = [row for row in found["data"] if row[0] != at]
        found[f"person {at} replaced"] = others[: 3 * at] + drawn(at) + others[3 * at :]
    return found


def strangers() -> World:
    """Nobody, and ten people in every cell."""
    full: list[Row] = [(place, place % CELLS + 0.5, "fm"[place // CELLS % 2]) for place in range(20 * CELLS)]
    return {"nobody": [], "everybody": full}
