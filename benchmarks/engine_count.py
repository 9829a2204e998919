"""Ten million rows of people to a published 1 km table of Japan, beside the bare work in DuckDB.

The bare work groups by person, taking any cell, and then by cell: no bound that holds, no check of the
domain, nothing about missing values. Both run in a process of their own under the same memory limit.
Ours is timed twice: the count alone, and all of `sudare.publish` (count, ledger, noise, files, certificate).
Goals for the whole: within 3 times the bare time, and a peak below 2 GB.

    python benchmarks/engine_count.py [--rows 10000000] [--repetitions 3]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

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
"""


def published(path: Path) -> int:
    """All of `sudare.publish`."""
    import sudare

    with TemporaryDirectory() as folder:
        recipe = Path(folder) / "recipe.toml"
        recipe.write_text(RECIPE.format(path=path))
        return len(sudare.publish(recipe).release.table)


WAYS = {"bare": bare, "count": ours, "publish": published}


def measure(way: str, path: Path) -> None:
    """Runs one way in this process and prints what it took."""
    start = time.perf_counter()
    cells = WAYS[way](path)
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": megabytes, "cells": cells}))


def compare(path: Path, title: str, repetitions: int) -> bool:
    """Both ways in turn, each in processes of its own; the fastest run of each counts."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(repetitions):
        for way in WAYS:
            command = [sys.executable, __file__, "--measure", way, str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            run = json.loads(done.stdout)
            best[way] = min(best.get(way, run), run, key=lambda each: each["seconds"])
    print(title)
    for way, run in best.items():
        print(f"  {way}: {run['seconds']:.2f} s, peak {run['megabytes']:.0f} MB, {run['cells']:,} cells")
    count, whole = (best[way]["seconds"] / best["bare"]["seconds"] for way in ("count", "publish"))
    print(f"  ratio: count {count:.2f}, publish {whole:.2f} (goal: at most 3)")
    return whole <= 3 and best["publish"]["megabytes"] < 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--measure", nargs=2, metavar=("WAY", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], Path(options.measure[1]))
        return
    reached = []
    with TemporaryDirectory(prefix="sudare-benchmark-") as folder:
        for several, title in ((False, "one row per person"), (True, "5 % of people with several rows")):
            path = Path(folder) / "people.parquet"
            generate(path, options.rows, several)
            reached.append(compare(path, title, options.repetitions))
    sys.exit(0 if all(reached) else 1)


if __name__ == "__main__":
    main()
