"""Sources that change while a publication reads them: it is of the file before or of the file after, or it is refused.

Another process publishes with so little noise that the table is the exact count, and at a random moment its source is
replaced, rewritten in place, appended to or cut off. What comes out must be the table of one of the two contents, under
the fingerprint of that one; a refusal is a sentence and has spent nothing. 8 moments, 100 in the full form.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from fault_processes import Nursery

import sudare as sd
from sudare.privacy import Ledger
from sudare.workflow.job import Job
from sudare.workflow.public_sources import Sources

CANARY = "canary-of-nobody"
RECIPE = """
dataset = "village"
data = {path = "PEOPLE", unit = "person"}
domain.sex = {type = "categories", values = ["f", "m"]}
method = {name = "laplace"}
privacy = {epsilon = 60}
ledger = {path = "ledger.db", cap = {epsilon = 1000000}, confirm_same_data = true}
output = {folder = "release", key = "publisher.pem", formats = ["csv"]}
report = {public = false}
"""
IMPORTS = """
import sudare, duckdb, pyarrow.parquet, pyarrow.csv, pyarrow.compute, narwhals, sudare.workflow, sudare.tables.kind
"""
PUBLISH = """
import sys, warnings
from pathlib import Path
import sudare
recipe, said = words
warnings.simplefilter("ignore")
try:
    sudare.publish(recipe, progress=lambda now: Path(said).with_name(f"stage-{now.stage}").touch())
except sudare.errors.SudareError as refusal:
    Path(said).write_text(f"{type(refusal).__name__}: {refusal}")
"""
ROWS = 60_000


def people(rows: int, share: int, start: int = 0) -> pa.Table:
    """So many, of whom every ``share``-th is a woman; their numbers begin at ``start``."""
    sexes = ["f" if number % share == 0 else "m" for number in range(rows)]
    return pa.table({"person": [f"{CANARY}-{start + number}" for number in range(rows)], "sex": sexes})


def as_csv(table: pa.Table, path: Path) -> Path:
    pc.write_csv(table, path)
    return path


def as_folder(table: pa.Table, path: Path) -> Path:
    path.mkdir()
    third = len(table) // 3
    for part in range(3):
        pq.write_table(table.slice(part * third, third), path / f"part-{part}.parquet")
    return path


def replaced(source: Path) -> None:
    file = source if source.is_file() else source / "part-1.parquet"
    other = file.with_name(f".{file.name}.new")
    writes = pc.write_csv if file.suffix == ".csv" else pq.write_table
    writes(people(ROWS // 2, 5, ROWS), other)
    other.replace(file)


def rewritten(source: Path) -> None:
    if source.is_dir():
        pq.write_table(people(ROWS // 3, 7, ROWS), source / "part-2.parquet")
    else:
        content = source.read_bytes().replace(b'"f"', b'"m"')
        with source.open("r+b") as file:
            file.write(content)


def grown(source: Path) -> None:
    if source.is_dir():
        pq.write_table(people(500, 1, ROWS), source / "part-9.parquet")
    else:
        with source.open("ab") as file:
            file.write(b"".join(f'"{CANARY}-new-{number}","f"\n'.encode() for number in range(500)))


def cut(source: Path) -> None:
    if source.is_dir():
        (source / "part-0.parquet").unlink()
    else:
        with source.open("r+b") as file:
            file.truncate(source.read_bytes().index(b"\n", source.stat().st_size // 2) + 1)


def counted(source: Path) -> Counter[str]:
    """Women and men of a source as it is now."""
    files = sorted(source.glob("*.parquet")) if source.is_dir() else [source]
    tables = [pq.read_table(file) if source.is_dir() else pc.read_csv(file) for file in files]
    return Counter(sex for table in tables for sex in table["sex"].to_pylist())  # one row a person


def fingerprint(recipe: Path) -> object:
    return Sources.of(Job.open(recipe)).fingerprint.to_json()


@pytest.fixture(scope="module")
def nursery():
    with Nursery(IMPORTS, PUBLISH) as made:
        yield made


def wait_for(path: Path, process: int) -> None:
    while not path.exists() and Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
        time.sleep(0.0005)


def attempt(folder: Path, nursery: Nursery, source: Path, change: Callable[[Path], None], pause: float) -> str:
    """One publication with one change, ``pause`` seconds after it begins to read; what became of it."""
    recipe, said, ledger = folder / "recipe.toml", folder / "said", Ledger(folder / "ledger.db")
    for left in (said, *folder.glob("stage-*")):
        left.unlink(missing_ok=True)
    shutil.rmtree(folder / "release", ignore_errors=True)
    before = counted(source), fingerprint(recipe)
    rows = ledger.entries()
    nursery.start(recipe, said)
    wait_for(folder / "stage-reading", nursery.process)
    time.sleep(pause)
    change(source)
    assert nursery.wait() == 0
    after = counted(source), fingerprint(recipe)
    assert before != after
    if said.exists():
        sentence = said.read_text()
        assert sentence.startswith("InputError: "), sentence
        assert CANARY not in sentence
        assert "\n" not in sentence
        assert not (folder / "release").exists()
        assert ledger.entries() == rows
        assert not (folder / "ledger.db.pending").exists()
        assert not list(folder.glob(".*.partial-*"))
        return "refused"
    sd.verify(folder / "release")
    table = pc.read_csv(folder / "release" / "table.csv")
    found = dict(zip(table["sex"].to_pylist(), table["count"].to_pylist(), strict=True))
    (booked,) = ledger.entries()[-1].content["sources"]
    assert (Counter(found), booked) in (before, after), (found, before, after)
    return "of the content before" if (Counter(found), booked) == before else "of the content after"


def test_a_source_that_changes_at_any_moment_is_published_whole_or_refused(tmp_path, nursery, full):
    dice = random.Random() if full else random.Random(17)  # noqa: S311 - when to change, not what to hide
    results: Counter[str] = Counter()
    kinds = [(write, change) for change in (replaced, rewritten, grown, cut) for write in (as_csv, as_folder)]
    longest: dict[Callable[..., Path], float] = {}
    for turn in range(100 if full else 8):
        write, change = kinds[turn % 8]
        folder = tmp_path / write.__name__
        folder.mkdir(exist_ok=True)
        name = "people.csv" if write is as_csv else "people"
        (folder / "recipe.toml").write_text(RECIPE.replace("PEOPLE", name))
        source = folder / name
        if source.is_dir():
            shutil.rmtree(source)
        source = write(people(ROWS, 3), source)
        if write not in longest:  # how long it takes from the first look at the records to the release
            nursery.start(folder / "recipe.toml", folder / "said")
            wait_for(folder / "stage-reading", nursery.process)
            begun = time.perf_counter()
            assert nursery.wait() == 0
            assert not (folder / "said").exists()
            longest[write] = time.perf_counter() - begun
        results[attempt(folder, nursery, source, change, dice.uniform(0, longest[write]))] += 1
    print(f"{turn + 1} changes of sources: {json.dumps(results)}")
    assert results["refused"]
