"""Promises that are worth little: what is refused, and what is said."""

import warnings
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sudare as sd
from sudare.anonymity.frames import hierarchies_of, read_tuples, refuse_unique_values
from sudare.errors import BudgetError, InputError, ParameterError, PrivacyWarning
from sudare.language.translation import text
from sudare.privacy import Cap, Guarantee, Ledger, asked_delta
from sudare.privacy.guarantee import cautions

COUNTS = [0, 0, 9, 0, 120, 0, 0, 3]
PEOPLE = pa.table({"age": [20 + number % 30 for number in range(600)], "sex": ["f", "m"] * 300})
TREES = {"age": sd.anonymity.Hierarchy.from_widths(20, 60, 10), "sex": ["f", "m"]}


@pytest.mark.parametrize("delta", ["0.00101", 0.5, "1/2"])
def test_a_delta_above_one_in_a_thousand_is_refused_wherever_it_is_asked(delta):
    table = sd.CountTable.from_array(COUNTS)
    asked = [
        lambda: sd.release(table, epsilon=1, delta=delta),
        lambda: sd.reweight.fit(np.linspace(0, 1, 9), np.linspace(0, 1, 9), 1, bounds=[(0, 1)], delta=delta),
        lambda: sd.anonymity.anonymize(PEOPLE, TREES, k=9, sample=0.1, levels={"age": 0, "sex": 0}, delta=delta),
        lambda: sd.local.shuffled(sd.local.SymmetricUnary(size=4, epsilon=1.0), 1000, delta),
        lambda: Cap.declared(epsilon=1, delta=delta),
    ]
    for ask in asked:
        with pytest.raises(ParameterError, match="delta is too large to protect anybody"):
            ask()
    assert asked_delta("0.001") == Fraction(1, 1000)


