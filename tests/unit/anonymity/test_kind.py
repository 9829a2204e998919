"""Recipes of kind "sample": plan, rehearse, publish and verify a k-anonymous sample."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import sudare as sd
from recipes import changed, closing, opening
from sudare.errors import BudgetError, InputError, SudareError, VerificationError
from sudare.language.messages import PageMessage
from sudare.privacy.fingerprint import file_digest as digest
from sudare.workflow import reports as signing
from sudare.workflow.job import json_schema
from sudare.workflow.reports import canonical

RECIPE = (
    opening("sample", "survey", title="A survey")
    + """
[hierarchies.age]
widths = [1, 10, 50]
low = 0
high = 100

[hierarchies.sex]
values = ["f", "m"]

[hierarchies.town]
tree = { north = ["A", "B"], south = ["C", "D", "E"] }

[sample]
k = 10
rate = 0.2
levels = { age = 1, sex = 0, town = 1 }
"""
    + closing("epsilon = 5, delta = 1e-5", public_report=True, rehearsal="people = 3000\nrepetitions = 2")
)
LEVELS = "levels = { age = 1, sex = 0, town = 1 }"
TREE = 'tree = { north = ["A", "B"], south = ["C", "D", "E"] }'


def people(seed: int = 3) -> pa.Table:
    generator = np.random.default_rng(seed)
    rows = 4000
    return pa.table(
        {
            "person": generator.integers(0, 3000, rows),
            "age": np.minimum(generator.gamma(4, 10, rows), 99).astype(int),
            "sex": generator.choice(["f", "m"], rows),
            "town": generator.choice(list("ABCDE"), rows, p=[0.5, 0.2, 0.15, 0.1, 0.05]),
            "illness": generator.choice(["cold", "flu", "gout"], rows, p=[0.6, 0.3, 0.1]),
        }
    )


@pytest.fixture
def recipe(tmp_path: Path) -> Callable[..., Path]:
    """recipe((old, new), ...): the recipe with changes, beside its data."""
    pq.write_table(people(), tmp_path / "people.parquet")

    def written(*changes: tuple[str, str]) -> Path:
        path = tmp_path / "recipe.toml"
        path.write_text(changed(RECIPE, *changes))
        return path

    return written


def edit(folder: Path, key: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a certificate and sign it again, so that only the kind's own check can object."""
    path = folder / "release.json"
    certificate = json.loads(path.read_text())
    change(certificate)
    for name, facts in certificate["files"].items():
        facts.update(sha256=digest(folder / name), bytes=(folder / name).stat().st_size)
    private = signing.load_or_create(key)
    body = {name: value for name, value in certificate.items() if name != "signature"}
    certificate["signature"] = private.sign(canonical(body)).hex()
    path.write_text(json.dumps(certificate))


def test_publish_and_verify(recipe: Callable[..., Path]) -> None:
    made = sd.publish(recipe())
    assert made.certificate["kind"] == "sample"
    rows = pq.read_table(made.folder / "sample.parquet")
    assert rows.column_names == ["age", "sex", "town"]
    counted = rows.group_by(rows.column_names).aggregate([([], "count_all")])
    assert min(counted.column("count_all").to_pylist()) >= 10
    assert csv.read_csv(made.folder / "sample.csv").num_rows == rows.num_rows
    assert made.release.guarantee.notion == "(epsilon, delta)-DP"
    assert str(made.release.guarantee.unit) == "person with at most 1 row"
    assert made.balance.releases == 1
    checked = sd.verify(made.folder, publisher=made.folder.parent / "publisher.pem")
    assert checked.ok
    assert "sample.csv: every combination of age, sex, town is in at least 10 rows" in map(str, checked.checks)
    assert made.left_out == ()
    public = "".join(path.read_text() for path in made.folder.glob("*.html")) + json.dumps(made.certificate)
    for word in ("suppressed share", "journalist", "evaluated epsilon", "unique before"):
        assert word not in public


def test_the_internal_report_has_what_the_public_one_must_not(recipe: Callable[..., Path]) -> None:
    made = sd.publish(recipe(("[output]", "[report]\ninternal = true\n\n[output]")))
    assert made.internal_report is not None
    text = made.internal_report.read_text()
    for word in ("suppressed share", "journalist risk", "evaluated epsilon"):
        assert word in text


