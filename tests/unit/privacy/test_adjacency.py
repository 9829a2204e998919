"""Costs under one kind of neighbours, against what the probabilities themselves do."""

import math
from fractions import Fraction

import pytest

from sudare.errors import BudgetError, ParameterError
from sudare.privacy import Cap, Guarantee, Unit
from sudare.privacy.account import Account
from sudare.privacy.composition import ADDED, REPLACED, adjacency_of, common_adjacency, cost_of

PERSON = Unit("person")


def pure(epsilon, adjacency=ADDED, unit=PERSON):
    return Guarantee("epsilon-DP", unit, adjacency, epsilon=epsilon)


def test_replacing_is_two_steps_of_adding_and_removing():
    assert cost_of(pure("1/2"), REPLACED).epsilon == 1
    assert cost_of(pure("1/2", REPLACED), REPLACED).epsilon == Fraction(1, 2)
    assert cost_of(pure("1/2")).epsilon == Fraction(1, 2)
    assert cost_of(Guarantee("rho-zCDP", PERSON, rho="1/8"), REPLACED).rho == Fraction(1, 2)


def test_a_method_may_show_that_replacing_costs_less():
    stated = Guarantee("rho-zCDP", PERSON, rho="1/8", replace_rho="1/4")
    assert cost_of(stated, REPLACED).rho == Fraction(1, 4)
    assert cost_of(stated, ADDED).rho == Fraction(1, 8)
    assert cost_of(stated, REPLACED, units=3).rho == Fraction(9, 4)
    assert Guarantee.from_json(stated.to_json()) == stated
    assert "replace_rho" not in Guarantee("rho-zCDP", rho=1).to_json()


@pytest.mark.parametrize(
    "facts",
    [{"rho": 1, "replace_rho": "1.99"}, {"rho": 1, "replace_rho": "4.01"}, {"epsilon": 1, "replace_rho": 2}],
    ids=str,
)
def test_no_cost_of_two_steps_lies_elsewhere(facts):
    with pytest.raises(ParameterError, match="replace_rho is not the cost of two steps"):
        Guarantee("rho-zCDP" if "rho" in facts else "epsilon-DP", PERSON, **facts)
    with pytest.raises(ParameterError, match="replace_rho is not the cost of two steps"):
        Guarantee("rho-zCDP", PERSON, REPLACED, rho=1, replace_rho=2)


@pytest.mark.parametrize("epsilon", ["1/1000", "1/2", "3"])
@pytest.mark.parametrize("steps", [2, 5])
def test_delta_of_a_group_is_above_the_sum_and_reached_by_a_mechanism(epsilon, steps):
    size, delta = Fraction(epsilon), Fraction(1, 10**9)
    made = Guarantee("(epsilon, delta)-DP", PERSON, epsilon=size, delta=delta)
    cost = cost_of(made, units=steps)
    truth = sum(math.exp(step * float(size)) for step in range(steps)) * float(delta)
    assert cost.epsilon == steps * size
    assert truth * (1 - 1e-12) <= float(cost.delta) <= truth * (1 + 1e-9)
    # Probabilities of one event at the neighbours one step apart: each step multiplies and adds as much as it may.
    probability = Fraction(0)
    for _ in range(steps):
        probability = probability * Fraction(math.exp(float(size))) + delta
    assert probability <= cost.delta * (1 + Fraction(1, 10**12))


def test_two_steps_of_epsilon_and_delta():
    made = Guarantee("(epsilon, delta)-DP", PERSON, epsilon=1, delta="1e-6")
    cost = cost_of(made, REPLACED)
    assert cost.epsilon == 2
    assert 0 < cost.delta - (1 + Fraction(math.e)) / 10**6 < Fraction(1, 10**15)


def test_a_large_group_of_a_delta_is_promised_nothing():
    made = Guarantee("(epsilon, delta)-DP", PERSON, epsilon=1, delta="1e-6")
    assert cost_of(made, units=365).delta == 1
    assert cost_of(Guarantee("(epsilon, delta)-DP", PERSON, epsilon=5000, delta="1e-6"), units=2).delta == 1


def test_gaussian_noise_is_a_rho_however_it_was_asked_for():
    made = Guarantee("(epsilon, delta)-DP", PERSON, epsilon=1, delta="1e-6", rho="1/50")
    cost = cost_of(made, REPLACED)
    assert (cost.epsilon, cost.delta, cost.rho, cost.stated_delta) == (None, 0, Fraction(4, 50), Fraction(1, 10**6))


@pytest.mark.parametrize("notion", ["epsilon-LDP", "Pk-anonymity"])
def test_local_guarantees_are_about_replacing_whatever_they_say(notion):
    local = Guarantee(notion, PERSON, epsilon=1)
    assert adjacency_of(local) == REPLACED
    assert cost_of(local, REPLACED).epsilon == 1
    assert common_adjacency([pure(1), local]) == REPLACED
    assert common_adjacency([pure(1), pure(2)]) == common_adjacency([]) == ADDED


def test_the_case_of_a_public_total_beside_adding_and_removing():
    """Epsilon 1/2, and 1/4 with a public total (booked as 1/2): a person who moves loses 3/2 and not 1."""
    account = Account("census", Cap.of(epsilon="149/100"), (pure("1/2"),))
    with pytest.raises(BudgetError, match=r"requested epsilon 0.5, remaining 0.49, difference 0.01"):
        account.admit(pure("1/2", REPLACED))
    enough = Account("census", Cap.of(epsilon="3/2"), (pure("1/2"),)).admit(pure("1/2", REPLACED))
    assert enough.balance.spent.epsilon == Fraction(3, 2)
    # From then on an add-or-remove release counts twice, too.
    with pytest.raises(BudgetError, match=r"requested epsilon 0.2, remaining 0, difference 0.2"):
        enough.admit(pure("1/10"))


def test_the_sum_for_whoever_moves_is_reached():
    """Two cells, a person in one of them. Randomized response per cell: the odds really change by e^(3/2).

    Release 1 shows each cell's occupancy through its own randomized response of epsilon 1/2 (add or remove one: one
    cell changes). Release 2 shows which cell it is through one of epsilon 1/2 (replace: the total is public).
    """

    def truth(value, said, epsilon):
        return math.exp(epsilon) / (1 + math.exp(epsilon)) if value == said else 1 / (1 + math.exp(epsilon))

    def probability(cell, said):
        first, second, which = said
        own = truth(cell == 0, first, 0.5) * truth(cell == 1, second, 0.5)
        return own * truth(cell, which, 0.5)

    outcomes = [(first, second, which) for first in (True, False) for second in (True, False) for which in (0, 1)]
    loss = max(math.log(probability(0, said) / probability(1, said)) for said in outcomes)
    assert loss == pytest.approx(1.5)
    account = Account("census", Cap.of(epsilon=9)).admit(pure("1/2")).admit(pure("1/2", REPLACED))
    assert float(account.balance.spent.epsilon) >= loss - 1e-12


def test_a_release_for_another_unit_is_refused():
    account = Account("census", Cap.of(epsilon=9), (pure(1),))
    for other in (Unit(), Unit("person", period="day"), Unit("household")):
        with pytest.raises(
            BudgetError, match=r"releases for another unit, and costs of different units cannot be added up"
        ):
            account.admit(pure(1, unit=other))
    assert account.admit(pure(1, unit=Unit("person", max_rows=5))).balance.spent.epsilon == 2
    assert account.admit(Guarantee("none"), accept_no_guarantee=True).balance.unbounded == 1
