import json
from fractions import Fraction

import pytest

from sudare.errors import ParameterError
from sudare.privacy import Budget, Guarantee, Publishable, Unit
from sudare.privacy.guarantee import ADJACENCIES, NOTIONS

NUMBERS = {
    "epsilon-DP": {"epsilon": Fraction(1, 10)},
    "(epsilon, delta)-DP": {"epsilon": Fraction(1, 3), "delta": Fraction(1, 10**6)},
    "rho-zCDP": {"rho": Fraction(1, 8)},
    "epsilon-LDP": {"epsilon": Fraction(2)},
    "Pk-anonymity": {"epsilon": Fraction(26, 5)},
    "k-anonymity": {},
    "none: seeded": {},
    "none": {},
}


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (Unit(), "row"),
        (Unit("person"), "person with at most 1 row"),
        (Unit("person", 3), "person with at most 3 rows"),
        (Unit("person", 1, "month"), "person-month with at most 1 row"),
    ],
)
def test_unit_reads_as_words(unit, text):
    assert str(unit) == text


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"name": "person", "max_rows": 0}, r"max_rows is not a whole number from 1 on \(got 0\)"),
        ({"name": "person", "max_rows": 1.0}, "max_rows is not a whole number from 1 on"),
        ({"name": "person", "max_rows": True}, "max_rows is not a whole number from 1 on"),
        ({"name": ""}, "a unit has no name"),
        ({"max_rows": 2}, r"max_rows needs a unit that has rows \(got 2\). Name the unit's id column."),
    ],
)
def test_unit_refuses_what_means_nothing(parts, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Unit(**parts)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_json_there_and_back_loses_nothing(notion, adjacency):
    guarantee = Guarantee(
        notion,
        Unit("person", 2, "day"),
        adjacency,
        public=("the total",),
        assumptions=("one row each", "簾"),
        **NUMBERS[notion],
    )
    assert Guarantee.from_json(json.loads(json.dumps(guarantee.to_json()))) == guarantee


def test_json_keeps_fractions_exact():
    data = Guarantee("(epsilon, delta)-DP", **NUMBERS["(epsilon, delta)-DP"]).to_json()
    assert (data["epsilon"], data["delta"], data["rho"]) == ("1/3", "1/1000000", None)


@pytest.mark.parametrize("spoil", [{"unit": None}, {"public": 3}, {"unit": {"who": "person"}}])
def test_json_that_is_no_guarantee_is_refused(spoil):
    data = Guarantee("epsilon-DP", epsilon=Fraction(1)).to_json()
    with pytest.raises(ParameterError, match="the JSON of a guarantee lacks a part or has a wrong one"):
        Guarantee.from_json(data | spoil)
    with pytest.raises(ParameterError, match="lacks a part"):
        Guarantee.from_json({})
    with pytest.raises(ParameterError, match="epsilon is not a finite number"):
        Guarantee.from_json(data | {"epsilon": "much"})


@pytest.mark.parametrize(
    ("notion", "numbers", "sentence"),
    [
        ("epsilon-DP", {}, "epsilon-DP needs exactly epsilon"),
        ("epsilon-DP", {"rho": 1}, "epsilon-DP needs exactly epsilon"),
        ("(epsilon, delta)-DP", {"epsilon": 1}, "needs exactly delta and epsilon"),
        ("rho-zCDP", {"rho": 1, "delta": 0.1}, "rho-zCDP needs exactly rho"),
        ("none", {"epsilon": 1}, "none needs exactly no number"),
        ("k-anonymity", {"rho": 1}, "k-anonymity takes no number but epsilon"),
        ("Pk-anonymity", {"epsilon": 1, "delta": 0.1}, "Pk-anonymity takes no number but epsilon"),
        ("epsilon-DP", {"epsilon": 0}, "epsilon is not positive"),
        ("epsilon-DP", {"epsilon": float("nan")}, "epsilon is not a finite number"),
        ("(epsilon, delta)-DP", {"epsilon": 1, "delta": 1}, "delta is not below 1 .*0 < delta < 1"),
    ],
)
def test_guarantee_has_the_numbers_of_its_notion(notion, numbers, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Guarantee(notion, **numbers)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"notion": "DP"}, "unknown notion of privacy .*'DP'"),
        ({"notion": "none", "adjacency": "swap"}, "unknown adjacency .*'swap'"),
        ({"notion": "none", "public": "the total"}, "public is one text and not a sequence"),
        ({"notion": "none", "assumptions": "one row"}, "assumptions is one text and not a sequence"),
    ],
)
def test_guarantee_refuses_words_without_a_meaning(parts, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Guarantee(**parts)


def test_lists_of_facts_become_part_of_a_value():
    one = Guarantee("epsilon-DP", epsilon=0.5, public=["the total"])
    assert one == Guarantee("epsilon-DP", epsilon=Fraction(1, 2), public=("the total",))
    assert hash(one) == hash(Guarantee("epsilon-DP", epsilon=Fraction(1, 2), public=("the total",)))


def test_text_says_everything_that_is_promised():
    guarantee = Guarantee(
        "epsilon-DP", Unit("person"), ADJACENCIES[1], Fraction(1), public=("the total",), assumptions=("x",)
    )
    assert str(guarantee) == (
        "epsilon-DP with epsilon = 1; neighbours: replace one record; unit: person with at most 1 row; "
        "public: the total; assumes: x"
    )


def test_guarantee_of_a_budget_keeps_its_currency():
    assert Guarantee.of(Budget(epsilon=Fraction(1)), Unit()).notion == "epsilon-DP"
    assert Guarantee.of(Budget(rho=Fraction(1)), Unit()).rho == 1


def test_a_seeded_release_promises_nothing_and_says_so():
    seeded = Guarantee("epsilon-DP", epsilon=1).without_protection()
    assert not seeded.holds
    assert seeded.epsilon is None
    assert str(seeded) == "none: seeded; assumes: the noise comes from a seed that anyone may know"
    assert str(Guarantee("epsilon-DP", epsilon=1).without_protection("none")) == "none; assumes: no noise"


def test_a_result_with_guarantee_and_summary_is_publishable():
    class Result:
        guarantee = Guarantee("none")
        summary: dict[str, int] = {}  # noqa: RUF012 - never changed

    assert isinstance(Result(), Publishable)
    assert not isinstance(object(), Publishable)