def test_requirements_are_verified_from_the_bytes(recipe: Callable[..., Path]) -> None:
    path = recipe(
        (LEVELS, 'method = "mondrian"'),
        ("k = 10\nrate = 0.2", "k = 5"),
        ('title = "A survey"', 'title = "A survey"\naccept_no_guarantee = true'),
        (
            "[ledger]",
            '[[require]]\ntype = "distinct"\ncolumn = "illness"\nl = 2\n\n'
            '[[require]]\ntype = "entropy"\ncolumn = "illness"\nl = 1.5\n\n'
            '[[require]]\ntype = "closeness"\ncolumn = "illness"\nt = 0.3\nordered = true\n\n[ledger]',
        ),
    )
    made = sd.publish(path)
    assert made.release.guarantee.notion == "k-anonymity"
    checks = [str(check) for check in sd.verify(made.folder).checks]
    for said in ("distinct 2-diversity", "entropy 1.5-diversity", "0.3-closeness"):
        assert f"sample.parquet: {said} of illness in every combination" in checks
    key = made.folder.parent / "publisher.pem"
    stricter = [
        ({"type": "distinct", "column": "illness", "l": 4}, "the sample does not satisfy distinct 4-diversity"),
        ({"type": "entropy", "column": "illness", "l": 3}, "the sample does not satisfy entropy 3-diversity"),
        ({"type": "closeness", "column": "illness", "t": 0.001}, "the sample does not satisfy 0.001-closeness"),
    ]
    for wanted, message in stricter:
        edit(made.folder, key, lambda c, wanted=wanted: c["sample"].update(requirements=[wanted]))
        with pytest.raises(VerificationError, match=message):
            sd.verify(made.folder)


def test_tampered_rows_are_caught(recipe: Callable[..., Path]) -> None:
    made = sd.publish(recipe())
    key, path = made.folder.parent / "publisher.pem", made.folder / "sample.parquet"
    rows = pq.read_table(path)
    # One row moved into a class of its own.
    alone = pa.table(
        {**{name: rows.column(name) for name in ("age", "sex")}, "town": ["west", *rows["town"].to_pylist()[1:]]}
    )
    pq.write_table(alone, path)
    edit(made.folder, key, lambda c: None)
    with pytest.raises(VerificationError, match="a combination of values is in fewer rows than k"):
        sd.verify(made.folder)
    # A column more than was certified.
    pq.write_table(rows.append_column("person", pa.array(range(rows.num_rows))), path)
    edit(made.folder, key, lambda c: None)
    with pytest.raises(VerificationError, match="other columns than the certified ones"):
        sd.verify(made.folder)
    # Rows left out of a class that still has enough.
    largest = rows.group_by(rows.column_names).aggregate([([], "count_all")]).sort_by([("count_all", "descending")])
    target = {name: largest.column(name)[0].as_py() for name in rows.column_names}
    place = next(number for number, row in enumerate(rows.to_pylist()) if row == target)
    pq.write_table(pa.concat_tables([rows.slice(0, place), rows.slice(place + 1)]), path)
    edit(made.folder, key, lambda c: None)
    with pytest.raises(VerificationError, match="the sample's records is not the certified one"):
        sd.verify(made.folder)
    # A certificate that says nothing.
    pq.write_table(rows, path)
    edit(made.folder, key, lambda c: c.pop("sample"))
    with pytest.raises(VerificationError, match="the certificate states no valid sample"):
        sd.verify(made.folder)


def test_plan_touches_nothing_private(recipe: Callable[..., Path]) -> None:
    path = recipe()
    (path.parent / "people.parquet").unlink()
    made = sd.plan(path)
    assert made.details["k"] == 10
    assert str(made.outlook.facts["generalisation"]) == "fixed: age 1, sex 0, town 1"
    assert made.guarantee.epsilon is not None
    assert any("not there yet" in str(remark) for remark in made.remarks)
    rows = {(str(row["measure"]), str(row["basis"])): row["value"] for row in made.errors}
    assert rows["prosecutor risk", "at most"] == 0.1
    assert 0 < rows["ncp with suppressed", "rehearsed"] < 1
    json.dumps(made.to_json())


