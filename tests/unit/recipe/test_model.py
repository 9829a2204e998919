"""Recipes: every mistake is one sentence that names the place."""

import json

import pytest

import sudare as sd
from sudare.errors import DomainError, ParameterError, RecipeError, SudareError
from sudare.privacy import Fact
from sudare.workflow.job import Job, json_schema


def test_a_recipe_says_all_of_it(village):
    job = Job.open(village.recipe)
    assert job.kind.domain == sd.Domain(
        mesh=sd.Mesh("500m", rows=(8480, 8496), columns=(6300, 6316)), sex=sd.Categories(["f", "m"])
    )
    assert job.kind.budget.epsilon == sd.privacy.exact("0.5")
    assert job.recipe.columns() == {"mesh": ("lat", "lon")}
    assert job.guarantee.unit == sd.Unit("person", 1)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("epsilon = 0.5", "epsilo = 0.5", r"unknown key privacy.epsilo .*Did you mean 'epsilon'"),
        ('dataset = "village"', 'data_set = "village"', r"unknown key data_set .*Did you mean 'dataset'"),
        ("max_rows = 1", "max_row = 1", r"unknown key data.max_row .*Did you mean 'max_rows'"),
        ("rows = [8480, 8496]", "row = [8480, 8496]", r"unknown key domain.mesh.row .*Did you mean 'rows'"),
        ('name = "simplex"', 'name = "simplx"', r"method.name: input should be"),
        ('outside = "drop"', 'outside = "ignore"', r"data.outside: input should be"),
        ("[privacy]\nepsilon = 0.5", "", r"the recipe lacks privacy"),
        ('kind = "table"', "kind = ", r"the recipe is not TOML"),
        ('type = "mesh"', 'type = "mash"', r"domain.mesh: .*mash.*expected tags"),
        ("max_rows = 1", "max_rows = 0", r"data.max_rows: input should be greater than or equal to 1"),
        ('"geojson"]', '"shapefile"]', r"output.formats.3: input should be"),
        ("epsilon = 0.5", "epsilon = nan", r"privacy.epsilon: input should be a finite number"),
        ("rows = [8480, 8496]", 'rows = "many"', r"domain.mesh.rows: input should be a valid list"),
        ("people = 2000", 'counts = "n"', r"counts belongs to a public table: give its path too"),
        ('name = "simplex"', 'name = "simplex"\ncut = 3', r"method simplex has no parameter cut"),
        ("[domain.sex]", "[domain.count]", r"domain.count: the release would have two columns named count"),
        (
            "[domain.sex]",
            '[domain.x]\ntype = "grid"\nshape = [2, 2]\n[domain.x_row]',
            r"domain.x_row: the release would have two columns named x_row",
        ),
    ],
)
def test_mistakes_are_named(village, old, new, sentence):
    with pytest.raises(RecipeError, match=sentence) as mistake:
        Job.open(village.change((old, new)))
    assert "\n" not in str(mistake.value)


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf"])
def test_a_wrong_epsilon_is_refused(village, epsilon):
    with pytest.raises(SudareError, match="epsilon"):
        Job.open(village.change(("epsilon = 0.5", f"epsilon = {epsilon}")))


