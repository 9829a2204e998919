"""Accounts of people: what all data sets about the same people cost one of them."""

import math
from fractions import Fraction
from itertools import product

import pytest

from sudare.errors import BudgetError, LedgerError, ParameterError
from sudare.privacy import Balance, Cap, Guarantee, Ledger, Unit, epsilon_for
from sudare.privacy.balance import Member, People
from sudare.privacy.composition import ADDED, REPLACED, Total

PERSON = Unit("person")
DAY = Unit("person", period="day")


def pure(epsilon, unit=PERSON, adjacency=ADDED):
    return Guarantee("epsilon-DP", unit, adjacency, epsilon=epsilon)


def people(*members, cap=None):
    return People("residents", cap or Cap.of(epsilon=1), members=members)


@pytest.fixture
def ledger(tmp_path):
    books = Ledger(tmp_path / "ledger.db")
    books.set_account("residents", epsilon=1)
    return books


def test_data_sets_about_the_same_people_add_up(ledger):
    for name in ("census", "survey"):
        ledger.set_cap(name, epsilon=1)
        ledger.join(name, "residents")
    ledger.spend("census", pure("3/4"), "a")
    with pytest.raises(
        BudgetError,
        match=r"account 'residents' has not enough budget left: requested epsilon 0.5, remaining 0.25, difference 0.25."
        " Ask for less, or raise the cap with: sudare ledger account.",
    ):
        ledger.spend("survey", pure("1/2"), "b")
    with pytest.raises(BudgetError, match="data set 'census' has not enough budget left"):
        ledger.spend("census", pure("1/2"), "b")
    ledger.spend("survey", pure("1/4"), "b")
    account = ledger.account("residents")
    assert (account.spent.epsilon, account.remaining.epsilon, account.releases) == (1, 0, 2)
    assert [(part.dataset, part.spent.epsilon) for part in account.parts] == [
        ("census", Fraction(3, 4)),
        ("survey", Fraction(1, 4)),
    ]
    assert ledger.balance("census").account == account
    assert ledger.accounts() == (account,)
    assert len(ledger.entries()) == 7  # what was refused left no row


def test_a_part_in_another_spelling_is_refused_like_the_first(ledger):
    for name, part in (("a", "Tokyo"), ("b", "tokyo")):
        ledger.set_cap(name, epsilon=10)
        ledger.join(name, "residents", part=part)
        ledger.spend(name, pure("1/2"), f"{name}1")
    for name in ("a", "b"):
        with pytest.raises(BudgetError, match=r"account 'residents' has not enough budget left: .* remaining 0,"):
            ledger.spend(name, pure("1/2"), f"{name}2")


def test_of_disjoint_parts_the_largest_counts(ledger):
    for name in ("tokyo", "osaka", "kyoto"):
        ledger.join(name, "residents", part=name)
    ledger.join("survey", "residents")
    ledger.spend("tokyo", pure("1/2"), "a")
    ledger.spend("osaka", pure("1/4"), "a")
    ledger.spend("survey", pure("1/2"), "a")
    assert ledger.account("residents").spent.epsilon == 1
    ledger.spend("osaka", pure("1/4"), "b")
    ledger.spend("kyoto", pure("1/2"), "a")
    for name in ("tokyo", "osaka", "survey"):
        with pytest.raises(BudgetError, match=r"requested epsilon 0.001, remaining 0"):
            ledger.spend(name, pure("1/1000"), "z")


def test_parts_whose_names_look_alike_are_one():
    """Disjoint are two places, not two spellings of one."""
    members = [Member(name, part=name, guarantees=(pure("1/2"),)) for name in ("Tokyo", "tokyo", "\uff34okyo", "Osaka")]
    assert people(*members).total().added == people(*members[:3]).total().added
    assert people(*members).total().added == Fraction(3, 2)


