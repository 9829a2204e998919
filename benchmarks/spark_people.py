"""Person rows in Spark to a released table of Japan: 500 m x sex x age group, beside the bare group-by in Spark.

The bare work groups by person, taking any cell, and then by cell, and writes the cells: no bound that holds, no check
of the domain, no noise. Ours counts in Spark, releases in Spark (`Tree`, then other methods with --all) and writes the
parts; the embedded engine and a release in one process do the same job. Each way runs in a process of its own, Spark on
local[2]; memory is the largest sum of resident pages of the JVM and of all Python processes, looked at ten times a
second. Goals: within 3 times the bare time, and within 24 GB. The last row says from where on Spark pays.

    python benchmarks/spark_people.py [--quick] [--json FILE] [--rows 1000000 10000000] [--all] [--memory 6g]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from part import run_part
from row import Row

ROWS_PER_FILE = 5_000_000
EPSILON = 0.5
METHODS = ("tree", "top_down", "simplex", "negative_l2", "nonnegative_lasso", "laplace")


def generate(folder: Path, rows: int) -> None:
    """Rows (id, lat, lon, sex, age) around 2,000 towns of very different size; 5 % of people have two rows."""
    import pyarrow
    from pyarrow import parquet

    random = np.random.default_rng(20)
    towns = np.stack([random.uniform(32, 43, 2000), random.uniform(131, 143, 2000), random.uniform(0.01, 0.08, 2000)])
    weight = 1 / np.arange(1, 2001)
    for number, start in enumerate(range(0, rows, ROWS_PER_FILE)):
        size = min(ROWS_PER_FILE, rows - start)
        town = random.choice(2000, size, p=weight / weight.sum())
        again = random.random(size) < 0.05
        table = pyarrow.table(
            {
                "id": np.where(again, random.integers(0, start + size, size), np.arange(start, start + size)),
                "lat": towns[0, town] + random.normal(0, 1, size) * towns[2, town],
                "lon": towns[1, town] + random.normal(0, 1, size) * towns[2, town],
                "sex": np.array(["f", "m"])[random.integers(0, 2, size)],
                "age": np.minimum(random.gamma(6, 8, size), 99).astype(np.int32),
            }
        )
        parquet.write_table(table, folder / f"people-{number:04d}.parquet", row_group_size=1 << 20)


def session(memory: str):
    from sudare.engines.spark_session import spark_session

    spark = spark_session(
        spark_master="local[2]",
        spark_driver_memory=memory,
        spark_ui_enabled="false",
        spark_sql_shuffle_partitions="64",
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def bare(people: Path, memory: str, out: Path) -> int:
    """The work that cannot be avoided, written for Spark by hand."""
    spark = session(memory)
    cell = "floor(lat * 240) * 100000000 + floor((lon - 100) * 160) * 1000 + (age div 5) * 2 + if(sex = 'f', 0, 1)"
    spark.read.parquet(str(people)).createOrReplaceTempView("people")
    persons = f"SELECT id, any_value({cell}) AS cell FROM people GROUP BY id"  # noqa: S608 - our own text
    spark.sql(f"SELECT cell, count(*) AS n FROM ({persons}) GROUP BY cell").write.parquet(str(out))  # noqa: S608
    return spark.read.parquet(str(out)).count()


def japan():
    import sudare as sd

    mesh = sd.Mesh("500m", rows=(7200, 11040), columns=(4480, 7360))
    return sd.Domain(mesh=mesh, sex=sd.Categories(["f", "m"]), age=sd.Bins(0, 100, step=5))


QUESTION = {"columns": {"mesh": ("lat", "lon")}, "unit": "id", "outside": "drop"}


def methods():
    import sudare as sd

    return {
        "tree": sd.Tree(),
        "top_down": sd.TopDown(),
        "simplex": sd.Simplex(),
        "negative_l2": sd.NegativeL2(),
        "nonnegative_lasso": sd.NonnegativeLasso(),
        "laplace": sd.Laplace(cut=40),
    }


def cluster(people: Path, memory: str, out: Path, method: str) -> int:
    """Counted and released in Spark."""
    import sudare as sd
    from sudare.tables import spark as cluster

    session(memory)
    start = time.perf_counter()
    table = cluster.count(sd.read(people, engine="spark"), japan(), **QUESTION)
    print(f"    counted after {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return cluster.release(table, out, methods()[method], EPSILON).nonzero_cells


def duckdb(people: Path, memory: str, out: Path) -> int:  # noqa: ARG001 - DuckDB has its own limit
    """Counted by DuckDB, released in this process."""
    import sudare as sd
    from sudare.tables.files import write

    made = sd.release(sd.read(people).count(japan(), **QUESTION), epsilon=EPSILON)
    out.mkdir()
    write(made.table, ("parquet",), out)
    return len(made.table)


class Watch(threading.Thread):
    """What this process and all below it took: the largest memory in MB by what they run, and processor time in s."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = {"java": 0.0, "python": 0.0}
        self.busy: dict[tuple[int, str], float] = {}
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.1):
            self.look()

    def look(self) -> None:
        now = dict.fromkeys(self.peak, 0.0)
        for process in processes(os.getpid()):
            now[process.kind] += process.pages * os.sysconf("SC_PAGE_SIZE") / 2**20
            self.busy[process.number, process.started] = process.ticks / os.sysconf("SC_CLK_TCK")
        self.peak = {kind: max(most, now[kind]) for kind, most in self.peak.items()}

    @property
    def processor(self) -> float:
        return sum(self.busy.values())


