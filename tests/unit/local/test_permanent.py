"""Remember once, report often."""

import math

import numpy as np
import pytest

from sudare.errors import DomainError, ParameterError
from sudare.local import PermanentUnary, SymmetricUnary, estimate, rappor


def test_reports_of_one_memory_are_estimated_like_any_other(people):
    encoding = PermanentUnary(size=23, epsilon=4, first=2)
    memory = encoding.remember(people, seed=1)
    true = np.bincount(people, minlength=23)
    for seed in (2, 3):
        made = estimate(encoding.report(memory, seed=seed), "mle")
        # Six standard errors: a right estimator fails once in twenty million runs.
        assert (np.abs(made.counts - true) < 6 * made.standard_error).all()
        assert made.guarantee.notion == "none: seeded"


def test_reports_of_one_device_share_their_memory(people):
    """Averaged over many days the reports tell what is remembered, and not what is true."""
    encoding = PermanentUnary(size=23, epsilon=2, first=1)
    memory = encoding.remember(people[:200])
    days = [np.unpackbits(encoding.report(memory).packed, axis=1, count=23, bitorder="little") for _ in range(400)]
    remembered = np.unpackbits(memory.packed, axis=1, count=23, bitorder="little")
    assert ((np.mean(days, axis=0) > 0.5) == remembered).mean() > 0.99
    kept = remembered[np.arange(200), people[:200]].mean()
    assert abs(kept - SymmetricUnary(size=23, epsilon=2).chances[0]) < 0.2
    assert "seeded" not in str(memory)


def test_both_epsilons_and_the_effective_chances():
    encoding = PermanentUnary(size=23, epsilon=2, first=0.5)
    own, other = encoding.chances
    assert math.log(own / other) == pytest.approx(0.25)
    assert encoding.report_epsilon == 0.5
    assert encoding.guarantee.epsilon == 2
    assert encoding.to_json()["first"] == "1/2"


def test_rappor_in_its_papers_letters():
    """f = 1/2, p = 1/2, q = 3/4 with two hash functions: epsilon 4 ln 3 for ever and 1.0743 for one report (Erlingsson
    et al. 2014); half of each for a one-hot vector."""
    known = rappor(f=0.5, p=0.5, q=0.75)
    assert known.epsilon == pytest.approx(2 * math.log(3))
    assert known.first == pytest.approx(1.0743 / 2, abs=5e-5)
    assert known.chances == (0.6875, 0.5625)


@pytest.mark.parametrize("wrong", [{"f": 0}, {"f": 1}, {"p": 0.75}, {"q": 1.5}, {"p": -0.1}])
def test_parameters_that_are_not_rappors(wrong):
    with pytest.raises(ParameterError, match="these are not parameters of RAPPOR"):
        rappor(**{"f": 0.5, "p": 0.5, "q": 0.75, **wrong})


def test_mistakes():
    with pytest.raises(ParameterError, match="one report must cost less than all reports together"):
        PermanentUnary(size=23, epsilon=1, first=1)
    with pytest.raises(ParameterError, match="first is not positive"):
        PermanentUnary(size=23, epsilon=1)
    encoding = PermanentUnary(size=23, epsilon=2, first=1)
    with pytest.raises(ParameterError, match="the remembered answers are for another encoding"):
        PermanentUnary(size=23, epsilon=3, first=1).report(encoding.remember([1]))
    with pytest.raises(DomainError, match="outside the declared domain"):
        encoding.remember([23])


def test_a_value_that_returns_is_answered_as_before():
    """Home, work, home: the home's bits are those of the first day, and two values are paid for."""
    encoding = PermanentUnary(size=23, epsilon=2, first=1)
    home, work = np.arange(200) % 23, (np.arange(200) + 7) % 23
    first = encoding.remember(home)
    second = encoding.remember(work, first)
    third = encoding.remember(home, second)
    assert (third.packed[third.held] == first.packed[first.held]).all()
    assert (third.packed[second.held] == second.packed[second.held]).all()
    assert (first.values == 1).all()
    assert (third.values == 2).all()
    assert len(third.keys) == 400
    with pytest.raises(ParameterError, match="the remembered answers are of other devices"):
        encoding.remember([1], first)


def guessed(encoding, days, redrawn):
    """The share of 4,000 people whose home a collector finds who adds up all reports of the nights at home."""
    people = np.random.default_rng(3).integers(0, encoding.size, 4000)
    totals = np.zeros((4000, encoding.size))
    memory = encoding.remember(people)
    for _ in range(days):
        away = encoding.remember((people + 1) % encoding.size, None if redrawn else memory)
        memory = encoding.remember(people, None if redrawn else away)
        totals += np.unpackbits(encoding.report(memory).packed, axis=1, count=encoding.size, bitorder="little")
    return (totals.argmax(axis=1) == people).mean()


def test_thirty_nights_tell_no_more_than_one_memory_does():
    """Against the twin that draws a new memory whenever a person comes home."""
    encoding = PermanentUnary(size=23, epsilon=1, first=0.75)
    # An epsilon-LDP answer about one of d equally likely values is guessed with chance e**epsilon/(e**epsilon + d - 1).
    most = np.e / (np.e + 22)
    assert guessed(encoding, 30, redrawn=False) < most + 6 * np.sqrt(most / 4000)
    assert guessed(encoding, 30, redrawn=True) > 2 * most
