import itertools
import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sudare as sd
from recipes import MESH, SEX, closing, opening, villagers
from sudare.errors import BudgetError, LedgerError, OutputError, RecipeError, SudareError, VerificationError
from sudare.workflow.reports import canonical, public_text

MONTHS = [f"2026-{month:02}" for month in range(1, 13)]
PLAN = (
    opening("table", "village", title="Villagers in {period}", path="people-{period}.parquet")
    + MESH
    + SEX
    + '[method]\nname = "laplace"\n[privacy]\nepsilon = 6\n[series]\nperiods = '
    + json.dumps(MONTHS)
    + closing("epsilon = 6", formats='formats = ["parquet"]\n').replace('"release"', '"releases/{period}"')
)


def series_folder(folder, text=PLAN, months=MONTHS):
    for number, month in enumerate(months):
        pq.write_table(villagers(400 + 100 * number, seed=number), folder / f"people-{month}.parquet")
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    """Twelve months, published by one recipe under one cap."""
    folder = series_folder(tmp_path_factory.mktemp("year"))
    made = {month: sd.publish(folder / "recipe.toml", period=month) for month in MONTHS}
    return folder, made


def test_twelve_months_are_published_under_one_cap_by_one_recipe(year):
    folder, made = year
    balance = sd.Ledger(folder / "ledger.db").balance("village")
    assert balance.cap.epsilon == 6
    assert balance.spent.epsilon == 6
    assert balance.releases == 12
    for month, each in made.items():
        assert each.release.guarantee.epsilon == sd.privacy.exact("1/2")
        assert each.folder == folder / "releases" / month
        assert each.certificate["title"] == f"Villagers in {month}"
        assert sd.verify(each.folder).ok


def test_each_month_names_the_one_before_it(year):
    _, made = year
    assert made["2026-01"].certificate["series"]["predecessor"] is None
    for before, after in itertools.pairwise(MONTHS):
        named = made[after].certificate["series"]["predecessor"]
        path = made[before].folder / "release.json"
        assert named["release_id"] == made[before].release_id
        assert named["sha256"] == sd.privacy.fingerprint.file_digest(path)
        assert made[after].certificate["series"]["number"] == MONTHS.index(after) + 1


def refused(folder, wrong, **more):
    spent = sd.Ledger(folder / "ledger.db").entries()
    with pytest.raises(wrong) as refusal:
        sd.publish(folder / "recipe.toml", **more)
    assert sd.Ledger(folder / "ledger.db").entries() == spent
    return refusal.value


def test_a_month_is_published_once_even_if_its_folder_is_gone(year, tmp_path):
    folder = shutil.copytree(year[0], tmp_path / "copy")
    refused(folder, OutputError, period="2026-12")
    shutil.rmtree(folder / "releases" / "2026-12")
    assert refused(folder, LedgerError, period="2026-12").value == "2026-12"


def test_what_is_not_in_the_plan_is_refused(year):
    assert refused(year[0], RecipeError, period="2027-01").value == "2027-01"
    assert refused(year[0], RecipeError).code


def test_a_period_is_for_a_series(tmp_path):
    folder = series_folder(
        tmp_path, PLAN.replace("{period}", "2026-01").partition("[series]")[0] + closing("epsilon = 6")
    )
    with pytest.raises(RecipeError):
        sd.plan(folder / "recipe.toml", period="2026-01")


def test_a_plan_beyond_the_cap_is_refused_at_its_first_period(tmp_path):
    folder = series_folder(tmp_path, PLAN.replace("cap = { epsilon = 6 }", "cap = { epsilon = 5 }"))
    refused(folder, BudgetError, period="2026-01")


def test_another_plan_and_a_lost_predecessor_are_refused(tmp_path):
    folder = series_folder(tmp_path)
    sd.publish(folder / "recipe.toml", period="2026-01")
    (folder / "recipe.toml").write_text(PLAN.replace("epsilon = 6\n[series]", "epsilon = 5\n[series]"))
    refused(folder, RecipeError, period="2026-02")
    (folder / "recipe.toml").write_text(PLAN)
    (folder / "releases" / "2026-01").rename(folder / "elsewhere")
    refused(folder, OutputError, period="2026-02")


def test_another_plan_is_refused_where_a_later_period_is_out(tmp_path):
    folder = series_folder(tmp_path)
    sd.publish(folder / "recipe.toml", period="2026-02")
    (folder / "recipe.toml").write_text(PLAN.replace("epsilon = 6\n[series]", "epsilon = 5\n[series]"))
    refused(folder, RecipeError, period="2026-01")


def test_shares_divide_the_budget_and_a_plan_tells_of_its_period(tmp_path):
    text = PLAN.replace(json.dumps(MONTHS), '["a", "b"]\nshares = ["1/4", "3/4"]')
    folder = series_folder(tmp_path, text, ["a", "b"])
    plan = sd.plan(folder / "recipe.toml", period="b")
    assert plan.guarantee.epsilon == sd.privacy.exact("4.5")
    assert any("period b of a series, 2 of 2" in str(remark) for remark in plan.remarks)
    assert sd.plan(folder / "recipe.toml").guarantee.epsilon == sd.privacy.exact("1.5")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('periods = ["2026-01"', 'periods = ["../2026-01"'),
        ('periods = ["2026-01"', 'periods = ["2026-02"'),
        ("periods = [", 'shares = ["1/2", "1/2"]\nperiods = ['),
        ("people-{period}.parquet", "people.parquet"),
        ("releases/{period}", "releases/now"),
    ],
)
def test_a_plan_that_is_none_is_refused(tmp_path, old, new):
    assert old in PLAN
    folder = series_folder(tmp_path, PLAN.replace(old, new), [])
    with pytest.raises(RecipeError):
        sd.plan(folder / "recipe.toml")


