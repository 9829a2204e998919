"""Agreement with what is out: exactly, or as nearly as the errors of both say; post-processing, and named."""

import json

import numpy as np
import pytest

import sudare as sd
from recipes import VILLAGE, village
from sudare.errors import InputError, ParameterError, RecipeError
from sudare.noise import record
from sudare.tables.agreement import KnownTotals

COUNTS = np.array([[0, 50, 0, 9], [120, 0, 4, 3], [0, 41, 0, 0], [7, 7, 7, 7]])
MESH = sd.Mesh("500m", rows=(8480, 8496), columns=(6300, 6316))
KILOMETRES = sd.Mesh("1km", rows=(4240, 4248), columns=(3150, 3158))


@pytest.fixture(scope="module")
def people():
    """A table by mesh and sex, and the same people by kilometre alone."""
    rng = np.random.default_rng(3)
    cells = rng.gamma(0.3, 60, 256).astype(int)
    domain = sd.Domain(mesh=MESH, sex=sd.Categories(["f", "m"]))
    row, column = MESH.cell(np.arange(256))
    women = rng.binomial(cells, 0.5)
    index = [domain.index(row, column, np.full(256, sex)) for sex in (0, 1)]
    fine = sd.CountTable(domain, np.concatenate(index), np.concatenate([women, cells - women]), sd.Unit("person"))
    coarse = sd.Domain(mesh=KILOMETRES)
    where = coarse.index(row // 2, column // 2)
    unique, inverse = np.unique(where, return_inverse=True)
    counts = np.bincount(inverse, weights=cells).astype(np.int64)
    return fine, sd.CountTable(coarse, unique, counts, sd.Unit("person"))


def known_rows(**more):
    """Rows of `COUNTS` as areas."""
    areas = {(row, column): f"row {row}" for row in range(4) for column in range(4)}
    return KnownTotals("cell", areas, {f"row {row}": int(COUNTS[row].sum()) for row in range(4)}, **more)


@pytest.mark.parametrize("method", [sd.Tree(), sd.Simplex(), sd.TopDown(), sd.NegativeL2()])
def test_exact_totals_are_kept(method):
    for seed in range(5):
        made = sd.release(
            sd.CountTable.from_array(COUNTS), method, epsilon=0.1, agree_with=known_rows(), seed=seed
        ).table
        assert made.to_array().sum(axis=1).tolist() == COUNTS.sum(axis=1).tolist()
        assert (made.count > 0).all()


def test_an_area_where_nobody_was_released_is_filled(people):
    fine, _ = people
    code = MESH.labels(*MESH.cell(np.array([5]))).tolist()[0]
    empty = sd.CountTable(fine.domain, [], [], sd.Unit("person"))
    known = KnownTotals("mesh", {code: "here"}, {"here": 5_000_000})
    made = sd.release(empty, sd.Simplex(), epsilon=1, agree_with=known, seed=2)
    assert made.aggregate({"mesh": {code: "here"}}).value[0] == 5_000_000


def test_the_mean_of_least_variance_is_taken():
    """Known almost exactly: theirs. Known badly: ours. Between the two: between."""
    table, alone = sd.CountTable.from_array(COUNTS), {}
    for error in (1e-6, 3.0, 1e9):
        known = known_rows(error={f"row {row}": error for row in range(4)})
        alone[error] = (
            sd.release(table, sd.Simplex(), epsilon=0.1, agree_with=known, seed=4).table.to_array().sum(axis=1)
        )
    ours = sd.release(table, sd.Simplex(), epsilon=0.1, seed=4).table.to_array().sum(axis=1)
    assert alone[1e-6].tolist() == COUNTS.sum(axis=1).tolist()
    assert alone[1e9].tolist() == ours.tolist()
    for known, between, own in zip(alone[1e-6], alone[3.0], ours, strict=True):
        assert min(known, own) <= between <= max(known, own)


@pytest.mark.slow
def test_agreement_with_an_earlier_release_is_nearer_the_truth_than_either(people):
    """Sums by kilometre of 12 seeded pairs, in which both are about as good: the mean of two such has 0.71 of their
    error. The noise is seeded, so that nothing here is left to chance; the bars must hold all the same."""
    fine, coarse = people
    true = coarse.to_array().reshape(-1)
    codes = KILOMETRES.labels(*KILOMETRES.cell(np.arange(64))).tolist()
    errors = {"earlier": [], "alone": [], "agreed": []}
    inside = total = 0
    for seed in range(12):
        earlier = sd.release(coarse, sd.Simplex(), epsilon=0.07, seed=seed)
        both = {
            "earlier": earlier,
            "alone": sd.release(fine, sd.Tree(), epsilon=0.3, seed=100 + seed),
            "agreed": sd.release(fine, sd.Tree(), epsilon=0.3, agree_with=earlier, seed=100 + seed),
        }
        for name, made in both.items():
            bars = made.aggregate({"mesh": {code: str(code) for code in codes}})
            errors[name].append(np.abs(bars.value - true).mean())
            if name == "agreed":
                inside += ((bars.low <= true) & (true <= bars.high)).sum()
                total += len(true)
    mean = {name: np.mean(found) for name, found in errors.items()}
    assert mean["agreed"] < 0.9 * min(mean["earlier"], mean["alone"]), mean
    assert inside / total > 0.9


def test_exactly_takes_an_earlier_release_as_it_is(people):
    fine, coarse = people
    earlier = sd.release(coarse, sd.Simplex(), epsilon=0.3, seed=1)
    known = KnownTotals.of_release(earlier, fine.domain, exactly=True)
    made = sd.release(fine, sd.Tree(), epsilon=0.3, agree_with=known, seed=2)
    codes = KILOMETRES.labels(*KILOMETRES.cell(np.arange(64))).tolist()
    mapping = {"mesh": {code: str(code) for code in codes}}
    assert made.aggregate(mapping).value.tolist() == earlier.aggregate(mapping).value.tolist()


def test_it_is_post_processing():
    """A neighbour under replay gives the same table."""
    known = known_rows(error={"row 1": 2.0})
    with record() as tape:
        first = sd.release(sd.CountTable.from_array(COUNTS), epsilon=0.5, agree_with=known)
    neighbour = COUNTS.copy()
    neighbour[0, 0] += 1
    with record(replay=tape):
        second = sd.release(sd.CountTable.from_array(neighbour), epsilon=0.5, agree_with=known)
    assert np.array_equal(first.table.to_array(), second.table.to_array())
    assert first.guarantee == second.guarantee
    assert "the totals of 4 areas, given from elsewhere" in str(first.guarantee)


def test_the_guarantee_names_an_earlier_release(people):
    fine, coarse = people
    made = sd.release(fine, epsilon=0.3, agree_with=sd.release(coarse, epsilon=0.3))
    assert "the totals of 64 areas of an earlier release" in str(made.guarantee)
    assert made.guarantee.epsilon == sd.privacy.exact(0.3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"number": {"a": 1.5}}, "not a whole number"),
        ({"number": {"a": -1}}, "not a whole number"),
        ({"number": {}}, "no known total"),
        ({"number": {"a": 1}, "error": {"a": float("nan")}}, "standard error"),
    ],
)
def test_what_is_no_total_is_refused(arguments, sentence):
    with pytest.raises(ParameterError, match=sentence):
        KnownTotals("cell", {0: "a"}, **arguments)


