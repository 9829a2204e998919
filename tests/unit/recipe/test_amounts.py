"""Fractions as text in recipes: read exactly, in every number of a budget; nonsense is one sentence with its key."""

import json
import re
from decimal import Decimal
from fractions import Fraction

import pytest
from pydantic import BaseModel

import sudare as sd
from sudare.anonymity.recipe import SampleRecipe
from sudare.errors import BudgetError, RecipeError
from sudare.privacy import Ledger
from sudare.recipe.parts import TEXT, Amount
from sudare.reconstruct.recipe import PerturbationRecipe
from sudare.reweight.recipe import WeightsRecipe
from sudare.workflow.job import Job, json_schema

BESIDE = {"dataset": "village", "data": {"path": "people.csv"}, "output": {"folder": "release"}}
THIRD = Fraction(1, 3)


class Part(BaseModel):
    number: Amount


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("1/3", THIRD),
        ("2/6", THIRD),
        ("-1/3", -THIRD),
        ("0.25", Decimal("0.25")),
        ("1e-6", Decimal("1e-6")),
        (1, 1),
        (Decimal("0.50"), Decimal("0.50")),
    ],
)
def test_numbers_are_read_as_they_are_written(written, number):
    found = Part(number=written).number
    assert (type(found), found) == (type(number), number)
    if isinstance(written, str):
        assert re.fullmatch(TEXT, written)


def test_three_thirds_fill_a_cap_and_a_fourth_is_refused(village):
    village.change(("epsilon = 0.5", 'epsilon = "1/3"'), ("epsilon = 1.0", 'epsilon = "3/3"'))
    for number in range(3):
        made = sd.publish(village.change((f'folder = "release{number or ""}"', f'folder = "release{number + 1}"')))
        assert made.release.guarantee.epsilon == THIRD
        assert json.loads((made.folder / "release.json").read_text())["guarantee"]["epsilon"] == "1/3"
        assert sd.verify(made.folder).ok
    assert made.balance.remaining.epsilon == 0
    village.change(('folder = "release3"', 'folder = "release4"'))
    with pytest.raises(BudgetError, match="remaining 0"):
        sd.publish(village.recipe)
    assert len(Ledger(village.folder / "ledger.db").entries()) == 4


def test_each_number_of_a_table_may_be_a_fraction(village):
    job = Job.open(
        village.change(
            ("epsilon = 0.5", 'epsilon = "1/3"\ndelta = "1/1000000"'),
            ("cap = { epsilon = 1.0 }", 'cap = { rho = "1/7", delta = "1/9999" }'),
            ('name = "simplex"', 'name = "tree"\nshares = ["1/7", 2, "5/7"]\nstrength = "1/4"'),
        )
    )
    assert (job.recipe.privacy.epsilon, job.recipe.privacy.delta) == (THIRD, Fraction(1, 10**6))
    assert (job.cap.rho, job.cap.delta) == (Fraction(1, 7), Fraction(1, 9999))
    assert job.kind.method.shares == (Fraction(1, 7), 2, Fraction(5, 7))
    assert job.kind.method.strength == Fraction(1, 4)
    rho = village.change(('epsilon = "1/3"\ndelta = "1/1000000"', 'rho = "1/300"'))
    assert Job.open(rho).guarantee.rho == Fraction(1, 300)


@pytest.mark.parametrize(
    ("shape", "parts"),
    [
        (
            SampleRecipe,
            {
                "hierarchies": {"sex": {"values": ["f", "m"]}},
                "sample": {"k": 9, "rate": "1/3", "choose_epsilon": "1/3", "epsilon": "1/3", "delta": "1/3"},
            },
        ),
        (
            PerturbationRecipe,
            {"columns": {"a": {"bounds": [0, 1], "share": "1/3"}}, "perturbation": {"epsilon": "1/3"}},
        ),
        (
            WeightsRecipe,
            {
                "columns": {"a": {"bounds": [0, 1]}},
                "public": {"path": "public.csv"},
                "weights": {"epsilon": "1/3", "delta": "1/3", "split": "1/3"},
            },
        ),
    ],
)
def test_and_of_the_other_kinds(shape, parts):
    kind = shape.model_fields["kind"].annotation.__args__[0]
    recipe = shape(**BESIDE, kind=kind, **parts)
    (section,) = (name for name in parts if name in ("sample", "perturbation", "weights"))
    for name, written in parts[section].items():
        if written == "1/3":
            assert getattr(getattr(recipe, section), name) == THIRD
            with pytest.raises(RecipeError, match=rf"^{section}\.{name}: not a number \(got 'some'; allowed:"):
                shape(**{**BESIDE, "kind": kind, **parts, section: {**parts[section], name: "some"}})
    # A page shows what a recipe says, and JSON has no fractions.
    assert json.loads(json.dumps(recipe.model_dump(), default=float))[section]["epsilon"] == "1/3"


@pytest.mark.parametrize(
    "written", ['"a third"', '"1/0"', '"1/3/4"', '"1.5/2"', '"１/３"', '""', "true", "[1]", "1979-05-27", '"inf"']
)
def test_nonsense_is_one_sentence(village, written):
    with pytest.raises(RecipeError, match=r"^privacy\.epsilon: not a number \(got .*such as \"1/3\"\)$") as mistake:
        Job.open(village.change(("epsilon = 0.5", f"epsilon = {written}")))
    assert "\n" not in str(mistake.value)


def test_long_nonsense_is_not_repeated(village):
    with pytest.raises(RecipeError) as mistake:
        Job.open(village.change(("epsilon = 0.5", f'epsilon = "1/{"9" * 5000}"')))
    assert len(str(mistake.value)) < 200


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("epsilon = 1.0", 'epsilon = "x"', "ledger.cap.epsilon"),
        ('name = "simplex"', 'name = "tree"\nshares = ["1/2", "x"]', "method.shares.1"),
        ('name = "simplex"', 'name = "negative_l2"\nstrength = "x"', "method.strength"),
    ],
)
def test_the_place_is_named(village, old, new, place):
    with pytest.raises(RecipeError, match=rf"^{re.escape(place)}: not a number"):
        Job.open(village.change((old, new)))


def test_a_share_is_above_0():
    parts = {"columns": {"a": {"bounds": [0, 1], "share": "0/3"}}, "perturbation": {"epsilon": 1}}
    with pytest.raises(RecipeError, match=r"columns\.a: share is not above 0"):
        PerturbationRecipe(**BESIDE, kind="perturbation", **parts)


def test_spelling_alone_does_not_change_what_a_recipe_is(village):
    before = Job.open(village.change(("epsilon = 0.5", 'epsilon = "1/3"'))).recipe_sha256
    assert Job.open(village.change(('"1/3"', '"2/6"'))).recipe_sha256 == before
    assert Job.open(village.change(('"2/6"', '"1/4"'))).recipe_sha256 != before


def test_editors_know_fractions():
    privacy = json_schema()["$defs"]["Privacy"]["properties"]
    for name in ("epsilon", "delta", "rho"):
        ways = [way for one in privacy[name]["anyOf"] for way in one.get("anyOf", [one])]  # nested by older Pydantic
        assert {"type": "string", "pattern": TEXT} in ways
