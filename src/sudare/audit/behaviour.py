"""Behaviour: what a run shows beside its release must not depend on who is in the data.

Neighbours that hold the same kind of mistake must be answered alike: all taken (weights move a number to its bounds),
or all refused with one sentence in which nothing private stands. What is written has the same names, columns and types
whether the data are empty or full. Timing is measured and stated, without a bound: the time to count and protect grows
with the number of rows and of populated cells.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sudare.audit.finding import Finding
from sudare.audit.neighbours import Row, frame, ordinary
from sudare.audit.releases import (
    COLUMNS,
    DOMAIN,
    METHODS,
    PRIVATE,
    UNIT,
    Readings,
    files_of,
    recipe_text,
    record_case,
    table_case,
)
from sudare.errors import SudareError
from sudare.noise import Source
from sudare.publish.job import Job
from sudare.publish.kinds import KINDS

_TREES = '[hierarchies.x]\nlow = 0\nhigh = 16\nwidths = [4]\n[hierarchies.sex]\nvalues = ["f", "m"]\n'
SECRETS = ("7654321", "8765432.125", "9876543.375", "wordone", "wordtwo")
"""What stands in the faulty rows and must not stand in a message."""

FAULTS: dict[str, tuple[Row, Row]] = {
    "a value outside": ((7654321, 8765432.125, "f"), (12, 9876543.375, "m")),
    "not a number": ((7654321, float("nan"), "f"), (12, float("nan"), "m")),
    "a missing value": ((7654321, None, "f"), (12, None, "m")),
    "a category that is not declared": ((7654321, 3.5, "wordone"), (12, 9.5, "wordtwo")),
}
"""A faulty row, and another one with the same fault."""

TAKEN = {("weights", "a value outside")}
"""What a kind documents to take as it is: weights move a number to its declared bounds. All else must be refused."""


def strict_recipes() -> dict[str, str]:
    """A recipe of each kind that refuses what lies outside."""
    table = recipe_text("table", UNIT.format(rows=1) + 'outside = "error"\n', DOMAIN, "[privacy]\nepsilon = 1\n")
    found = {
        "table": table,
        "perturbation": recipe_text("perturbation", "", COLUMNS, "[perturbation]\nepsilon = 1\n"),
        "sample": recipe_text("sample", "", _TREES, "[sample]\nk = 2\nrate = 0.5\nlevels = { x = 1, sex = 1 }\n"),
        "weights": recipe_text("weights", "", COLUMNS, '[weights]\nepsilon = 1\n[public]\npath = "public.parquet"\n'),
    }
    return {kind: text for kind, text in found.items() if kind in KINDS}


def refusal(job: Job[Any, Any], folder: Path, rows: list[Row]) -> str:
    """The sentence with which data are refused; empty where they are not."""
    import pyarrow.parquet as pq

    pq.write_table(frame(rows), folder / PRIVATE)
    try:
        source = Source.system()
        job.protect(job.gather(source), source)
    except SudareError as mistake:
        return f"{type(mistake).__name__}: {mistake}".replace(f"{folder.resolve()}/", "")
    return ""


def refusal_findings(folder: Path) -> Iterator[Finding]:
    """For each kind and fault: neighbours with the fault are refused alike, and the sentence shows nothing."""
    import pyarrow.parquet as pq

    people = ordinary(30, 5)
    pq.write_table(frame(people).drop_columns(["person"]), folder / "public.parquet")
    for kind, text in strict_recipes().items():
        (folder / "strict.toml").write_text(text, encoding="utf-8")
        job = Job.open(folder / "strict.toml")
        for fault, (one, other) in FAULTS.items():
            data = ([*people, one], [one, *people[3:]], [*people, other, one])
            said = {refusal(job, folder, rows) for rows in data}
            told = [secret for secret in SECRETS if any(secret in sentence for sentence in said)]
            expected = ("" in said) == ((kind, fault) in TAKEN)
            passed = len(said) == 1 and not told and expected
            figure = (
                min(said) or "all taken" if passed else f"{len(said)} sentences, {len(told)} private values in them"
            )
            yield Finding("behaviour", f"{kind}, {fault}", passed, len(data), figure, "one answer, nothing private")


def layout_findings(folder: Path) -> Iterator[Finding]:
    """For each method: names of files, columns and their types, for empty, thin and full data."""
    import pyarrow.parquet as pq

    full: list[Row] = [(place, place % 16 + 0.5, "fm"[place // 16 % 2]) for place in range(640)]
    people: dict[str, list[Row]] = {"empty": [], "one row": [(1, 9.5, "m")], "full": full}
    some = {name: rows for name, rows in people.items() if rows}
    readings = {"table": Readings(folder, people), "perturbation": Readings(folder, some)}
    chosen = [table_case(method, "epsilon = 1", 1) for method in METHODS]
    chosen += [record_case("perturbation", "[perturbation]\nepsilon = 1\n")]
    for case in chosen:
        (folder / "layout.toml").write_text(case.text(), encoding="utf-8")
        job, found, seen = Job.open(folder / "layout.toml"), readings[case.kind], set()
        for name in found.rows:
            files = files_of(job.write(job.protect(found.gather(job, name), Source.system()), folder))
            schemas = [str(pq.read_schema(path).remove_metadata()) for path in files if path.suffix == ".parquet"]
            headers = [path.read_text(encoding="utf-8").splitlines()[0] for path in files if path.suffix == ".csv"]
            seen.add((*(path.name for path in files), *schemas, *headers))
        figure = "one layout" if len(seen) == 1 else f"{len(seen)} layouts"
        yield Finding("behaviour", f"{case.name}, layout", len(seen) == 1, len(found.rows), figure, "one layout")


def timings(folder: Path, times: int) -> dict[str, str]:
    """Seconds and memory that a release of two neighbours takes, from the file to the files; no bound.

    Memory is the peak of Python's objects and NumPy's arrays; the engine keeps its own, which is not in it.
    """
    import pyarrow.parquet as pq

    case = table_case("tree", "epsilon = 1", 1)
    (folder / "timed.toml").write_text(case.text(), encoding="utf-8")
    job = Job.open(folder / "timed.toml")
    people = ordinary(200, 6)
    many: list[Row] = [(9009, place % 16 + 0.5, "f") for place in range(20_000)]
    found = {}
    for name, rows in {"a data set": people, "with a person of 20,000 rows": [*people, *many]}.items():
        pq.write_table(frame(rows), folder / PRIVATE)
        taken = [_seconds(job, folder) for _ in range(times)]
        tracemalloc.start()
        _seconds(job, folder)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        spread = f"{min(taken):.4f} to {max(taken):.4f}"
        found[name] = f"{np.median(taken):.4f} s (median of {times}; {spread}), {peak / 2**20:.2f} MiB"
    return found


def _seconds(job: Job[Any, Any], folder: Path) -> float:
    start, source = time.perf_counter(), Source.system()
    job.write(job.protect(job.gather(source), source), folder)
    return time.perf_counter() - start