def test_other_refusals(people):
    fine, coarse = people
    known = known_rows()
    table = sd.CountTable.from_array(COUNTS)
    with pytest.raises(ParameterError, match="cannot keep public totals"):
        sd.release(table, sd.Laplace(), epsilon=1, agree_with=known, seed=1)
    with pytest.raises(ParameterError, match="goes neither with"):
        sd.release(table, sd.Simplex(), epsilon=1, total="public", agree_with=known, seed=1)
    with pytest.raises(ParameterError, match="not in the domain"):
        sd.release(table, sd.Simplex(), epsilon=1, agree_with=KnownTotals("cell", {(9, 9): "a"}, {"a": 1}), seed=1)
    half = sd.Domain(mesh=sd.Mesh("500m", rows=(8480, 8495), columns=(6300, 6316)))
    cut = sd.CountTable(half, [0], [3], sd.Unit("person"))
    with pytest.raises(ParameterError, match="only in part"):
        sd.release(cut, epsilon=1, agree_with=sd.release(coarse, epsilon=1, seed=1), seed=1)
    other = sd.release(sd.CountTable.from_array([1, 2]), epsilon=1, seed=1)
    with pytest.raises(ParameterError, match="lacks an attribute"):
        sd.release(fine, epsilon=1, agree_with=other, seed=1)


# --- recipes ----------------------------------------------------------------------------------------------------------

ESTIMATE = '\n[estimate]\nagree_with = "{}"\n'


