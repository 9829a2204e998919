"""All kinds read a file alike: the same text, the same people, the same refusals, before anything is spent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare.engines.duckdb_engine import DuckdbEngine
from sudare.errors import InputError
from sudare.noise import Source
from sudare.workflow.job import Job
from sudare.workflow.publication import publish

COMMON = """
dataset = "people"
output = {folder = "release", key = "publisher.pem"}
report = {public = false}
data = {path = "people.csv", unit = "person", MORE}
"""
KINDS = {
    "table": """
ledger = {path = "ledger.db", cap = {epsilon = 1}}
privacy = {epsilon = 0.5}
method = {name = "simplex"}
domain.sex = {type = "categories", values = ["f", "m"]}
domain.code = {type = "categories", values = [1, 2]}
domain.age = {type = "bins", start = 0, stop = 100, step = 1}
""",
    "sample": """
ledger = {path = "ledger.db", cap = {epsilon = 5, delta = 1e-3}}
hierarchies.sex = {values = ["f", "m"]}
hierarchies.code = {values = ["1", "2"]}
hierarchies.age = {widths = [1, 10], low = 0, high = 100}
sample = {k = 20, rate = 0.1, levels = {sex = 0, code = 0, age = 1}}
""",
    "perturbation": """
ledger = {path = "ledger.db", cap = {epsilon = 50}}
columns.sex = {categories = ["f", "m"]}
columns.code = {categories = ["1", "2"]}
columns.age = {bounds = [0, 100]}
perturbation = {epsilon = 3}
""",
    "weights": """
ledger = {path = "ledger.db", cap = {epsilon = 5}}
public = {path = "public.csv"}
columns.sex = {categories = ["f", "m"]}
columns.code = {categories = ["1", "2"]}
columns.age = {bounds = [0, 100]}
weights = {epsilon = 1}
""",
}
PEOPLE = 60
WIDE = str.maketrans("0123456789", "０１２３４５６７８９")


def written(folder: Path, kind: str, rows: list[str], more: str = "") -> Path:
    """A recipe of a kind and its file of people."""
    (folder / "people.csv").write_text("person,sex,code,age\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    shown = "".join(f"{'fm'[age % 2]},{1 + age % 2},{age}\n" for age in range(20, 60))
    (folder / "public.csv").write_text(f"sex,code,age\n{shown}", encoding="utf-8")
    recipe = folder / "recipe.toml"
    recipe.write_text(f'kind = "{kind}"\n{COMMON.replace(", MORE", f", {more}" if more else "")}{KINDS[kind]}')
    return recipe


def rows(change: Callable[[int, list[str]], list[str]] = lambda _, row: row) -> list[str]:
    """One row of each person, as it may have been spelt."""
    return [",".join(change(n, [f"p{n}", "fm"[n % 2], str(1 + n % 2), str(20 + n % 40)])) for n in range(PEOPLE)]


def gathered(recipe: Path) -> Any:
    """What a kind reads, in a form that can be compared; which rows of people come first is of no importance."""
    data = Job.open(recipe).kind.gather(Source.from_seed(1))
    if hasattr(data, "to_array"):
        return data.to_array().tolist()
    if isinstance(data, dict):
        return sorted(zip(*(column.tolist() for column in data.values()), strict=True))
    if isinstance(data, list):
        return sorted(map(tuple, np.concatenate([part.codes for part in data]).tolist()))
    return sorted(zip(map(tuple, data.codes.tolist()), data.counts.tolist(), strict=True))


def spelt(place: int, row: list[str]) -> list[str]:
    """Full-width digits and letters, white space, whole numbers with a fraction of zeros."""
    person, sex, code, age = row
    return [
        (person, f" {person}", f"{person}\u3000")[place % 3],
        (sex, f" {sex}", f"{sex} ", {"f": "ｆ", "m": "ｍ"}[sex])[place % 4],
        (code, f"{code}.0", {"1": "１", "2": "２"}[code], f" {code}", f"{code}.")[place % 5],
        (age, f"{age}.0", age.translate(str.maketrans("0123456789", "０１２３４５６７８９")), f"\u3000{age}")[
            place % 4
        ],
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_read_alike(tmp_path: Path, kind: str) -> None:
    plain = gathered(written(tmp_path, kind, rows()))
    assert gathered(written(tmp_path, kind, rows(spelt))) == plain


@pytest.mark.parametrize("kind", KINDS)
def test_two_spellings_of_an_id_are_one_person(tmp_path: Path, kind: str) -> None:
    numbered = rows(lambda n, row: [str(n), *row[1:]])
    twice = rows(lambda n, row: [(f"{n}.0", f" {n} ", str(n).replace("1", "１"))[n % 3], *row[1:]])
    assert gathered(written(tmp_path, kind, [*numbered, *twice])) == gathered(written(tmp_path, kind, numbered))


@pytest.mark.parametrize("missing", ["", " ", "nan", "NULL", "None", "N/A", "<NA>"])
@pytest.mark.parametrize("kind", KINDS)
def test_people_without_an_id(tmp_path: Path, kind: str, missing: str) -> None:
    without = rows(lambda n, row: row if n % 2 else [missing, *row[1:]])
    with pytest.raises(InputError) as refusal:
        publish(written(tmp_path, kind, without))
    assert str(refusal.value) == (
        "some rows have no unit: their ids are missing (got 'person'). Correct the ids, or leave such rows out with "
        'missing_unit="drop".'
    )
    assert not (tmp_path / "release").exists()
    assert not Job.open(tmp_path / "recipe.toml").ledger.entries("people")
    half = [row for place, row in enumerate(rows()) if place % 2]
    dropped = gathered(written(tmp_path, kind, without, 'missing_unit = "drop"'))
    assert dropped == gathered(written(tmp_path, kind, half))


@pytest.mark.parametrize("kind", KINDS)
def test_ids_that_are_declared_to_be_none(tmp_path: Path, kind: str) -> None:
    without = rows(
        lambda n, row: [str(n), *row[1:]] if n % 2 else [("0", "0.0", "０", "Unknown")[n // 2 % 4], *row[1:]]
    )
    half = [row for place, row in enumerate(rows(lambda n, row: [str(n), *row[1:]])) if place % 2]
    declared = 'missing_unit = "drop", missing_unit_values = ["0", "unknown"]'
    assert gathered(written(tmp_path, kind, without, declared)) == gathered(written(tmp_path, kind, half))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_changed_is_refused_before_anything_is_spent(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = written(tmp_path, kind, rows())
    opened = DuckdbEngine.opened

    def changing(engine: DuckdbEngine, *asked: Any) -> Any:
        if engine.source.name.endswith("people.csv"):
            os.utime(tmp_path / "people.csv", ns=(1, 1))
        return opened(engine, *asked)

    monkeypatch.setattr(DuckdbEngine, "opened", changing)
    with pytest.raises(InputError, match="the file changed while it was read"):
        publish(recipe)
    assert not (tmp_path / "release").exists()
    assert not Job.open(recipe).ledger.entries("people")
