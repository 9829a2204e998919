"""Ten million rows of people to a published 1 km table of Japan, beside the bare work in DuckDB.

The bare work groups by person, taking any cell, and then by cell: no bound that holds, no check of the domain,
nothing about missing values. Both run in a process of their own under the same memory limit. Ours is timed three
times: the count alone, all of `sudare.publish` (count, ledger, noise, files, certificate), and that with its public
page, which redraws the table to learn its error bars. Times are those of the processor, of all threads. Goals for
`publish` without the page: within 3 times the bare time, and a peak below 2 GB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from memory import peak_megabytes
from part import run_part
from row import Row

SEVERAL = 0.05
"""The share of people with two or more rows, in the second file."""


def generate(path: Path, rows: int, several: bool) -> None:
    """Rows (id, lat, lon) of people around 200 towns, in random order."""
    import pyarrow
    from pyarrow import parquet

    random = np.random.default_rng(20)
    people = round(rows / (1 + 2 * SEVERAL)) if several else rows
    further = random.choice(people, (rows - people) // 2, replace=False)
    ids = np.concatenate([np.arange(people), further, further])
    random.shuffle(ids)
    town = random.integers(0, 200, ids.size)
    latitude = random.uniform(32, 43, 200)[town] + random.normal(0, 0.2, ids.size)
    longitude = random.uniform(131, 143, 200)[town] + random.normal(0, 0.2, ids.size)
    table = pyarrow.table({"id": ids, "lat": latitude, "lon": longitude})
    parquet.write_table(table, path, row_group_size=1 << 20)


def bare(path: Path) -> int:
    """The work that cannot be avoided, written for DuckDB by hand."""
    import duckdb

    from sudare.engines.duckdb_engine import MEMORY_LIMIT

    with TemporaryDirectory() as folder:
        settings = {"memory_limit": MEMORY_LIMIT, "temp_directory": folder, "preserve_insertion_order": False}
        connection = duckdb.connect(config=settings)
        cell = "CAST(floor(lat * 120) AS BIGINT) * 8000 + CAST(floor((lon - 100) * 80) AS BIGINT)"
        people = f"SELECT id, any_value({cell}) AS cell FROM read_parquet('{path}') GROUP BY id"  # noqa: S608
        counted = f"SELECT cell, count(*) AS n FROM ({people}) GROUP BY cell"  # noqa: S608 - a path of ours
        return int(connection.sql(counted).to_arrow_table().num_rows)


def ours(path: Path) -> int:
    """`Records.count`, with everything that it checks."""
    from sudare.domain import Domain, Mesh
    from sudare.engines import read

    japan = Domain(mesh=Mesh("1km", rows=(2400, 5600), columns=(1600, 5600)))
    return len(read(path).count(japan, columns={"mesh": ("lat", "lon")}, unit="id", max_rows=1))


RECIPE = """
dataset = "japan"
[data]
path = "{path}"
unit = "id"
[domain.mesh]
type = "mesh"
size = "1km"
rows = [2400, 5600]
columns = [1600, 5600]
from = ["lat", "lon"]
[privacy]
epsilon = 0.5
[ledger]
cap = {{ epsilon = 1 }}
[output]
folder = "release"
formats = ["parquet", "csv"]
[report]
public = {page}
"""


def published(path: Path, page: bool = False) -> int:
    """All of `sudare.publish`."""
    import sudare

    with TemporaryDirectory() as folder:
        recipe = Path(folder) / "recipe.toml"
        recipe.write_text(RECIPE.format(path=path, page=str(page).lower()))
        return len(sudare.publish(recipe).release.table)


def published_with_page(path: Path) -> int:
    """And the page for the public."""
    return published(path, page=True)


WAYS = {"bare": bare, "count": ours, "publish": published, "page": published_with_page}
NAMES = {"bare": "DuckDB by hand", "count": "count", "publish": "publish", "page": "publish with its page"}


def measure(way: str, path: Path) -> None:
    """Runs one way in this process and prints what it took."""
    start = time.process_time()
    cells = WAYS[way](path)
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "megabytes": peak_megabytes(), "cells": cells}))


def compared(path: Path, case: str, repetitions: int) -> Iterator[Row]:
    """Both ways in turn, each in processes of its own; the fastest run of each counts."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(repetitions):
        for way in WAYS:
            command = [sys.executable, __file__, "--measure", way, str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            run = json.loads(done.stdout)
            best[way] = min(best.get(way, run), run, key=lambda each: each["seconds"])
    for way, run in best.items():
        peak = f"peak {run['megabytes']:.0f} MB; " if run["megabytes"] else ""
        other = None if way == "bare" else NAMES["bare"]
        yield Row(NAMES[way], run["seconds"], "CPU s", other, f"{peak}{run['cells']:,.0f} cells", case)
    whole = best["publish"]["seconds"] / best["bare"]["seconds"]
    yield Row("publish over the bare work", whole, "times", case=case, at_most=3)
    if best["publish"]["megabytes"]:
        yield Row("peak memory of publish", best["publish"]["megabytes"], "MB", case=case, at_most=2000)


def rows(quick: bool) -> Iterator[Row]:
    """With one row a person, then with several for some."""
    sizes = (500_000, 500_000) if quick else (10_000_000, 10_000_000)
    titles = ("one row a person", "5 % of people with several rows")
    with TemporaryDirectory(prefix="sudare-benchmark-") as folder:
        for several, (number, title) in enumerate(zip(sizes, titles, strict=True)):
            path = Path(folder) / "people.parquet"
            generate(path, number, bool(several))
            yield from compared(path, f"{number:,} rows, {title}", 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        run_part(rows)
