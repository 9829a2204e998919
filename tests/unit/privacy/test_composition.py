from fractions import Fraction

import pytest

from sudare.errors import ParameterError
from sudare.privacy import Guarantee, Unit, epsilon_for, parallel, sequential
from sudare.privacy.composition import Total, composes
from sudare.privacy.guarantee import ADJACENCIES

PERSON = Unit("person")
DELTA = Fraction(1, 10**6)


def pure(epsilon, **facts):
    return Guarantee("epsilon-DP", PERSON, epsilon=epsilon, **facts)


def local(epsilon):
    return Guarantee("epsilon-LDP", PERSON, epsilon=epsilon)


def zcdp(rho):
    return Guarantee("rho-zCDP", PERSON, rho=rho)


def approximate(epsilon, delta):
    return Guarantee("(epsilon, delta)-DP", PERSON, epsilon=epsilon, delta=delta)


def numbers(guarantee):
    return guarantee.notion, guarantee.epsilon, guarantee.delta, guarantee.rho


def test_pure_epsilons_add_exactly():
    assert numbers(sequential(pure(0.1), pure(0.2))) == ("epsilon-DP", Fraction(3, 10), None, None)


def test_rhos_add():
    assert numbers(sequential(zcdp("0.1"), zcdp("1/3"))) == ("rho-zCDP", None, None, Fraction(13, 30))


def test_pure_beside_zcdp_counts_half_its_square():
    assert numbers(sequential(pure(1), zcdp(0.25), pure(2))) == ("rho-zCDP", None, None, Fraction(11, 4))


def test_epsilons_and_deltas_add():
    composed = sequential(approximate(0.5, 1e-6), pure(0.25), approximate(1, 2e-6))
    assert numbers(composed) == ("(epsilon, delta)-DP", Fraction(7, 4), Fraction(3, 10**6), None)


def test_gaussian_releases_keep_their_rho():
    rho = Fraction(1, 100)
    gaussian = Guarantee("(epsilon, delta)-DP", PERSON, epsilon=1, delta=1e-6, rho=rho)
    assert numbers(sequential(gaussian, gaussian)) == ("(epsilon, delta)-DP", 2, Fraction(2, 10**6), 2 * rho)
    assert sequential(gaussian, gaussian, delta=DELTA).epsilon == epsilon_for(2 * rho, DELTA)
    assert sequential(gaussian, pure(1)).rho is None
    assert parallel(gaussian, gaussian, disjoint_units=True).rho == rho


def test_local_stays_local_only_among_its_own():
    assert sequential(local(1), local(2)).notion == "epsilon-LDP"
    assert sequential(local(1), Guarantee("Pk-anonymity", PERSON, epsilon=2)).epsilon == 3
    mixed = sequential(local(1), pure(2, adjacency=ADJACENCIES[1]))
    assert (mixed.notion, mixed.epsilon, mixed.adjacency) == ("epsilon-DP", 3, ADJACENCIES[1])


def test_local_guarantees_are_about_replacing_whatever_their_text_says():
    """Half epsilon-DP for adding or removing and half epsilon-LDP were 1 "add or remove": replacing one costs 3/2."""
    half = Fraction(1, 2)
    for compose in (sequential, lambda *parts: parallel(*parts, disjoint_units=True)):
        with pytest.raises(ParameterError, match="for different neighbours do not compose"):
            compose(pure(half), local(half))
    with pytest.raises(ParameterError, match=r"does not hold for replaced records .*got 'replace one record'"):
        parallel(local(half), local(half), disjoint_units=True)
    assert sequential(local(half), local(half)).adjacency == ADJACENCIES[1]


def test_zcdp_beside_approximate_needs_a_delta():
    with pytest.raises(ParameterError, match=r"compose at a stated delta only. Give delta="):
        sequential(zcdp(0.1), approximate(1, 1e-7))
    composed = sequential(zcdp(0.1), approximate(1, 1e-7), delta=1e-6)
    assert numbers(composed)[0::2] == ("(epsilon, delta)-DP", DELTA)
    rest = Fraction(9, 10**7)
    assert epsilon_for(0.1, rest) < composed.epsilon < min(1 + epsilon_for(0.1, rest), epsilon_for(0.6, rest))


def test_at_a_delta_pure_counts_as_what_gives_less():
    few, many = [pure(1)], [pure(0.01)] * 1000
    assert sequential(*few, zcdp(0.01), delta=DELTA).epsilon < min(
        1 + epsilon_for(0.01, DELTA), epsilon_for(0.51, DELTA)
    )
    by_rho = epsilon_for(Fraction(1, 20), DELTA)
    assert Fraction(9, 10) * by_rho < sequential(*many, delta=DELTA).epsilon < by_rho < 10
    assert sequential(*many).epsilon == 10