def test_parts_that_cost_different_things_are_looked_at_one_by_one():
    gaussian = Guarantee("rho-zCDP", PERSON, rho="1/100")
    cap = Cap.of(epsilon=1, delta=1e-6)
    account = people(Member("a", "a", guarantees=(pure("1/2"),)), Member("b", "b", guarantees=(gaussian,)), cap=cap)
    assert Balance.of_people(account).spent.epsilon == epsilon_for("1/100", 1e-6)
    assert account.admit("a", pure("1/4")).members[0].guarantees == (pure("1/2"), pure("1/4"))
    left = Balance.of_people(account).remaining
    for name in ("a", "b"):
        account.admit(name, pure(left.epsilon))
        account.admit(name, Guarantee("rho-zCDP", PERSON, rho=left.rho))
    with pytest.raises(BudgetError):
        account.admit("b", pure(left.epsilon * 2))


@pytest.mark.slow
def test_whoever_moves_between_parts_is_covered_by_the_larger():
    """One step in each of two parts costs at most the larger replacement: for totals of every kind, order by order."""
    kinds = [
        (pure("1/2"),),
        (pure("1/100"),) * 400,
        (Guarantee("rho-zCDP", PERSON, rho="1/50"),),
        (Guarantee("(epsilon, delta)-DP", PERSON, epsilon="1/3", delta=1e-8),) * 3,
        (pure("1/5"), pure("1/5"), Guarantee("rho-zCDP", PERSON, rho="1/200", replace_rho="1/100")),
    ]
    for one, other in product(kinds, repeat=2):
        larger = Total.largest([Total.of(one, REPLACED), Total.of(other, REPLACED)])
        moved = Total.of([*one, *other])
        assert moved.epsilon_at(1e-6) <= larger.epsilon_at(1e-6)
        assert moved.delta <= larger.delta
        assert Total.of(one, REPLACED).epsilon_at(1e-6) <= larger.epsilon_at(1e-6)


def test_a_move_between_parts_really_costs_both_steps():
    """Randomized responses of two parts, each epsilon 1/2: leaving one and entering the other changes odds by e."""
    right = 1 / (1 + math.exp(-0.5))
    loss = 2 * math.log(right / (1 - right))
    common = Member("survey", guarantees=(pure("1/10", adjacency=REPLACED),))
    parts = [Member(name, name, guarantees=(pure("1/2"),)) for name in ("tokyo", "osaka")]
    account = people(*parts, common, cap=Cap.of(epsilon=9))
    assert account.adjacency == REPLACED
    assert float(account.total().added) == pytest.approx(loss + 0.1)


def test_one_replacing_release_turns_the_whole_account():
    account = people(Member("a", guarantees=(pure("1/4"),)), Member("b"))
    with pytest.raises(BudgetError, match=r"requested epsilon 0.75, remaining 0.5, difference 0.25"):
        account.admit("b", pure("3/4", adjacency=REPLACED))
    assert account.admit("b", pure("1/2", adjacency=REPLACED)).total().added == 1


def test_another_unit_needs_to_be_declared(ledger):
    ledger.join("days", "residents")
    with pytest.raises(
        BudgetError,
        match=r"the account 'residents' adds up what each person has lost, and the release is for another one "
        r"\(got 'person-day'; allowed: person\). Say how many",
    ):
        ledger.spend("days", pure("1/100", DAY), "a")
    ledger.join("days", "residents", units=30)
    ledger.spend("days", pure("1/100", DAY), "a")
    assert ledger.account("residents").spent.epsilon == Fraction(3, 10)
    assert ledger.balance("days").spent.epsilon == Fraction(1, 100)
    with pytest.raises(BudgetError, match=r"requested epsilon 0.9, remaining 0.7"):
        ledger.spend("days", pure("3/100", DAY), "b")
    ledger.set_cap("rows", epsilon=1)
    ledger.spend("rows", Guarantee("epsilon-DP", epsilon="1/100"), "a")
    with pytest.raises(BudgetError, match="and the release is for another one"):
        ledger.join("rows", "residents")


def test_days_that_are_data_sets_of_their_own_add_up_to_what_a_person_lost(ledger):
    for number in range(10):
        ledger.join(f"trips-{number}", "residents", units=1)
        ledger.spend(f"trips-{number}", pure("1/10", DAY), "a")
    assert ledger.account("residents").spent.epsilon == 1