def test_rehearse_on_synthetic_and_on_public_records(recipe: Callable[..., Path]) -> None:
    made = sd.rehearse(recipe())
    assert str(made.basis) == "3,000 synthetic records"
    assert made.repetitions == 2
    assert made.release.guarantee.notion == "none: seeded"
    assert "suppressed share" in {str(row["measure"]) for row in made.errors}
    json.dumps(made.to_json())
    path = recipe(("people = 3000", 'path = "public.parquet"'))
    pq.write_table(people(4), path.parent / "public.parquet")
    assert str(sd.rehearse(path).basis) == "the public records public.parquet"


@pytest.mark.slow
def test_learned_on_a_public_file(recipe: Callable[..., Path]) -> None:
    path = recipe((LEVELS, 'learn_on = "public.parquet"'))
    with pytest.raises(InputError, match="there is no such file"):
        sd.publish(path)
    assert not (path.parent / "ledger.db").exists()  # nothing was spent
    pq.write_table(people(4).drop_columns("person"), path.parent / "public.parquet")
    assert str(sd.plan(path).outlook.facts["generalisation"]).startswith("learned on public records: age ")
    assert sd.verify(sd.publish(path).folder).ok


def test_a_charged_choice(recipe: Callable[..., Path]) -> None:
    path = recipe((LEVELS, "choose_epsilon = 0.25"))
    assert sd.plan(path).outlook.facts["generalisation"] == PageMessage("origin.chosen", epsilon="0.25")
    made = sd.publish(path)
    fixed = sd.plan(recipe(("release", "second"))).guarantee
    assert float(made.release.guarantee.epsilon) == pytest.approx(float(fixed.epsilon) + 0.25)


def test_k_anonymity_alone_must_be_accepted(recipe: Callable[..., Path]) -> None:
    path = recipe((LEVELS, 'method = "passes"'))
    with pytest.raises(BudgetError, match="cannot be counted against a cap"):
        sd.publish(path)
    assert str(sd.plan(path).outlook.facts["generalisation"]).endswith("k-anonymity alone")
    made = sd.publish(
        recipe((LEVELS, 'method = "passes"'), ('dataset = "survey"', 'dataset = "survey"\naccept_no_guarantee = true'))
    )
    assert made.balance.unbounded == 1


def test_hierarchies_in_every_way(recipe: Callable[..., Path]) -> None:
    path = recipe(
        ("widths = [1, 10, 50]\nlow = 0\nhigh = 100", "edges = [[0, 20, 40, 60, 100], [0, 40, 100]]"),
        (TREE, 'file = "town.csv"\ndelimiter = ","'),
    )
    (path.parent / "town.csv").write_text("A,north,*\nB,north,*\nC,south,*\nD,south,*\nE,south,*\n")
    rows = sd.publish(path).release.records
    assert set(rows.column("age").to_pylist()) <= {"0-39", "40-99"}
    assert set(rows.column("town").to_pylist()) <= {"north", "south"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("values = [", 'file = "sex.csv"\nvalues = ['),
            "hierarchies.sex: declare a hierarchy in exactly one way: file, values",
        ),
        (("high = 100", ""), "hierarchies.age: widths, low and high must be given together"),
        (("rate = 0.2", "rate = 1"), "the sampling rate is not between 0 and 1"),
        (("rate = 0.2", ""), "sample is missing: without sampling there is no differential privacy"),
        (("k = 10", "k = 1"), "k is not a whole number from 2 on (got 1)"),
        (("k = 10", "kk = 10"), "unknown key sample.kk in the recipe"),
        ((LEVELS, ""), "anonymize needs exactly one source of the generalisation"),
        ((LEVELS, "levels = { age = 1 }"), "levels lacks a column (got 'sex'"),
        (('unit = "person"', 'unit = "person"\nmax_rows = 2'), "the recipe: a sample takes one row of each person"),
        (
            ('tree = { north = ["A", "B"], south = ["C", "D", "E"] }', 'file = "none.csv"'),
            "there is no such hierarchy file",
        ),
        (
            ("[ledger]", '[[require]]\ntype = "distinct"\ncolumn = "illness"\nt = 0.2\n\n[ledger]'),
            "a requirement of kind distinct takes other numbers",
        ),
    ],
)
def test_recipes_with_a_mistake(recipe: Callable[..., Path], change: tuple[str, str], message: str) -> None:
    with pytest.raises(SudareError) as refused:
        sd.plan(recipe(change))
    assert str(refused.value).startswith(message)


def test_the_schema_knows_the_kind() -> None:
    schema = json_schema()
    assert "SampleRecipe" in schema["$defs"]
