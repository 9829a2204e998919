import json
from fractions import Fraction

from sudare.privacy import Amounts, Balance, Cap, Guarantee, Unit, epsilon_for
from sudare.privacy.guarantee import ADJACENCIES


def pure(epsilon, unit=None, **facts):
    return Guarantee("epsilon-DP", unit or Unit("person"), epsilon=epsilon, **facts)


def test_without_a_cap_nothing_remains():
    balance = Balance.of("census", None, [pure(0.5)])
    assert balance.remaining is None
    assert str(balance) == "census: no cap; spent epsilon 0.5; remaining nothing: no cap; releases 1"


def test_spent_is_one_amount_in_three_views():
    balance = Balance.of("census", Cap.of(epsilon=9, delta=1e-6), [pure(1), Guarantee("rho-zCDP", rho=0.5)])
    assert balance.spent == Amounts(1 + epsilon_for(0.5, 1e-6), Fraction(0), Fraction(1))


def test_under_a_rho_cap_rho_comes_first():
    balance = Balance.of("census", Cap.of(rho=0.5, delta=1e-6), [pure(0.6)])
    assert str(balance) == (
        "census: cap rho 0.5 at delta 0.000001; spent rho 0.18; remaining rho 0.32 or epsilon 0.8; releases 1"
    )


def test_own_deltas_are_shown():
    spent = [Guarantee("(epsilon, delta)-DP", epsilon=0.5, delta=1e-7)]
    balance = Balance.of("census", Cap.of(epsilon=1, delta=1e-6), spent)
    assert balance.spent_text == "epsilon 0.5, delta 1e-7"
    assert balance.remaining_text.startswith("epsilon 0.5 or rho ~0.0")
    assert balance.remaining_text.endswith(", delta 9e-7")
    assert balance.spent.rho is None


def test_what_no_cap_can_count_is_counted_apart():
    balance = Balance.of("census", Cap.of(epsilon=1), [pure(0.5), Guarantee("k-anonymity", epsilon=0.1)])
    assert (balance.releases, balance.unbounded, balance.spent.epsilon) == (2, 1, Fraction(1, 2))
    assert balance.remarks == ("1 without a guarantee that adds up",)


def test_mixed_neighbours_and_units_are_said():
    same = Balance.of("census", Cap.of(epsilon=9), [pure(1), pure(2)])
    assert not same.mixed
    assert same.remarks == ()
    replaced = Balance.of("census", Cap.of(epsilon=9), [pure(1), pure(2, adjacency=ADJACENCIES[1])])
    assert replaced.mixed
    assert replaced.spent.epsilon == 3
    assert replaced.remarks == ("mixed neighbours: add or remove one unit / replace one record",)
    units = Balance.of("census", Cap.of(epsilon=9), [pure(1), pure(2, Unit("person", period="day"))])
    assert units.mixed
    assert units.remarks == ("mixed units: person with at most 1 row / person-day with at most 1 row",)


def test_spending_that_the_cap_cannot_express_is_said():
    balance = Balance.of("census", Cap.of(epsilon=1), [Guarantee("rho-zCDP", rho=0.5)])
    assert balance.spent.epsilon is None
    assert balance.spent_text == "without a number in epsilon"
    assert balance.remaining_text == "epsilon 0"


def test_json_is_exact_and_plain():
    balance = Balance.of("census", Cap.of(epsilon="1/3"), [pure("1/7")])
    data = json.loads(json.dumps(balance.to_json()))
    assert data["spent"] == {"epsilon": "1/7", "delta": "0", "rho": "1/98"}
    assert data["remaining"]["epsilon"] == "4/21"
    assert data["cap"] == {"epsilon": "1/3", "delta": "0", "rho": None}
    assert (data["releases"], data["unbounded"], data["units"]) == (1, 0, ["person with at most 1 row"])
    assert Balance.of("new", None, []).to_json()["remaining"] is None
