"""Invented people, and the neighbours of their data that are most likely to show a mistake.

Columns: ``person`` (whose row), ``x`` (a number of [0, 16)), ``sex`` (f or m). Nobody is real, so that an audit can be
run and its report shown anywhere. Odd people come on top of ordinary ones: alone in a cell, outside the domain, with an
unknown value, with many rows, the same as somebody else, or the farthest from all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

CELLS = 16
Row = tuple[int, float | None, str]

ODD: dict[str, tuple[Row, ...]] = {
    "a person alone in a cell": ((9001, 15.5, "m"),),
    "the last person of a region": ((9002, 8.5, "f"),),
    "a record outside the domain": ((9003, -3.0, "f"),),
    "a category that is not declared": ((9004, 3.0, "x"),),
    "not a number": ((9005, float("nan"), "m"),),
    "a missing value": ((9006, None, "f"),),
    "a duplicate of somebody": ((9007, 1.5, "f"),),
    "the same row many times": ((9008, 2.5, "m"),) * 30,
    "a person with many rows": tuple((9009, place + 0.5, "fm"[place % 2]) for place in range(CELLS)),
    "a person inside and outside": ((9010, 4.5, "m"), (9010, 99.0, "m"), (9010, float("nan"), "f")),
    "the row that changes a maximum": ((9011, 15.999999, "f"),),
    "the row that changes a minimum": ((9012, 0.0, "f"),),
    "a person who comes first": ((-1, 5.5, "m"),),
}
"""People to add: what makes each odd, and the rows."""


REPLACED = ("the lowest row replaced by the highest", "a row replaced by a duplicate")
"""Rows that take the place of the first one, which is the lowest."""


def ordinary(people: int, seed: int) -> list[Row]:
    """People with one to three rows in the lower half of the range; the upper half is left to odd ones."""
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    for person in range(people):
        for _ in range(int(generator.integers(1, 4))):
            rows.append((person, float(generator.integers(0, 64)) / 8, "fm"[int(generator.integers(0, 2))]))
    return rows


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


def person_by_person(people: int, seed: int, generated: int) -> dict[str, list[Row]]:
    """Data sets by name: the first, and its neighbours: every odd person added, ``generated`` ordinary ones removed.

    >>> len(person_by_person(50, 1, 3)) == 1 + len(ODD) + 3
    True
    """
    data = ordinary(people, seed)
    generator = np.random.default_rng([seed, 1])
    removed = generator.choice(people, size=min(generated, people), replace=False)
    added = {name: [*data, *odd] for name, odd in ODD.items()}
    return {"data": data} | added | {f"person {person} removed": without(data, int(person)) for person in removed}


def row_by_row(rows: int, seed: int, generated: int) -> dict[str, list[Row]]:
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
    for place in range(generated):
        at = int(generator.integers(0, rows))
        found[f"row {at} replaced, {place + 1}"] = [*data[:at], drawn(at), *data[at + 1 :]]
    return found