def test_a_delta_that_covers_everything_leaves_the_smallest_epsilon():
    assert sequential(zcdp(1e-8), delta=0.1).epsilon == Fraction(1, 10**12)


@pytest.mark.parametrize("delta", [5e-8, 1e-7])
def test_delta_must_leave_room_for_the_conversion(delta):
    with pytest.raises(ParameterError, match=r"delta does not cover the releases .*more than the sum of their own"):
        sequential(zcdp(0.1), approximate(1, 1e-7), delta=delta)


def test_public_facts_and_assumptions_are_gathered_once():
    composed = sequential(
        pure(1, public=("total",), assumptions=("a",)), pure(1, public=("total", "area"), assumptions=("b", "a"))
    )
    assert [str(fact) for fact in composed.public] == ["total", "area"]
    assert [str(fact) for fact in composed.assumptions] == ["a", "b"]


@pytest.mark.parametrize("compose", [sequential, lambda *parts: parallel(*parts, disjoint_units=True)])
def test_what_cannot_be_said_in_one_sentence_is_refused(compose):
    with pytest.raises(ParameterError, match="there is nothing to compose"):
        compose()
    with pytest.raises(ParameterError, match=r"for different units do not compose .*'person .*'row'"):
        compose(pure(1), Guarantee("epsilon-DP", epsilon=1))
    with pytest.raises(ParameterError, match="for different neighbours do not compose"):
        compose(pure(1), pure(1, adjacency=ADJACENCIES[1]))


@pytest.mark.parametrize(
    "guarantee",
    [
        Guarantee("none", PERSON),
        Guarantee("none: seeded", PERSON),
        Guarantee("k-anonymity", PERSON),
        Guarantee("k-anonymity", PERSON, epsilon=1),
        Guarantee("Pk-anonymity", PERSON),
    ],
    ids=str,
)
def test_what_has_no_cost_does_not_compose(guarantee):
    assert not composes(guarantee)
    with pytest.raises(ParameterError, match="a release without a cost does not compose"):
        sequential(pure(1), guarantee)
    with pytest.raises(ParameterError, match="a release without a cost does not compose"):
        parallel(pure(1), guarantee, disjoint_units=True)


def test_parallel_takes_the_largest():
    assert numbers(parallel(pure(1), pure(3), pure(2), disjoint_units=True))[:2] == ("epsilon-DP", 3)
    assert parallel(zcdp(0.5), zcdp(0.1), disjoint_units=True).rho == Fraction(1, 2)
    assert parallel(pure(2), zcdp(0.1), disjoint_units=True).rho == 2
    mixed = parallel(approximate(1, 1e-6), approximate(0.5, 1e-5), pure(2), disjoint_units=True)
    assert numbers(mixed) == ("(epsilon, delta)-DP", 2, Fraction(1, 10**5), None)


def test_parallel_zcdp_beside_approximate_needs_a_delta():
    parts = zcdp(0.1), approximate(1, 1e-6)
    with pytest.raises(ParameterError, match="compose at a stated delta only"):
        parallel(*parts, disjoint_units=True)
    composed = parallel(*parts, disjoint_units=True, delta=1e-6)
    assert numbers(composed) == ("(epsilon, delta)-DP", epsilon_for(0.1, DELTA), DELTA, None)
    with pytest.raises(ParameterError, match="delta does not cover"):
        parallel(*parts, disjoint_units=True, delta=1e-7)


@pytest.mark.parametrize("word", [False, None, 1, "yes"])
def test_parallel_needs_the_callers_word(word):
    with pytest.raises(ParameterError, match=r"needs parts that share no unit .*compose in sequence"):
        parallel(pure(1), pure(1), disjoint_units=word)


def test_parallel_does_not_hold_for_replaced_records():
    replaced = pure(1, adjacency=ADJACENCIES[1])
    with pytest.raises(ParameterError, match="does not hold for replaced records"):
        parallel(replaced, replaced, disjoint_units=True)


def test_total_keeps_the_kinds_apart():
    total = Total.of([pure(1), approximate(2, 1e-6), zcdp(0.5)])
    assert total == Total(((Fraction(1), 1), (Fraction(2), 1)), DELTA, Fraction(1, 2), DELTA)
    assert total.all_rho is None
    assert Total.of([pure(1), zcdp(0.5)]).all_rho == 1
    assert total.epsilon_at(DELTA) is None
    assert Total.of([pure(1), approximate(2, 1e-6)]).epsilon_at(1e-6) == 3
    assert Total().epsilon_at(0) == 0
