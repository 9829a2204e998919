from fractions import Fraction

import pytest

from sudare.errors import BudgetError, ParameterError
from sudare.privacy import Cap, Guarantee, epsilon_for, rho_for
from sudare.privacy.composition import Total, cost_of

DELTA = Fraction(1, 10**6)


def pure(epsilon):
    return Guarantee("epsilon-DP", epsilon=epsilon)


def zcdp(rho):
    return Guarantee("rho-zCDP", rho=rho)


def approximate(epsilon, delta):
    return Guarantee("(epsilon, delta)-DP", epsilon=epsilon, delta=delta)


def refusal(cap, spent, requested):
    total = Total.of(spent)
    assert not cap.admits(total + Total.of([requested]))
    error = cap.refusal("census", total, cost_of(requested))
    assert type(error) is BudgetError
    return str(error)


@pytest.mark.parametrize("cap", [Cap.of(epsilon=0.3), Cap.of(epsilon="1/3", delta=1e-6), Cap.of(rho=1, delta=0.1)])
def test_json_there_and_back(cap):
    assert Cap.from_json(cap.to_json()) == cap


def test_numbers_are_read_as_written():
    assert Cap.of(epsilon=0.3, delta="1e-6") == Cap(Fraction(3, 10), DELTA)
    assert str(Cap.of(epsilon=0.3, delta=1e-9)) == "epsilon 0.3, delta 1e-9"


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ({}, r"a cap has either epsilon or rho \(allowed: \(epsilon, delta\), or rho with a delta\)"),
        ({"delta": 0.1}, "a cap has either epsilon or rho"),
        ({"epsilon": 1, "rho": 1, "delta": 0.1}, "a cap has either epsilon or rho"),
        ({"epsilon": 0}, "epsilon is not positive"),
        ({"epsilon": "inf"}, "epsilon is not a finite number"),
        ({"rho": -1, "delta": 0.1}, "rho is not positive"),
        ({"rho": 1}, "a cap in rho needs a delta above 0. It says"),
        ({"epsilon": 1, "delta": 1}, "delta is not a probability below one .*0 <= delta < 1"),
        ({"epsilon": 1, "delta": -0.1}, "delta is not a probability below one"),
    ],
)
def test_cap_refuses_what_limits_nothing(numbers, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Cap.of(**numbers)


def test_pure_cap_is_filled_to_the_last_bit_and_not_over():
    cap = Cap.of(epsilon=0.3)
    assert cap.admits(Total.of([pure(0.1), pure(0.2)]))
    assert not cap.admits(Total.of([pure(0.1), pure(0.2), pure(Fraction(1, 10**40))]))


def test_deltas_add_up_to_the_cap():
    cap = Cap.of(epsilon=1, delta=3e-6)
    assert cap.admits(Total.of([approximate(0.1, 1e-6), approximate(0.1, 2e-6)]))
    assert not cap.admits(Total.of([approximate(0.1, 1e-6), approximate(0.1, "2.0000001e-6")]))


def test_rho_is_converted_at_the_delta_that_is_left():
    cap = Cap.of(epsilon=1, delta=1e-6)
    spent = [approximate(0.25, 6e-7), pure(0.25)]
    assert cap.admits(Total.of([*spent, zcdp(rho_for(Fraction(1, 2), Fraction(4, 10**7)))]))
    # Order by order there is a little more room, and not more than if the epsilons cost nothing.
    assert not cap.admits(Total.of([*spent, zcdp(rho_for(1, Fraction(4, 10**7)))]))


def test_many_small_pure_releases_count_as_rho():
    cap = Cap.of(epsilon=2, delta=1e-6)
    assert cap.admits(Total.of([pure(0.01)] * 1000))
    assert not Cap.of(epsilon=2).admits(Total.of([pure(0.01)] * 201))


def test_rho_cap_counts_pure_as_half_its_square():
    cap = Cap.of(rho=0.5, delta=1e-6)
    assert cap.admits(Total.of([pure(1)]))
    assert cap.admits(Total.of([pure(0.6), zcdp(0.32)]))
    assert not cap.admits(Total.of([pure(0.6), zcdp("0.3200001")]))


@pytest.mark.parametrize(
    ("cap", "spent"),
    [
        (Cap.of(epsilon=1), [pure(0.7)]),
        (Cap.of(epsilon="1/3", delta=1e-6), [pure(0.1), zcdp(0.0005)]),
        (Cap.of(epsilon=2, delta=1e-6), [pure(0.01)] * 900),
        (Cap.of(epsilon=2, delta=1e-6), [approximate(0.5, 3e-7), zcdp(0.01), pure(0.2)]),
        (Cap.of(rho=0.1, delta=1e-9), [zcdp(0.03), pure(0.1)]),
    ],
    ids=str,
)
def test_what_remains_is_admitted_and_more_is_not(cap, spent):
    total = Total.of(spent)
    left = cap.remaining(total)
    assert left.epsilon > 0
    more = 1 + Fraction(1, 10**6)
    assert cap.admits(total + Total.of([pure(left.epsilon)]))
    assert not cap.admits(total + Total.of([pure(left.epsilon * more)]))
    if cap.delta:
        assert left.rho > 0
        assert cap.admits(total + Total.of([zcdp(left.rho)]))
        assert not cap.admits(total + Total.of([zcdp(left.rho * more)]))


@pytest.mark.parametrize(
    ("cap", "spent"),
    [
        (Cap.of(epsilon=0.1), [pure(0.5)]),
        (Cap.of(epsilon=1), [zcdp(0.1)]),
        (Cap.of(epsilon=1, delta=1e-9), [approximate(0.1, 1e-6)]),
        (Cap.of(epsilon=1, delta=1e-6), [approximate(2, 1e-7)]),
        (Cap.of(rho=1, delta=1e-6), [approximate(0.1, 1e-6)]),
        (Cap.of(rho=0.01, delta=1e-6), [zcdp(0.1)]),
    ],
    ids=str,
)
def test_a_cap_below_what_is_spent_leaves_nothing(cap, spent):
    left = cap.remaining(Total.of(spent))
    assert (left.epsilon, left.rho) == (0, 0)
    assert not cap.admits(Total.of([*spent, pure(Fraction(1, 10**9))]))


def test_refusal_states_requested_remaining_and_difference():
    assert refusal(Cap.of(epsilon=0.3), [pure(0.1)], pure(0.25)) == (
        "data set 'census' has not enough budget left: requested epsilon 0.25, remaining 0.2, difference 0.05. "
        "Ask for less, or raise the cap with: sudare ledger set-cap."
    )


@pytest.mark.parametrize(
    ("cap", "spent", "requested", "part"),
    [
        (
            Cap.of(epsilon=1),
            [],
            zcdp(0.1),
            "left (rho is read as epsilon by means of delta, and none is left): requested rho 0.1, remaining 0,",
        ),
        (Cap.of(rho=0.1, delta=1e-6), [zcdp(0.05)], zcdp(0.1), "left: requested rho 0.1, remaining 0.05,"),
        (
            Cap.of(rho=1, delta=1e-6),
            [],
            approximate(0.1, 1e-7),
            "left (a cap in rho cannot count (epsilon, delta)-DP): requested epsilon 0.1, remaining 0,",
        ),
        (
            Cap.of(epsilon=1, delta=1e-6),
            [approximate(0.1, 8e-7)],
            approximate(0.1, 3e-7),
            "left: requested delta 3e-7, remaining 2e-7, difference 1e-7",
        ),
        (
            Cap.of(epsilon=5, delta=1e-6),
            [zcdp(0.001)],
            approximate(0.1, 1e-6),
            "left (the rho spent before needs some delta): requested epsilon 0.1, remaining 0,",
        ),
        (
            Cap.of(epsilon=1, delta=1e-6),
            [pure(0.5)],
            approximate(0.75, 1e-7),
            "left: requested epsilon 0.75, remaining 0.5, difference 0.25",
        ),
        (Cap.of(epsilon=1, delta=1e-6), [pure(1)], zcdp(1), "left: requested rho 1, remaining 0, difference 1"),
    ],
    ids=lambda value: str(value) if isinstance(value, Cap | Guarantee) else None,
)
def test_refusal_gives_its_reason_in_the_currency_of_the_request(cap, spent, requested, part):
    assert part in refusal(cap, spent, requested)


def test_remaining_beside_zcdp_is_what_the_conversion_leaves():
    cap = Cap.of(epsilon=1, delta=1e-6)
    assert cap.remaining(Total.of([zcdp(0.005)])).epsilon >= 1 - epsilon_for(0.005, DELTA)
    assert cap.remaining(Total.of([zcdp(0.005)])).rho == rho_for(1, DELTA) - Fraction(5, 1000)


@pytest.mark.parametrize("amount", ["1e-300", "1e300"])
def test_caps_and_costs_beyond_all_measure_are_counted(amount):
    cap = Cap.of(epsilon=amount, delta=1e-6)
    total = Total.of([pure(Fraction(amount) / 3), pure(Fraction(amount) / 3)])
    assert cap.admits(total)
    assert cap.remaining(total).epsilon >= Fraction(amount) / 3
    # What is far smaller than delta is covered by delta alone, whatever the epsilon.
    assert cap.admits(total + total) == (Fraction(amount) < 1)