def test_gaussian_budgets_are_divided_in_rho(tmp_path):
    text = PLAN.replace("epsilon = 6\n[series]", "epsilon = 6\ndelta = 1e-6\n[series]").replace(
        "cap = { epsilon = 6 }", "cap = { epsilon = 6, delta = 1e-6 }"
    )
    folder = series_folder(tmp_path, text)
    for month in MONTHS:
        sd.publish(folder / "recipe.toml", period=month)
    assert sd.Ledger(folder / "ledger.db").balance("village").releases == 12


def test_a_recipe_without_a_series_keeps_its_hash():
    contents = {
        "kind": "table",
        "dataset": "village",
        "data": {"path": "people.parquet", "unit": "person"},
        "domain": {"sex": {"type": "categories", "values": ["f", "m"]}},
        "privacy": {"epsilon": 1},
        "output": {"folder": "release"},
    }
    assert "series" not in json.loads(sd.Recipe(**contents).model_dump_json())


def test_the_series_opens_in_order_with_its_plan(year):
    series = sd.open_series(year[0] / "releases")
    assert list(series) == MONTHS == list(series.planned)
    assert series["2026-03"].table == year[1]["2026-03"].release.table
    with pytest.raises(SudareError):
        series["2026-13"]


def test_intervals_of_change_are_those_of_both_months_combined(year):
    series = sd.open_series([year[0] / "releases" / month for month in ("2026-01", "2026-12")])
    found = series.change("2026-01", "2026-12", mapping={"sex": {"f": "women", "m": "men"}})
    before, after = (series[m].aggregate({"sex": {"f": "women", "m": "men"}}) for m in ("2026-01", "2026-12"))
    np.testing.assert_array_equal(found.where, before.area)
    np.testing.assert_array_equal(found.value, after.value - before.value)
    expected = np.ceil(np.hypot(after.value - after.low, before.high - before.value))
    np.testing.assert_allclose(found.value - found.low, expected)
    assert found.beyond_noise.all()
    cells = series.change("2026-01", "2026-12")
    assert cells.value.sum() == series["2026-12"].table.total - series["2026-01"].table.total


def test_a_cell_that_only_one_month_lists_has_the_other_months_bars_of_nobody():
    tables = {"a": [0, 0, 500, 0], "b": [0, 0, 0, 0]}
    made = {
        name: sd.release(sd.CountTable.from_array(counts), sd.Simplex(), epsilon=1, seed=3)
        for name, counts in tables.items()
    }
    found = sd.reading.Series(made).change("a", "b", level=0.95)
    here = found.where.tolist().index(2)
    assert found.high[here] < 0
    assert found.before[here] > 400 > found.after[here]


def test_seasons_add_up(year):
    series = sd.open_series(year[0] / "releases")
    seasons = series.seasons({"spring": MONTHS[2:5], "all": MONTHS}, block_level=series["2026-01"].table.domain.bits)
    assert seasons["spring"].value.sum() == sum(series[m].table.total for m in MONTHS[2:5])
    truth = sum(400 + 100 * number for number in range(12))
    assert seasons["all"].low[0] - 400 <= truth <= seasons["all"].high[0] + 400


def test_an_exchanged_month_is_found_out(year, tmp_path):
    folder = shutil.copytree(year[0] / "releases", tmp_path / "releases")
    path = folder / "2026-02" / "release.json"
    path.write_text(path.read_text().rstrip() + "\n\n")  # signed as before, and another file
    with pytest.raises(VerificationError):
        sd.open_series(folder)
    shutil.rmtree(folder / "2026-02")
    assert len(sd.open_series(folder)) == 11


def test_an_empty_folder_is_no_series(tmp_path):
    with pytest.raises(SudareError):
        sd.open_series(tmp_path)


def signed_by_somebody_else(path):
    """The same release, whole and with a right signature."""
    forger = Ed25519PrivateKey.generate()
    body = {name: value for name, value in json.loads(path.read_text()).items() if name not in ("signature", "reports")}
    body["publisher"] = public_text(forger)
    path.write_text(json.dumps({**body, "signature": forger.sign(canonical(body)).hex()}))


def test_a_last_month_of_somebody_else_is_found_out(year, tmp_path):
    folder = shutil.copytree(year[0] / "releases", tmp_path / "releases")
    path = folder / MONTHS[-1] / "release.json"
    signed_by_somebody_else(path)
    assert sd.verify(path).ok  # nobody names it, and it is whole
    with pytest.raises(VerificationError, match="different publishers"):
        sd.open_series(folder)
    assert len(sd.open_series([folder / MONTHS[-1]])) == 1


def test_a_period_names_no_release_of_somebody_else(tmp_path):
    folder = series_folder(tmp_path)
    made = sd.publish(folder / "recipe.toml", period="2026-01")
    signed_by_somebody_else(made.folder / "release.json")
    refused(folder, VerificationError, period="2026-02")