@pytest.mark.parametrize(
    ("asked", "said"), [({"epsilon": 20}, 0), ({"epsilon": 21}, 1), ({"rho": 1}, 0), ({"rho": 9}, 1)]
)
def test_an_epsilon_above_20_is_told(asked, said):
    table = sd.CountTable.from_array(COUNTS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sd.release(table, **asked)
        sd.release(table, **asked, seed=1)  # promises nothing anyhow
    assert [type(each.message) for each in caught] == [PrivacyWarning] * said
    assert all(each.filename == __file__ for each in caught)


def test_a_delta_above_one_in_the_number_of_people_is_told():
    table = sd.CountTable.from_array([0, 0, 900, 0, 1200, 0, 0, 3])
    with pytest.warns(PrivacyWarning, match="delta is above one in the number of people") as caught:
        sd.release(table, sd.Simplex(), epsilon=1, delta=0.0005, total="public")
    assert len(caught) == 1
    assert text(caught[0].message, "ja").startswith("delta が人数分の 1 を超えています（値：1/2000、")
    sd.release(table, sd.Simplex(), epsilon=1, delta=0.0004, total="public")
    sd.release(table, sd.Simplex(), epsilon=1, delta=0.0005)  # nobody knows how many there are


def test_only_what_is_worth_little_is_told():
    made = Guarantee("(epsilon, delta)-DP", epsilon=30, delta=Fraction(1, 1000))
    assert [caution.what for caution in cautions(made, 1001)] == [
        "this epsilon protects hardly anybody",
        "delta is above one in the number of people",
    ]
    assert len(cautions(made, 1000)) == 1
    assert cautions(Guarantee("none"), 5) == cautions(Guarantee("k-anonymity"), 5) == ()


RECIPE = """
dataset = "people"
kind = "table"
[data]
path = "people.csv"
[domain.sex]
type = "categories"
values = ["f", "m"]
[privacy]
epsilon = 25
delta = 0.001
[rehearsal]
people = 2000
[output]
folder = "out"
[ledger]
path = "ledger.sqlite"
cap = { epsilon = 90, delta = 0.001 }
"""


@pytest.mark.slow
def test_plan_publish_and_the_command_line_tell_it(tmp_path):
    from click.testing import CliRunner
    from pyarrow import csv

    from sudare.cli import main

    csv.write_csv(PEOPLE, tmp_path / "people.csv")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    remarks = sd.plan(recipe).remarks
    assert [str(remark).split(" (")[0] for remark in remarks] == [
        "this epsilon protects hardly anybody",
        "delta is above one in the number of people",
    ]
    planned = CliRunner().invoke(main, ["plan", str(recipe), "--language", "ja"]).output.splitlines()[-2:]
    assert planned == [f"注意：{text(each, 'ja')}" for each in cautions(sd.plan(recipe).guarantee, 2000)]
    ran = CliRunner().invoke(main, ["publish", str(recipe)])
    assert ran.exit_code == 0, ran.output
    assert ran.stderr.count("Note: ") == 3
    assert "a new ledger begins at" in ran.stderr
    assert "this epsilon protects hardly anybody" in ran.stderr
    recipe.write_text(RECIPE.replace('"out"', '"more"'))
    with pytest.warns(PrivacyWarning) as caught:
        sd.publish(recipe)
    assert len(caught) == 2


def test_a_large_delta_comes_into_no_ledger_by_a_default_cap_or_a_guarantee(tmp_path):
    """A recipe's cap of delta 0.5 was set by its first release."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    pure = Guarantee("epsilon-DP", epsilon=Fraction(1, 2))
    loose = Guarantee("(epsilon, delta)-DP", epsilon=1, delta=Fraction(1, 2))
    cap, large = Cap.of(epsilon=1, delta=0.001), Cap.of(epsilon=1, delta=0.5)
    for guarantee, default_cap in ((pure, large), (loose, cap), (loose, None)):
        with pytest.raises(ParameterError, match="delta is too large to protect anybody"):
            ledger.spend("people", guarantee, "one", default_cap=default_cap)
        with pytest.raises(ParameterError, match="delta is too large to protect anybody"):
            ledger.check("people", guarantee, default_cap=default_cap)
    assert not ledger.path.exists()
    ledger.spend("people", pure, "one", default_cap=cap)
    assert Cap.from_json(large.to_json()) == large  # ledgers that have one stay readable


def test_a_recipe_whose_cap_has_a_large_delta_is_refused_by_every_verb(tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.replace("delta = 0.001 }", "delta = 0.5 }"))
    for verb in (sd.plan, sd.rehearse, sd.publish):
        with pytest.raises(ParameterError, match="delta is too large to protect anybody"):
            verb(recipe)
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.toml"]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{}, {"epsilon": 2.31}])
def test_a_sample_whose_k_is_too_small_promises_nothing(asked, tmp_path):
    """It was published as (2.30, 0.81)-DP."""
    made = sd.anonymity.anonymize(PEOPLE, TREES, k=2, sample=0.9, levels={"age": 0, "sex": 0}, **asked)
    assert made.guarantee.notion == "none"
    assert (made.guarantee.epsilon, made.guarantee.delta) == (None, None)
    assert "k is too small for the sampling rate" in str(made.guarantee)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", epsilon=9, delta=0.001)
    with pytest.raises(BudgetError):
        ledger.spend("people", made.guarantee, "one")
    ledger.spend("people", made.guarantee, "one", accept_no_guarantee=True)
    assert ledger.balance("people").unbounded == 1
    enough = sd.anonymity.anonymize(PEOPLE, TREES, k=9, sample=0.1, levels={"age": 0, "sex": 0})
    assert enough.guarantee.notion == "(epsilon, delta)-DP"


def people_with(values):
    return PEOPLE.append_column("beside", pa.array(values))


@pytest.mark.parametrize(
    "values",
    [
        [f"090-{number:08d}" for number in range(600)],
        [f"090-{number // 2:08d}" for number in range(600)],  # a phone for two
        [10_000 + 17 * number for number in range(600)],
        [f"{number}" if number < 301 else "none" for number in range(600)],
        [f"{number}" if number < 294 else "none" for number in range(600)],
        [f"{number}" if number < 10 else "none" for number in range(600)],
        [f"{number}" if number < 130 else ["none", "unknown", "refused"][number % 3] for number in range(600)],
    ],
    ids=["phones", "shared phones", "exact amounts", "half of them", "49 %", "ten", "several words for none"],
)
def test_a_sensitive_column_of_identifiers_is_refused(values):
    """2,000 phone numbers were published under l-diversity."""
    for require in (sd.anonymity.DistinctDiversity("beside", 2), sd.anonymity.EntropyDiversity("beside", 1.5)):
        with pytest.raises(InputError, match="nearly every record has its own value of the sensitive column 'beside'"):
            sd.anonymity.anonymize(people_with(values), TREES, k=3, method="optimal", require=[require])


def test_missing_values_do_not_cover_for_identifiers():
    values = [f"{number}" if number < 150 else None if number < 500 else "none" for number in range(600)]
    require = [sd.anonymity.DistinctDiversity("beside", 2)]
    with pytest.raises(InputError, match="nearly every record has its own value of the sensitive column 'beside'"):
        sd.anonymity.anonymize(people_with(values), TREES, k=3, method="optimal", require=require, missing="value")


def zipf(size):
    """Values as uneven as diagnoses are: the n-th has a share in proportion to 1/n. Seeded, so the same every time."""
    share = 1 / np.arange(1, size + 1)
    return np.random.default_rng(1).choice(size, 2000, p=share / share.sum())


@pytest.mark.parametrize(
    "values",
    [
        zipf(1000),  # diagnoses: 13 % single
        [number % 20 * 500 for number in range(2000)],  # bands of income
        np.random.default_rng(2).integers(100, 500, 2000),  # postcodes of a town
        ["healthy"] * 1993 + [f"rare {number}" for number in range(7)],
    ],
    ids=["diagnoses", "bands", "postcodes", "a handful of rare ones"],
)
def test_sensitive_columns_with_rare_values_are_no_false_alarm(values):
    frame = pa.table({"sex": ["f", "m"] * 1000, "beside": pa.array(values)})
    refuse_unique_values(read_tuples(frame, hierarchies_of({"sex": ["f", "m"]}, "error"), ["beside"]))


def test_a_sensitive_column_that_people_share_is_published():
    values = [["flu", "cold", "asthma"][number % 3] for number in range(600)]
    values[7] = "something rare"
    require = [sd.anonymity.DistinctDiversity("beside", 2)]
    made = sd.anonymity.anonymize(people_with(values), TREES, k=3, method="optimal", require=require)
    assert made.records.num_rows > 500
    steps = [number % 40 * 1000 for number in range(600)]
    assert sd.anonymity.anonymize(people_with(steps), TREES, k=3, method="optimal", require=require).records.num_rows
