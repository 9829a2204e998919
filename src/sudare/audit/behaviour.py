"""Behaviour: what a run shows beside its release must not depend on who is in the data.

Neighbours that hold the same kind of mistake must be answered alike: all taken (weights move a number to its bounds),
or all refused with one sentence in which nothing private stands. What is written has the same names, columns and types
whether the data are empty or full. (That sizes and order depend on nothing but the release is in the replay: with the
noise frozen, nobody's and everybody's data give the same bytes after the same calls.)

`timings` measures what an observer of the machine sees: time and memory of a run. They are reported, and nothing bounds
them. Runs of neighbours alternate, so that other load on the machine affects all of them alike. Beside the median
stands how often a run of the neighbour was slower than the run before it: one half means that time shows nothing.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sudare.audit.cases import COLUMNS, DOMAIN, METHODS, PRIVATE, UNIT, RecipeCase, exchanged, recipe_text, table_case
from sudare.audit.finding import Finding, Said, Wanted, Watched, every, said
from sudare.audit.laws import encoding_of
from sudare.audit.neighbours import ODD, Row, World, ordinary, strangers, write_public, write_rows
from sudare.audit.releases import NeighbourData, files_of
from sudare.errors import SudareError
from sudare.local import ENCODINGS
from sudare.noise import Source
from sudare.recipe.kind import Kind
from sudare.workflow.job import Job


def watched() -> World:
    """A data set, and others with one person more: ordinary, alone in a cell, with many rows; and with many people."""
    people = ordinary(200, 6)
    many: list[Row] = [(9009, place % 16 + 0.5, "f") for place in range(20_000)]
    return {
        "200 people": people,
        "one person more": [*people, (9014, 2.5, "f")],
        "a person alone in a cell": [*people, *ODD["a person alone in a cell"]],
        "a person with 20,000 rows": [*people, *many],
        "20,000 people": ordinary(20_000, 6),
    }


def timings(folder: Path, times: int) -> dict[str, Watched]:
    """Processor seconds and memory of a release, from the file to the files, for each data set.

    Memory is the peak of Python's objects and NumPy's arrays; the engine keeps its own, which is not in it.
    """
    (folder / "timed.toml").write_text(table_case("tree", "epsilon = 1", 1).text(), encoding="utf-8", newline="\n")
    job = Job.open(folder / "timed.toml").kind
    world = watched()
    paths = {name: folder / f"watched {place}.parquet" for place, name in enumerate(world)}
    for name, path in paths.items():
        write_rows(world[name], path)
    taken = np.array([[_seconds(job, folder, path) for path in paths.values()] for _ in range(times)])
    found = {}
    for place, (name, path) in enumerate(paths.items()):
        tracemalloc.start()
        _seconds(job, folder, path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        slower = float(np.mean(taken[:, place] > taken[:, 0])) if place else None
        low, middle, high = np.quantile(taken[:, place], [0.1, 0.5, 0.9]).tolist()
        found[name] = Watched((low, middle, high), peak / 2**20, times, slower)
    return found


def _seconds(job: Kind[Any, Any], folder: Path, path: Path) -> float:
    (folder / PRIVATE).write_bytes(path.read_bytes())
    # Of the processor: what else the machine does is not in it, so that this is more than a clock on the wall tells.
    start, source = time.process_time(), Source.system()
    job.write(job.protect(job.gather(source), source), folder)
    return time.process_time() - start


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
    return {
        "table": table,
        "perturbation": recipe_text("perturbation", "", COLUMNS, "[perturbation]\nepsilon = 1\n"),
        "sample": recipe_text("sample", "", _TREES, "[sample]\nk = 2\nrate = 0.5\nlevels = { x = 1, sex = 1 }\n"),
        "weights": recipe_text("weights", "", COLUMNS, '[weights]\nepsilon = 1\n[public]\npath = "public.parquet"\n'),
    }


def refusal(job: Kind[Any, Any], folder: Path, rows: list[Row]) -> SudareError | None:
    """The error by which data are refused, its path relative to the folder; None where they are taken."""
    write_rows(rows, folder / PRIVATE)
    try:
        source = Source.system()
        job.protect(job.gather(source), source)
    except SudareError as mistake:
        if mistake.given is not None:
            mistake.given = mistake.given.replace(f"{folder.resolve()}/", "")
        return mistake
    return None


def answer_finding(name: str, answers: Sequence[SudareError | None], taken: bool) -> Finding:
    """Whether all ``answers`` are the same, without a private value; None means that the data are ``taken``."""
    different = {"" if one is None else f"{type(one).__name__}: {one}": one for one in answers}
    told = [secret for secret in SECRETS if any(secret in sentence for sentence in different)]
    passed = len(different) == 1 and not told and ("" in different) == taken
    seen: Said
    answer = answers[0]
    if not passed:
        seen = said("seen_answers", answers=str(len(different)), private=str(len(told)))
    else:
        seen = said("seen_taken") if answer is None else said("seen_answer", answer=answer)
    return Finding("behaviour", name, passed, len(answers), seen, said("allowed_answer"))


def refusal_findings(folder: Path, wanted: Wanted = every) -> Iterator[Finding]:
    """For each kind and fault: neighbours with the fault are refused alike, and the sentence shows nothing."""
    people = ordinary(30, 5)
    write_public(folder, people)
    for kind, text in strict_recipes().items():
        (folder / "strict.toml").write_text(text, encoding="utf-8", newline="\n")
        job = Job.open(folder / "strict.toml").kind
        for fault, (one, other) in FAULTS.items():
            if wanted("behaviour", f"{kind}, {fault}"):
                data = ([*people, one], [one, *people[3:]], [*people, other, one])
                answers = [refusal(job, folder, rows) for rows in data]
                yield answer_finding(f"{kind}, {fault}", answers, (kind, fault) in TAKEN)
    for name in ENCODINGS:
        answers = list[SudareError | None]()
        for values in ([0, 7654321], [-1, 3, 2], [2, 10]):
            try:
                encoding_of(name, 9, Fraction(1)).randomize(values)
                answers.append(None)
            except SudareError as mistake:
                answers.append(mistake)
        yield answer_finding(f"reports, {name}, a value outside", answers, taken=False)


def layout_findings(folder: Path) -> Iterator[Finding]:
    """For each method: names of files, columns and their types, for empty, thin and full data."""
    import pyarrow.parquet as pq

    people: World = {"one row": [(1, 9.5, "m")], **strangers()}
    some = {name: rows for name, rows in people.items() if rows}
    readings = {"table": NeighbourData(folder, people), "perturbation": NeighbourData(folder, some)}
    chosen = [table_case(method, "epsilon = 1", 1) for method in METHODS]
    chosen.append(RecipeCase("perturbation", "", COLUMNS, "[perturbation]\nepsilon = 1\n", exchanged))
    for case in chosen:
        (folder / "layout.toml").write_text(case.text(), encoding="utf-8", newline="\n")
        job, found, seen = Job.open(folder / "layout.toml").kind, readings[case.kind], set()
        for name in found.rows:
            files = files_of(job.write(job.protect(found.gather(job, name), Source.system()), folder))
            schemas = [str(pq.read_schema(path).remove_metadata()) for path in files if path.suffix == ".parquet"]
            headers = [path.read_text(encoding="utf-8").splitlines()[0] for path in files if path.suffix == ".csv"]
            seen.add((*(path.name for path in files), *schemas, *headers))
        shown = said("seen_layouts", layouts=str(len(seen)))
        yield Finding(
            "behaviour", f"{case.name}, layout", len(seen) == 1, len(found.rows), shown, said("allowed_layout")
        )
