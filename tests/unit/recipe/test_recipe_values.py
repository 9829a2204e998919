"""A recipe as a value: built in Python, written as TOML, read back equal, and taken by every verb."""

import hashlib
import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.errors import RecipeError
from sudare.recipe.model import read_text
from sudare.recipe.toml_text import to_toml
from sudare.workflow.job import Job

SAMPLE = {
    "kind": "sample",
    "dataset": "people",
    "data": {"path": Path("people.csv")},
    "hierarchies": {"sex": {"values": ["f", "m"]}, "home town": {"tree": {"north": ["A"], "south": ["B"]}}},
    "sample": {"k": 5, "rate": 0.2, "levels": {"sex": 0, "home town": 1}},
    "require": [{"type": "distinct", "column": "illness", "l": 2}],
    "output": {"folder": "out"},
}
PERTURBATION = {
    "kind": "perturbation",
    "dataset": 'peo"ple\n\t',
    "data": {"path": "people.csv"},
    "columns": {"age": {"bounds": [17, 90.5], "share": Fraction(1, 3)}, "sex": {"categories": ["f"], "share": "2/3"}},
    "perturbation": {"epsilon": 1e-3},
    "output": {"folder": "out"},
}
WEIGHTS = {
    "kind": "weights",
    "dataset": "people",
    "data": {"path": "people.csv", "unit": "person"},
    "public": {"path": "public.csv"},
    "columns": {"age": {"bounds": [0, 100]}},
    "weights": {"epsilon": 1, "pairs": [["age", "age"]], "delta": None},
    "output": {"folder": "out"},
}

TABLE = {
    "dataset": "people",
    "data": {"path": "people.csv"},
    "domain": {
        "age": {"type": "bins", "start": 0, "stop": 100, "step": 5, "from": "years"},
        "sex": {"type": "categories", "values": ["f", "m"]},
    },
    "method": {"name": "tree", "children": 4, "strength": 0.5},
    "privacy": {"epsilon": "1/3"},
    "output": {"folder": "out"},
}


def test_a_recipe_is_what_its_file_says(village):
    recipe = sd.Recipe.read(village.recipe)
    assert type(recipe).__name__ == "TableRecipe"
    assert recipe == sd.Recipe(**read_text(village.recipe))
    written = recipe.write(village.folder / "again.toml")
    assert sd.Recipe.read(written) == recipe
    assert Job.open(written).recipe_sha256 == Job.open(village.recipe).recipe_sha256
    with pytest.raises(RecipeError, match="a file is there already"):
        recipe.write(written)
    with pytest.raises(RecipeError, match="the recipe cannot be written: No such file or directory"):
        recipe.write(village.folder / "none" / "recipe.toml")


@pytest.mark.parametrize("contents", [SAMPLE, PERTURBATION, WEIGHTS], ids=lambda contents: contents["kind"])
def test_recipes_of_every_kind_are_written_and_read_back_equal(contents, tmp_path):
    recipe = sd.Recipe(**contents)
    again = sd.Recipe.read(recipe.write(tmp_path / "recipe.toml"))
    assert again == recipe
    assert type(again) is type(recipe)
    assert again.model_dump_json(by_alias=True) == recipe.model_dump_json(by_alias=True)


@pytest.mark.parametrize(
    ("contents", "sha256"),
    [
        (SAMPLE, "3627fac610e111b87fb32a94a84d2ea70895a1212a4554990f593a7d5073294d"),
        ({**PERTURBATION, "dataset": "people"}, "8cbe59395c2538934665f75559fc0823805349d5ac71f66577115a331a55d0dc"),
        (WEIGHTS, "24834a857b5e3cd4a483ab3be1d2f7a8ed8aef8e007e5b3a5ba7c9aef9b5d1b9"),
        (TABLE, "a9202b33e0d5790e38f1a182728adbe2893b662a5b940489103046c0070942cb"),
    ],
)
def test_a_recipe_has_the_hash_that_it_had_in_the_first_ledgers(contents, sha256):
    """A change would make every release that waits to be completed another one."""
    recipe = sd.Recipe(**contents)
    assert hashlib.sha256(recipe.hashed.encode()).hexdigest() == sha256


def test_floats_are_read_as_they_are_written():
    recipe = sd.Recipe(**{**PERTURBATION, "perturbation": {"epsilon": 0.1}})
    assert recipe.perturbation.epsilon == Decimal("0.1")


def test_mistakes_in_a_value_are_those_of_a_file():
    with pytest.raises(RecipeError, match=r"unknown key perturbation\.epsilo .*Did you mean 'epsilon'"):
        sd.Recipe(**{**PERTURBATION, "perturbation": {"epsilo": 1}})
    with pytest.raises(RecipeError, match="no such kind of recipe"):
        sd.Recipe(kind="tables")
    with pytest.raises(RecipeError, match="the recipe lacks dataset"):
        sd.Recipe(kind="table")


def test_each_verb_takes_a_path_a_dictionary_or_an_object(village, monkeypatch):
    contents = read_text(village.recipe)
    by_path = sd.plan(village.recipe)
    assert sd.plan(contents, folder=village.folder).to_json()["errors"] == by_path.errors
    assert sd.plan(sd.Recipe(**contents), folder=village.folder).guarantee == by_path.guarantee
    assert sd.rehearse(contents, folder=village.folder, seed=3).errors == sd.rehearse(village.recipe, seed=3).errors
    monkeypatch.chdir(village.folder)
    made = sd.publish(sd.Recipe(**contents))
    assert made.folder == village.folder / "release"
    assert made.certificate["recipe_sha256"] == Job.open(village.recipe).recipe_sha256


scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.decimals(allow_nan=False, allow_infinity=False).map(lambda number: Decimal(f"{number}") + Decimal("0.0")),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), values, max_size=4))
def test_toml_is_read_back_as_it_was_written(contents):
    assert tomllib.loads(to_toml(contents), parse_float=Decimal) == contents


def test_a_text_that_steers_terminals_is_refused():
    with pytest.raises(RecipeError, match="holds control characters"):
        sd.Recipe(**{**SAMPLE, "title": "people\x1b[2J"})