@pytest.mark.parametrize(
    ("privacy", "sentence"),
    [
        ("", "epsilon is missing"),
        ("epsilon = 1\ndelta = 0.01", "delta is too large to protect anybody"),
        ("epsilon = 1\nrho = 1", "not both"),
    ],
)
def test_a_wrong_budget_is_refused(village, privacy, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Job.open(village.change(("epsilon = 0.5\n", privacy + "\n")))


def test_a_budget_in_rho_or_epsilon_and_delta(village):
    recipe = village.change(('name = "simplex"', 'name = "tree"'), ("epsilon = 0.5\n", "epsilon = 0.5\ndelta = 1e-6\n"))
    guarantee = Job.open(recipe).guarantee
    assert guarantee.notion == "(epsilon, delta)-DP"
    assert guarantee.delta == sd.privacy.exact("1e-6")
    assert 0.4999 < guarantee.epsilon <= 0.5
    recipe = village.change(("epsilon = 0.5\ndelta = 1e-6\n", "rho = 0.02\n"))
    assert Job.open(recipe).guarantee.rho == sd.privacy.exact("0.02")


def test_wrong_parts_keep_the_sentences_of_the_library(village):
    with pytest.raises(DomainError, match="rows are not a range"):
        Job.open(village.change(("rows = [8480, 8496]", "rows = [8496, 8480]")))


def test_a_wrong_cap_is_refused(village):
    with pytest.raises(ParameterError, match="cap"):
        Job.open(village.change(("cap = { epsilon = 1.0 }", "cap = { epsilon = 1.0, rho = 1.0 }")))


def test_maps_need_a_place(village):
    text = village.recipe.read_text()
    start, end = text.index("[domain.mesh]"), text.index("[domain.sex]")
    village.recipe.write_text(text[:start] + text[end:])
    with pytest.raises(RecipeError, match="geoparquet needs a place"):
        Job.open(village.recipe)


def test_a_missing_recipe_is_one_sentence(tmp_path):
    with pytest.raises(RecipeError, match="there is no such recipe"):
        Job.open(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecipeError, match="not text in UTF-8"):
        Job.open(tmp_path / "bytes.toml")


def test_every_attribute_can_be_declared(village):
    text = village.recipe.read_text()
    start, end = text.index("[domain.mesh]"), text.index("[method]")
    domain = """
order = [["line", "grid"], "age", "size", "town"]
[domain.line]
type = "line"
length = 10
[domain.grid]
type = "grid"
shape = [4, 5]
[domain.age]
type = "bins"
edges = [0, 15, 65, "open"]
[domain.size]
type = "bins"
start = 0
stop = 1
step = 0.1
[domain.town]
type = "categories"
values = [1, 2, 3]
"""
    head, _, tail = text.partition("[data]")
    body = "[data]" + tail[: tail.index("[domain.mesh]")]
    order, _, parts = domain.partition("[domain.line]")
    village.recipe.write_text(
        head + order + body + "[domain.line]" + parts + text[end:].replace(', "geoparquet", "geojson"', "")
    )
    assert start < end
    job = Job.open(village.recipe)
    assert job.kind.domain == sd.Domain(
        order=(("line", "grid"), "age", "size", "town"),
        line=sd.Line(10),
        grid=sd.Grid(4, 5),
        age=sd.Bins(edges=[0, 15, 65, None]),
        size=sd.Bins(0, 1, step=0.1),
        town=sd.Categories([1, 2, 3]),
    )


def test_bins_need_edges_or_a_step(village):
    bins = '[domain.age]\ntype = "bins"\nstart = 0\n\n[method]'
    with pytest.raises(RecipeError, match="bins need edges, or start, stop and step"):
        Job.open(village.change(("[method]", bins)))


def test_the_schema_describes_what_is_read():
    schema = json.loads(json.dumps(json_schema()))
    assert {"$ref": "#/$defs/TableRecipe"} in schema["oneOf"]
    table = schema["$defs"]["TableRecipe"]
    assert {"dataset", "data", "domain", "privacy", "output"} <= set(table["required"])
    assert table["additionalProperties"] is False


def test_an_unknown_kind_is_named_with_the_nearest_known_one(village):
    with pytest.raises(RecipeError, match=r"no such kind of recipe.*ean"):
        Job.open(village.change(('kind = "table"', 'kind = "tables"')))


def test_public_totals_are_kept_and_named(village):
    recipe = village.change(("[method]", '[[public_totals]]\nwhere = { sex = ["f"] }\nnumber = 123\n\n[method]'))
    assert Fact("areas", areas=1) in Job.open(recipe).guarantee.public
    made = sd.publish(recipe)
    women = made.release.aggregate({"sex": {"f": "women", "m": "men"}})
    assert women.value[list(women.area).index("women")] == 123
    with pytest.raises(RecipeError, match=r"public_totals.0.number"):
        Job.open(village.change(("number = 123", "number = -1")))
    with pytest.raises(sd.SudareError, match="sex"):
        Job.open(village.change(("number = -1", "number = 1"), ('sex = ["f"]', 'sex = ["x"]')))


def test_the_hash_of_a_recipe_ignores_spacing_and_sees_changes(village):
    before = Job.open(village.recipe).recipe_sha256
    assert Job.open(village.change(("epsilon = 0.5", "epsilon =    0.5  # half"))).recipe_sha256 == before
    assert Job.open(village.change(("epsilon =    0.5", "epsilon = 0.4"))).recipe_sha256 != before
