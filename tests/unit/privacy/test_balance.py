import json
from fractions import Fraction

from sudare.errors import Message
from sudare.privacy import Balance, Cap, Guarantee, Unit, epsilon_for, rho_for
from sudare.privacy.guarantee import ADJACENCIES


def pure(epsilon, unit=None, **facts):
    return Guarantee("epsilon-DP", unit or Unit("person"), epsilon=epsilon, **facts)


def test_without_a_cap_nothing_remains():
    balance = Balance.of("census", None, [pure(0.5)])
    assert balance.remaining is None
    assert str(balance) == "census: no cap; spent epsilon 0.5; remaining nothing: no cap; releases 1"


def test_spent_is_one_amount_in_three_views():
    balance = Balance.of(
        "census", Cap.of(epsilon=9, delta=1e-6), [pure(1), Guarantee("rho-zCDP", Unit("person"), rho=0.5)]
    )
    assert (balance.spent.delta, balance.spent.rho) == (0, 1)
    # Less than either half alone would say, and more than rho without the pure release.
    assert epsilon_for(0.5, 1e-6) < balance.spent.epsilon < min(1 + epsilon_for(0.5, 1e-6), epsilon_for(1, 1e-6))
    assert balance.spent.epsilon == balance.summed.epsilon
    assert balance.summed.way == "by orders"


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
    assert balance.remarks == (Message("{number} without a guarantee that adds up", number=1),)


def test_mixed_neighbours_are_counted_for_replacing():
    same = Balance.of("census", Cap.of(epsilon=9), [pure(1), pure(2)])
    assert (same.remarks, same.adjacency) == ((), ADJACENCIES[0])
    replaced = Balance.of("census", Cap.of(epsilon=9), [pure(1), pure(2, adjacency=ADJACENCIES[1])])
    assert (replaced.spent.epsilon, replaced.remaining.epsilon) == (4, 5)
    assert replaced.adjacency == ADJACENCIES[1]
    assert replaced.remarks == (Message("mixed neighbours: all counted for replacing one record"),)


def test_a_person_who_moves_has_lost_what_the_issue_says():
    with_public_total = pure("1/2", adjacency=ADJACENCIES[1])  # noise for 1/4, and two cells change
    balance = Balance.of("census", Cap.of(epsilon=2), [pure("1/2"), with_public_total])
    assert balance.spent.epsilon == Fraction(3, 2)
    assert balance.remaining.epsilon == Fraction(1, 2)


def test_no_number_bounds_what_mixed_units_have_lost():
    units = Balance.of("census", Cap.of(epsilon=9), [pure(1), pure(2, Unit("person", period="day"))])
    assert (units.spent.epsilon, units.spent.rho, units.remaining.epsilon) == (None, None, 0)
    assert units.remarks == (
        Message("different units, whose costs cannot be added up: {units}", units="person / person-day"),
    )
    assert str(units).endswith("; different units, whose costs cannot be added up: person / person-day")


def test_how_many_rows_a_unit_has_does_not_change_who_it_is():
    balance = Balance.of("census", Cap.of(epsilon=9), [pure(1), pure(2, Unit("person", max_rows=3))])
    assert (balance.units, balance.spent.epsilon) == (("person",), 3)


def test_a_sum_per_period_is_shown_for_a_month_and_a_year():
    day = Unit("person", period="day")
    balance = Balance.of("trips", Cap.of(epsilon=9, delta=1e-6), [pure("0.01", day), pure("0.02", day)])
    assert [(number, spent.epsilon) for number, spent in balance.over] == [
        (30, Fraction(9, 10)),
        (365, Fraction(1095, 100)),
    ]
    gaussian = Balance.of("trips", Cap.of(epsilon=9, delta=1e-6), [Guarantee("rho-zCDP", day, rho="1/1000000")])
    assert gaussian.over[0][1].rho == Fraction(900, 10**6)
    assert gaussian.over[0][1].epsilon == epsilon_for(Fraction(900, 10**6), 1e-6)
    assert Balance.of("trips", None, [pure(1)]).over == ()


def test_gaussian_noise_asked_for_by_epsilon_and_delta_is_counted_by_rho():
    rho = rho_for("1/10", "1e-8")
    asked = Guarantee("(epsilon, delta)-DP", Unit("person"), epsilon="1/10", delta="1e-8", rho=rho)
    balance = Balance.of("census", Cap.of(epsilon=9, delta=1e-6), [asked] * 365)
    assert balance.spent.epsilon == epsilon_for(365 * rho, 1e-6)
    assert (balance.spent.delta, balance.summed.way) == (0, "converted")
    without = Guarantee("(epsilon, delta)-DP", Unit("person"), epsilon="1/10", delta="1e-8")
    # What the ledger knew before: 365 epsilons, or none since the deltas pass the cap's.
    assert Balance.of("census", Cap.of(epsilon=99, delta=1e-6), [without] * 365).spent.epsilon is None
    no_cap = Balance.of("census", None, [asked])
    assert Fraction(99, 1000) < no_cap.spent.epsilon <= Fraction(1, 10)


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
    assert (data["releases"], data["unbounded"], data["units"]) == (1, 0, ["person"])
    assert Balance.of("new", None, []).to_json()["remaining"] is None
