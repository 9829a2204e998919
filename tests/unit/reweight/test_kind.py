"""Weights from a recipe: plan, rehearse, publish, ledger, certificate, verify, compare."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from recipes import RecipeFolder, closing, opening
from sudare.errors import BudgetError, InputError, ParameterError, RecipeError, VerificationError
from sudare.language.messages import PageMessage
from sudare.reweight.comparison import compare
from sudare.workflow import plan
from sudare.workflow.certificate import verify
from sudare.workflow.publication import publish
from sudare.workflow.rehearsal import rehearse

RECIPE = (
    opening("weights", "nurses", path="private.parquet", unit=False)
    + """
[public]
path = "public.csv"

[columns.hours]
bounds = [0, 80]

[columns.night]
categories = ["no", "yes"]

[weights]
epsilon = 1.0
"""
    + closing("epsilon = 1.5", rehearsal="people = 800\nrepetitions = 2")
)


def rows(size: int, hours: float, night: float, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "hours": np.clip(rng.normal(hours, 8, size), 0, 80),
            "night": np.where(rng.random(size) < night, "yes", "no"),
            "ward": rng.integers(1, 9, size),
        }
    )


@pytest.fixture
def hospital(tmp_path):
    pq.write_table(rows(3000, 44, 0.5, 1), tmp_path / "private.parquet")
    csv.write_csv(rows(600, 38, 0.3, 2), tmp_path / "public.csv")
    return RecipeFolder(tmp_path, RECIPE)


def test_a_plan_says_what_is_measured_and_touches_nothing_private(hospital):
    (hospital.folder / "private.parquet").unlink()
    made = plan(hospital.recipe)
    assert made.guarantee.epsilon == 1
    assert made.guarantee.adjacency == "replace one record"
    assert made.details["basis"] == "hats"
    assert [str(row["query"]) for row in made.errors] == ["mean of hours", "shares of night"]
    assert PageMessage("remark.data", path="private.parquet") in made.remarks


def test_a_rehearsal_beats_no_weights_and_promises_nothing(hospital):
    made = rehearse(hospital.recipe)
    assert made.release.guarantee.notion == "none: seeded"
    for row in made.errors:
        assert row["weighted_error"] < row["unweighted_error"] / 2


def test_publish_spends_writes_and_can_be_verified(hospital):
    made = publish(hospital.recipe)
    assert made.release.guarantee.epsilon == 1
    folder = hospital.folder / "release"
    assert {path.name for path in folder.iterdir()} == {
        "weighted.parquet",
        "weighted.csv",
        "weighting.json",
        "datapackage.json",
        "release.json",
    }
    table = pq.read_table(folder / "weighted.parquet")
    assert table.column_names == ["hours", "night", "ward", "weight"]
    weights = table["weight"].to_numpy()
    assert weights.min() >= 0
    assert weights.mean() == pytest.approx(1)
    assert abs(np.average(table["hours"].to_numpy(), weights=weights) - 44) < 1
    checks = verify(folder / "release.json").checks
    assert any("600 weights >= 0" in str(check) for check in checks)
    with pytest.raises(BudgetError):
        publish(hospital.change(('folder = "release"', 'folder = "again"')))


def test_verify_finds_changed_weights(hospital):
    publish(hospital.recipe)
    from sudare.reweight.kind import check_weights

    folder = hospital.folder / "release"
    certificate = json.loads((folder / "release.json").read_text())
    table = pq.read_table(folder / "weighted.parquet")
    for change, sentence in (
        (lambda w: -w, "weights are not numbers >= 0"),
        (lambda w: np.roll(w, 1), "weights differ from those of the model"),
        (lambda w: w**2, "the effective sample size is not the certified one"),
    ):
        changed = table.set_column(3, "weight", pa.array(change(table["weight"].to_numpy())))
        pq.write_table(changed, folder / "weighted.parquet")
        with pytest.raises(VerificationError, match=sentence):
            check_weights(folder, certificate)
    pq.write_table(table.slice(1), folder / "weighted.parquet")
    with pytest.raises(VerificationError, match="another number of rows"):
        check_weights(folder, certificate)
    pq.write_table(table.drop_columns(["ward"]), folder / "weighted.parquet")
    with pytest.raises(VerificationError, match="other columns"):
        check_weights(folder, certificate)


@pytest.mark.slow
def test_compare_answers_with_intervals_and_internally_with_the_truth(hospital):
    publish(hospital.recipe)
    made = compare(hospital.folder / "release", means=["hours"], shares=["night", "night,ward"])
    assert not made.internal
    assert made.rows[0].low <= made.rows[0].weighted <= made.rows[0].high
    private = hospital.folder / "private.parquet"
    beside = compare(hospital.folder / "release", means=["hours"], shares=["night"], private=private)
    assert beside.internal
    first = beside.rows[0]
    assert abs(first.weighted - first.private) < abs(first.unweighted - first.private) / 4
    assert beside.to_json()["answers"][1]["query"] == "share of night no"


@pytest.mark.slow
def test_several_rows_of_a_person(hospital):
    table = rows(3000, 44, 0.5, 1).append_column("person", pa.array(np.arange(3000) // 3))
    pq.write_table(table, hospital.folder / "private.parquet")
    hospital.change(('path = "private.parquet"', 'path = "private.parquet"\nunit = "person"\nmax_rows = 2'))
    made = publish(hospital.recipe)
    assert str(made.release.guarantee.unit) == "person with at most 2 rows"
    assert made.release.measured.people == 2000
    hospital.change(
        ("epsilon = 1.0", 'epsilon = 0.4\nrows = "averaged"'), ("release", "averaged"), ("max_rows = 2", "max_rows = 1")
    )
    assert publish(hospital.recipe).release.measured.people == 1000


@pytest.mark.parametrize(
    ("old", "new", "error", "sentence"),
    [
        ("bounds = [0, 80]", "", RecipeError, "a column has either bounds or categories"),
        ("epsilon = 1.0", 'epsilon = 1.0\nrows = "averaged"', RecipeError, "averaged rows need data.unit"),
        ("epsilon = 1.0", "epsilom = 1.0", RecipeError, "Did you mean 'epsilon'"),
        ('categories = ["no", "yes"]', 'categories = ["no", "never"]', InputError, "outside its declared categories"),
    ],
)
def test_mistakes_in_the_recipe_are_one_sentence(hospital, old, new, error, sentence):
    with pytest.raises(error, match=sentence):
        publish(hospital.change((old, new)))


def test_a_public_file_with_weights_is_refused(hospital):
    csv.write_csv(rows(50, 38, 0.3, 2).append_column("weight", pa.array(np.ones(50))), hospital.folder / "public.csv")
    with pytest.raises(InputError, match="a column of that name already"):
        publish(hospital.recipe)


@pytest.mark.slow
def test_raw_centres_need_both_opt_ins_and_are_recorded_as_unbounded(hospital):
    recipe = hospital.change(
        ('[columns.night]\ncategories = ["no", "yes"]\n', ""),
        ("epsilon = 1.0", 'epsilon = 1.0\ncentres = "raw"\nestimator = "ulsif"'),
    )
    with pytest.raises(Exception, match="raw centres publish real records"):
        plan(recipe)
    hospital.change(('dataset = "nurses"', 'dataset = "nurses"\naccept_no_guarantee = true'))
    assert publish(recipe).release.guarantee.notion == "none"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ja"])
def test_reports_show_answers_and_only_the_internal_one_the_truth(hospital, language):
    hospital.change(("public = false", f'public = true\ninternal = true\nlanguage = "{language}"'))
    made = publish(hospital.recipe)
    truth = f"{pq.read_table(hospital.folder / 'private.parquet')['hours'].to_numpy().mean():,.4g}"
    answer = f"{np.average(made.release.columns['hours'], weights=made.release.weights):,.4g}"
    public, internal = (path.read_text(encoding="utf-8") for path in (made.report, made.internal_report))
    assert answer in public
    assert f"<td>{truth}</td></tr>" not in public  # the last column of the internal table
    assert f"<td>{truth}</td></tr>" in internal


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ja"])
def test_reports_say_which_intervals_may_be_too_short(hospital, language):
    hospital.change(
        ("public = false", f'public = true\nlanguage = "{language}"'),
        ("epsilon = 1.0", 'epsilon = 1.0\nbasis = "kernel"'),
    )
    page = publish(hospital.recipe).report.read_text(encoding="utf-8")
    place = page.index("区間が狭すぎることがあります" if language == "ja" else "the interval may be too short")
    assert "hours" in page[place - 300 : place]


@pytest.mark.parametrize(
    "choice",
    ['basis = "polynomial"\nestimator = "ulsif"', 'basis = "polynomial"\ndegree = 3', 'estimator = "importance"'],
)
def test_parametric_models_and_importance_weighting_are_published_and_verified(hospital, choice):
    hospital.change(("epsilon = 1.0\n", f"epsilon = 1.0\n{choice}\n"))
    made = publish(hospital.recipe)
    assert made.release.guarantee.epsilon == 1
    assert any(check.key == "verified.weights" for check in verify(hospital.folder / "release" / "release.json").checks)


def test_importance_weighting_takes_one_row_a_person(hospital):
    hospital.change(("epsilon = 1.0\n", 'epsilon = 1.0\nestimator = "importance"\nadjacency = "add_remove"\n'))
    with pytest.raises(ParameterError, match="importance weighting needs the replace adjacency"):
        plan(hospital.recipe)