def agreeing(here, path, more=""):
    """The village's recipe, with totals to agree with."""
    here.recipe.write_text(VILLAGE, encoding="utf-8")
    return here.change(("[privacy]", ESTIMATE.format(path) + more + "[privacy]"))


def with_totals(here, text, more="", encoding="utf-8"):
    (here.folder / "totals.csv").write_text(text, encoding=encoding)
    return agreeing(here, "totals.csv", more)


@pytest.mark.slow
def test_a_recipe_names_a_file_of_totals_and_a_list_of_codes(tmp_path):
    """Areas of a register in a file of Japanese Excel, whose codes begin with 0."""
    here = village(tmp_path)
    codes = "符号,市区町村\n53390334,01100\n53390335,01100\n53390344,01101\n53390345,01101\n"
    (tmp_path / "codes.csv").write_text(codes, encoding="cp932")
    columns = 'columns = { area = "市区町村", number = "人口", code = "符号" }\n'
    recipe = with_totals(
        here,
        '市区町村,人口\n01100,"1,700"\n01101,421\n01999,5\n',
        f'areas = "codes.csv"\nencoding = "cp932"\n{columns}',
        encoding="cp932",
    )
    made = sd.publish(recipe)
    opened = sd.open(made.folder)
    found = opened.aggregate({"mesh": {53390334: "a", 53390335: "a", 53390344: "b", 53390345: "b"}})
    assert dict(zip(found.area, found.value, strict=True)) | {"a": 1700, "b": 421} == dict(
        zip(found.area, found.value, strict=True)
    )
    assert made.certificate["agrees_with"]["areas"] == 2
    assert made.certificate["agrees_with"]["exact"] is True
    assert "the totals of 2 areas, given from elsewhere" in str(opened.guarantee)


@pytest.mark.slow
def test_a_recipe_agrees_with_an_earlier_release(tmp_path):
    here = village(tmp_path)
    first = sd.publish(here.change(('"release"', '"release-2025"')))
    before = json.loads((first.folder / "release.json").read_text(encoding="utf-8"))
    second = sd.publish(agreeing(here, "release-2025", "exactly = true\n"))
    assert second.certificate["agrees_with"]["release_id"] == before["release_id"]
    codes = MESH.labels(*MESH.cell(np.arange(256))).tolist()
    mapping = {"mesh": {code: str(code) for code in codes}}
    assert sd.open(second.folder).aggregate(mapping).value.tolist() == first.release.aggregate(mapping).value.tolist()
    assert "of an earlier release" in str(sd.open(second.folder).guarantee)
    assert second.balance.spent.epsilon == 1


def test_nothing_is_spent_where_the_totals_are_wrong(tmp_path):
    here = village(tmp_path)
    cases = [
        ("area,number\n99999999,5\n", "", "not in the domain|not a code"),
        ("area,number\n5339,5\n53390334,5\n", "", "another one inside"),
        ("area,number\n53390334,many\n", "", "something that is not a number"),
        ("area,number\n53390334,5\n53390334,6\n", "", "two public totals"),
        ("area,number\n53390334,5.5\n", "", "not a whole number"),
        ("area,people\n53390334,5\n", "", "number"),
        ("area,number\n53390334,5\n", 'attribute = "height"\n', "no such attribute"),
    ]
    for text, more, sentence in cases:
        with pytest.raises((InputError, ParameterError, RecipeError), match=sentence):
            sd.publish(with_totals(here, text, more))
    with pytest.raises(InputError):
        sd.publish(agreeing(here, "nothing.csv"))
    assert not (tmp_path / "release").exists()
    assert not (tmp_path / "ledger.db").exists() or not sd.Ledger(tmp_path / "ledger.db").balance("village").releases


def test_the_private_file_is_no_file_of_totals(tmp_path):
    here = village(tmp_path)
    with pytest.raises(InputError, match=r"private|same file"):
        sd.publish(agreeing(here, "people.parquet"))


def test_errors_of_totals_are_a_column(tmp_path):
    here = village(tmp_path)
    recipe = with_totals(here, "area,number,sd\n5339,1,1e9\n", 'columns = { standard_error = "sd" }\n')
    made = sd.publish(recipe)
    assert made.release.table.total > 1000
    assert made.certificate["agrees_with"]["exact"] is False


def test_an_empty_part_asks_for_nothing():
    from sudare.tables.recipe import Estimate

    assert Estimate().agree_with is None
    with pytest.raises(ValueError, match="agree_with is missing"):
        Estimate(areas="areas.csv")
