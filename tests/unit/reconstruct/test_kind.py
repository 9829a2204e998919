"""Perturbed records from a recipe: planned, rehearsed, published, verified; every mistake one sentence."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare as sd
from recipes import RecipeFolder, closing, opening
from sudare.errors import BudgetError, PaidError, RecipeError, VerificationError
from sudare.noise import Source, record
from sudare.workflow.job import Job
from sudare.workflow.reports import canonical, load_or_create

RECIPE = (
    opening("perturbation", "staff", title="Ages and sexes", path="staff.parquet", unit=False)
    + """
[columns.age]
bounds = [17, 90]

[columns.sex]
categories = ["f", "m"]

[perturbation]
k = 2
records = 600
"""
    + closing("epsilon = 10", rehearsal="repetitions = 2")
)


class Office(RecipeFolder):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, RECIPE)
        rng = np.random.default_rng(1)
        self.people = {
            "person": np.arange(600) // 2,
            "age": rng.integers(18, 70, 600),
            "sex": rng.choice(["f", "m"], 600),
        }
        pq.write_table(pa.table(self.people), folder / "staff.parquet")


@pytest.fixture
def office(tmp_path):
    return Office(tmp_path)


def test_a_release_is_published_verified_and_charged(office):
    made = sd.publish(office.recipe)
    assert made.release.guarantee.notion == "Pk-anonymity"
    assert float(made.release.guarantee.epsilon) == pytest.approx(np.log(599) / 2)
    assert made.balance.spent.epsilon == made.release.guarantee.epsilon
    assert sorted(path.name for path in made.folder.iterdir()) == [
        "datapackage.json",
        "records.csv",
        "records.parquet",
        "release.json",
    ]
    rows = pq.read_table(made.folder / "records.parquet")
    assert rows.column_names == ["age", "sex"]
    assert rows.num_rows == 600
    checked = sd.verify(made.folder)
    assert any(check.key == "verified.grid" for check in checked.checks)
    certificate = json.loads((made.folder / "release.json").read_text(encoding="utf-8"))
    assert certificate["perturbation"]["columns"]["age"]["bounds"] == [17, 90]


@pytest.mark.parametrize("noise", ["laplace", "square_wave"])
def test_a_replaced_record_gives_the_same_files_under_replay(office, noise):
    job = Job.open(office.change(("k = 2", f'k = 2\nnoise = "{noise}"')))
    neighbour = {name: column.copy() for name, column in office.people.items()}
    neighbour["age"][5], neighbour["sex"][5] = 90, "f"
    files = []
    with record() as tape:
        made = job.kind.protect(job.kind.gather(Source.system()), Source.system())
    for people in (office.people, neighbour):
        pq.write_table(pa.table(people), office.folder / "staff.parquet")
        with record(replay=tape):
            made = job.kind.protect(job.kind.gather(Source.system()), Source.system())
        job.kind.write(made, office.folder)
        files.append((office.folder / "records.parquet").read_bytes())
    assert files[0] == files[1]


def test_rows_of_a_person_are_charged_and_files_without_types_are_read(office):
    lines = [f"{person},{age},{sex}" for person, age, sex in zip(*office.people.values(), strict=True)]
    (office.folder / "staff.csv").write_text("person,age,sex\n" + "\n".join(lines), encoding="utf-8")
    recipe = office.change(
        ('path = "staff.parquet"', 'path = "staff.csv"\nunit = "person"\nmax_rows = 2'),
        ("k = 2\nrecords = 600", "epsilon = 3"),
    )
    made = sd.publish(recipe)
    assert made.release.guarantee.epsilon == 3
    assert made.release.row_epsilon * 2 == 3
    assert made.release.rows == 600
    sd.verify(made.folder)


def test_one_row_of_a_person(office):
    recipe = office.change(
        ('path = "staff.parquet"', 'path = "staff.parquet"\nunit = "person"'), ("records = 600", "records = 300")
    )
    assert sd.publish(recipe).release.rows == 300


@pytest.mark.slow
def test_plan_and_rehearsal_tell_how_well_distributions_are_recovered(office):
    planned = sd.plan(office.recipe)
    assert [row["column"] for row in planned.errors] == ["age", "sex"]
    assert planned.errors[0]["scale"] == pytest.approx(2 * 73 / (np.log(599) / 2))
    rehearsed = sd.rehearse(office.recipe)
    assert rehearsed.repetitions == 2
    assert all(50 < row["l1_accuracy"] <= 100 for row in rehearsed.errors)
    assert not (office.folder / "ledger.db").exists()


def test_tampering_is_found(office):
    made = sd.publish(office.recipe)
    rows = pq.read_table(made.folder / "records.parquet")
    ages = rows.column("age").to_numpy().copy()
    ages[0] += 0.00001
    pq.write_table(rows.set_column(0, "age", pa.array(ages)), made.folder / "records.parquet")
    with pytest.raises(VerificationError, match="differs from the one that was certified"):
        sd.verify(made.folder)
    # Signed again by the publisher, it is still no value that the noise gives.
    path = made.folder / "release.json"
    certificate = json.loads(path.read_text(encoding="utf-8"))
    from sudare.privacy.fingerprint import file_digest as digest

    certificate["files"]["records.parquet"] |= {
        "sha256": digest(made.folder / "records.parquet"),
        "bytes": (made.folder / "records.parquet").stat().st_size,
    }
    del certificate["signature"]
    key = load_or_create(office.folder / "publisher.pem")
    path.write_text(json.dumps({**certificate, "signature": key.sign(canonical(certificate)).hex()}), encoding="utf-8")
    with pytest.raises(VerificationError, match="holds a value that its noise cannot produce"):
        sd.verify(made.folder)


@pytest.mark.parametrize(
    ("change", "kind", "sentence"),
    [
        (("records = 600", ""), RecipeError, "k needs records"),
        (("k = 2", "k = 2\nepsilon = 1"), RecipeError, "give k or epsilon"),
        (("bounds = [17, 90]", ""), RecipeError, "either bounds or categories"),
        (("bounds = [17, 90]", "bounds = [90, 17]"), sd.SudareError, "bounds are not in order"),
        (("bounds = [17, 90]", "bounds = [17, 90]\nshare = 2"), RecipeError, "for every column or for none"),
        (("[perturbation]", "[perturbation]\nnoize = 1"), RecipeError, "unknown key perturbation.noize"),
        (("k = 2", "k = 600"), sd.SudareError, "k is out of range"),
    ],
)
def test_a_wrong_recipe_is_one_sentence(office, change, kind, sentence):
    with pytest.raises(kind, match=sentence):
        Job.open(office.change(change))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("records = 600", "records = 599"), "another number of rows"),
        (("bounds = [17, 90]", "bounds = [30, 90]"), "outside its declared bounds"),
        (('categories = ["f", "m"]', 'categories = ["f", "x"]'), "not one of the declared categories"),
        (("[columns.age]", "[columns.aage]"), "no such column"),
    ],
)
def test_data_that_do_not_fit_are_refused_and_nothing_is_published(office, change, sentence):
    with pytest.raises(sd.SudareError, match=sentence):
        sd.publish(office.change(change))
    assert not (office.folder / "release").exists()
    assert not (office.folder / "ledger.db").exists()


@pytest.mark.parametrize(("name", "value"), [("age", 150.0), ("age", float("nan")), ("sex", "x")])
def test_one_value_that_does_not_fit_is_found_before_anything_is_paid(office, name, value):
    people = dict(office.people)
    column = people[name].astype(object if name == "sex" else float)
    column[11] = value
    pq.write_table(pa.table({**people, name: column}), office.folder / "staff.parquet")
    with pytest.raises(sd.SudareError) as refusal:
        sd.publish(office.change(("[output]", "[output]\nconfirm_resources = true")))
    assert type(refusal.value) is not PaidError
    assert not (office.folder / "ledger.db").exists()


def test_an_exhausted_budget_refuses_before_the_data_are_read(office):
    recipe = office.change(("cap = { epsilon = 10 }", "cap = { epsilon = 1 }"))
    (office.folder / "staff.parquet").unlink()
    with pytest.raises(BudgetError):
        sd.publish(recipe)