class Process(NamedTuple):
    """A process: java or python, when it started, processor time and resident pages so far."""

    number: int
    parent: int
    kind: str
    started: str
    ticks: int
    pages: int


def processes(root: int) -> list[Process]:
    """The process ``root`` and all below it."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name, rest = (entry / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue
            field = rest.split()
            kind = "java" if "java" in name else "python"
            ticks = int(field[11]) + int(field[12])
            found[int(entry.name)] = Process(int(entry.name), int(field[1]), kind, field[19], ticks, int(field[21]))
    below = {root}
    while more := {each.number for each in found.values() if each.parent in below} - below:
        below |= more
    return [found[number] for number in below if number in found]


def measure(way: str, people: Path, memory: str) -> None:
    """Runs one way in this process and prints what it took; the time to start Spark does not count."""
    if way != "duckdb":
        session(memory)
    watch = Watch()
    watch.look()
    before = watch.processor
    watch.start()
    with TemporaryDirectory(prefix="sudare-benchmark-") as folder:
        out = Path(folder) / "out"
        start = time.perf_counter()
        if way in METHODS:
            cells = cluster(people, memory, out, way)
        else:
            cells = {"bare": bare, "duckdb": duckdb}[way](people, memory, out)
        seconds = time.perf_counter() - start
    watch.over.set()
    watch.join()
    watch.look()
    print(json.dumps({"seconds": seconds, "processor": watch.processor - before, "cells": cells, **watch.peak}))


NAMES = {"bare": "Spark by hand", "duckdb": "DuckDB and one process"}


def compared(number: int, people: Path, ways: list[str], memory: str) -> Iterator[Row]:
    """Every way in a process of its own."""
    case = f"{number:,} rows on local[2]"
    found: dict[str, dict[str, float]] = {}
    for way in ways:
        command = [sys.executable, __file__, "--measure", way, str(people), memory]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        run = found[way] = json.loads(done.stdout.strip().splitlines()[-1])
        name = NAMES.get(way, f"Spark, {way}")
        note = f"processor time {run['processor']:.0f} s; JVM {run['java']:.0f} MB, Python {run['python']:.0f} MB; "
        note += f"{run['cells']:,} cells"
        other = None if way == "bare" else NAMES["bare"]
        yield Row(name, run["seconds"], "s", other, note, case, series=f"people, {name}", at=number)
    bare, tree = (found[way] for way in ("bare", "tree"))
    times = tree["seconds"] / bare["seconds"]
    yield Row("release over the bare group-by", times, "times", None, "goal of the reach", case, at_most=3)
    busy = tree["processor"] / bare["processor"]
    note = "which other programs on the machine hardly change"
    yield Row("the same by processor time", busy, "times", None, note, case)
    peak = max(run["java"] + run["python"] for way, run in found.items() if way in METHODS)
    yield Row("peak memory of a release in Spark", peak, "MB", case=case, at_most=24 * 1024)
    if "duckdb" in found:
        times = tree["seconds"] / found["duckdb"]["seconds"]
        note = f"Spark pays from {2 * times:.0f} cores on, or where the cells fit no single memory"
        yield Row("Spark over DuckDB on the same two cores", times, "times", None, note, case)


def rows(quick: bool, sizes: list[int], ways: list[str], memory: str, keep: str | None) -> Iterator[Row]:
    """Each size, smallest first."""
    chosen = sizes or ([10**6] if quick else [10**6, 10**7, 10**8])
    with nullcontext(keep) if keep else TemporaryDirectory(prefix="sudare-people-") as kept:
        for number in sorted(chosen):
            people = Path(kept) / str(number)
            if not people.exists():
                people.mkdir(parents=True)
                generate(people, number)
            yield from compared(number, people, ways, memory)


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]), sys.argv[4])
        return
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--rows", type=int, nargs="*", default=[])
    parser.add_argument("--all", action="store_true", help="every method that runs in a cluster")
    parser.add_argument("--memory", default="6g", help="of the JVM")
    parser.add_argument("--keep", help="a folder for the generated rows, reused where it is there")
    own, sys.argv[1:] = parser.parse_known_args()
    ways = ["bare", *(METHODS if own.all else METHODS[:1]), "duckdb"]
    run_part(lambda quick: rows(quick, own.rows, ways, own.memory, own.keep))


if __name__ == "__main__":
    main()