def test_joining_later_takes_the_past_along_and_may_leave_nothing(ledger):
    ledger.set_cap("census", epsilon=9)
    ledger.spend("census", pure(5), "a")
    ledger.join("census", "residents")
    account = ledger.account("residents")
    assert (account.spent.epsilon, account.remaining.epsilon) == (5, 0)
    with pytest.raises(BudgetError, match="account 'residents' has not enough"):
        ledger.check("census", pure("1/1000"))


def test_a_data_set_stays_where_it_is(ledger):
    ledger.set_account("others", epsilon=1)
    ledger.join("census", "residents", part="tokyo", units=3)
    for account, terms in (
        ("others", {}),
        ("residents", {"part": "osaka", "units": 3}),
        ("residents", {"part": "tokyo", "units": 2}),
        ("residents", {"part": "tokyo"}),
    ):
        with pytest.raises(LedgerError, match=r"data set 'census' is in the account 'residents' and stays there"):
            ledger.join("census", account, **terms)
    ledger.join("census", "residents", units=4)
    ledger.spend("census", pure("1/8"), "a")
    assert ledger.account("residents").spent.epsilon == Fraction(1, 2)
    with pytest.raises(LedgerError, match="the unit of an account cannot change"):
        ledger.set_account("residents", unit="household", epsilon=1)
    with pytest.raises(LedgerError, match="account 'residents' has a cap already"):
        ledger.set_account("residents", epsilon=2)
    with pytest.raises(ParameterError, match="delta is too large"):
        ledger.set_account("residents", epsilon=2, delta=0.01, confirm=True)
    ledger.set_account("residents", epsilon=2, confirm=True)
    assert ledger.account("residents").remaining.epsilon == Fraction(3, 2)


@pytest.mark.parametrize("units", [0, -1, 1.5, True])
def test_units_are_whole_numbers(ledger, units):
    with pytest.raises(ParameterError, match="units is not a whole number from 1 on"):
        ledger.join("census", "residents", units=units)


def test_an_account_must_be_there(ledger):
    with pytest.raises(LedgerError, match=r"no such account of people .*Did you mean 'residents'\?"):
        ledger.join("census", "resident")
    with pytest.raises(LedgerError, match=r"no such account of people"):
        ledger.account("zzz")


def test_an_account_and_a_data_set_may_share_a_name(ledger):
    ledger.set_cap("residents", epsilon=1)
    ledger.spend("residents", pure("1/2"), "a")
    assert ledger.datasets() == ("residents",)
    assert ledger.account("residents").spent.epsilon == 0
    assert ledger.balance("residents").spent.epsilon == Fraction(1, 2)


def test_what_does_not_add_up_is_counted_apart(ledger):
    ledger.join("census", "residents")
    ledger.spend("census", Guarantee("k-anonymity"), "a", accept_no_guarantee=True)
    account = ledger.account("residents")
    assert (account.releases, account.unbounded, account.spent.epsilon) == (1, 1, 0)


def test_rows_of_accounts_are_in_the_chain_and_in_the_json(ledger):
    ledger.join("census", "residents", part="tokyo")
    assert [row.kind for row in ledger.entries()] == ["account", "join"]
    assert ledger.entries()[0].text == "account residents of each person: epsilon 1, delta 0"
    assert ledger.entries()[1].text == "joins the account residents as the part tokyo"
    ledger.spend("census", pure("1/2"), "a")
    data = ledger.to_json()
    assert [entry["kind"] for entry in data["entries"]] == ["account", "join", "spend"]
    (account,) = data["accounts"]
    assert account["parts"][0]["spent"]["epsilon"] == "1/2"
    assert account["summed"] == {"epsilon": "1/2", "way": "added", "order": None, "delta": "0"}
    (balance,) = data["balances"]
    assert balance["account"]["dataset"] == "residents"
    assert ledger.verify() == 3
