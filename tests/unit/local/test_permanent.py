"""Remember once, report often."""

import math

import numpy as np
import pytest

from sudare.errors import DomainError, InputError, ParameterError
from sudare.local import PermanentUnary, SymmetricUnary, Tally, encoding_from_json, estimate, rappor, repeated


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


@pytest.mark.parametrize("first", [1, 2])
def test_devices_that_answer_for_some_values_are_estimated_without_bias(people, first):
    """Six standard errors, which are those of the law (checked to 10 % over 400 collections)."""
    encoding = PermanentUnary(size=23, epsilon=2, first=first, buckets=4)
    true = np.bincount(people, minlength=23)
    made = estimate(encoding.report(encoding.remember(people)), "mle")
    assert (np.abs(made.counts - true) < 6 * made.standard_error).all()
    few = people[:500]
    drawn = np.array([estimate(encoding.randomize(few), "mle").counts for _ in range(400)])
    law = estimate(encoding.randomize(few), "mle")
    assert np.abs(drawn.std(axis=0) / law.standard_error - 1).mean() < 0.1
    assert np.abs(np.cov(drawn.T)[0, 1:] - law.covariance()[0, 1:]).mean() < 0.2 * law.standard_error[0] ** 2
    assert estimate(encoding.randomize(few)).method == "simplex"
    with pytest.raises(ParameterError, match="method em is not for devices that answer for some values"):
        estimate(encoding.randomize(few), "em")


def test_a_number_that_changes_all_the_time_costs_one_epsilon_for_each_bucket_and_one():
    encoding = PermanentUnary(size=40, epsilon=1, first=1, buckets=3)
    rng = np.random.default_rng(5)
    memory = encoding.remember(rng.integers(0, 40, 300))
    asked, answered = memory.asked.copy(), {}
    for _ in range(60):
        values = rng.integers(0, 40, 300)
        memory = encoding.remember(values, memory)
        assert (memory.asked == asked).all()
        report = encoding.report(memory)
        encoding.check(report.packed)
        inside = np.unpackbits(asked, axis=1, count=40, bitorder="little")[np.arange(300), values]
        for device, state in enumerate(np.where(inside, values, 40)):
            # A value that returns, and any that the device is not asked about, is answered as before.
            assert (
                answered.setdefault((device, state), report.packed[device].tobytes()) == report.packed[device].tobytes()
            )
    assert memory.values.max() == 4
    assert repeated(encoding, 365, changes=364).epsilon == 4
    assert repeated(encoding, 365, changes=1).epsilon == 2
    assert encoding_from_json(encoding.to_json()) == encoding


def test_reports_for_some_values_are_checked():
    encoding = PermanentUnary(size=10, epsilon=1, first=1, buckets=2)
    for bad in ([3, 0, 4, 0], [7, 0, 0, 0], [3, 0, 0, 4], [0, 0, 0, 0]):
        with pytest.raises(InputError, match="a report"):
            encoding.check(np.array([bad], dtype=np.uint8))
    encoding.check(np.array([[3, 0, 2, 0]], dtype=np.uint8))
    with pytest.raises(ParameterError, match="buckets is not a number of values to ask for"):
        PermanentUnary(size=10, epsilon=1, first=1, buckets=10)


@pytest.mark.slow
def test_the_largest_loss_of_one_answer_of_a_few_buckets_is_epsilon():
    """All reports of a small encoding, drawn two million times: the largest quotient is e**epsilon to 3 %."""
    encoding = PermanentUnary(size=3, epsilon=1, first=1, buckets=1)
    laws = []
    for value in range(3):
        packed = encoding.randomize(np.full(2_000_000, value)).packed
        laws.append(np.bincount(packed[:, 0] + 8 * packed[:, 1].astype(int), minlength=64) / len(packed))
    possible = laws[0] > 0
    assert possible.sum() == 6  # three buckets, two answers
    quotients = np.array(laws)[:, None, possible] / np.array(laws)[None, :, possible]
    assert quotients.max() == pytest.approx(np.exp(0.5), rel=0.03)  # one bit of the two that differ


def test_the_histogram_error_that_its_paper_promises():
    """Ding et al. 2017 (written from memory): max |share - estimate| <= sqrt(5k/nd) (e^(epsilon/2)+1)/(e^(epsilon/2)-1)
    sqrt(ln(6k/delta)) with probability 1 - delta; here delta = 1e-7."""
    size, buckets, number = 32, 4, 40_000
    values = np.random.default_rng(1).integers(0, size, number) // 2
    encoding = PermanentUnary(size=size, epsilon=1, first=1, buckets=buckets)
    shares = estimate(Tally(encoding).add(encoding.randomize(values)), "mle").counts / number
    bound = np.sqrt(5 * size / (number * buckets)) * (np.exp(0.5) + 1) / (np.exp(0.5) - 1)
    bound *= np.sqrt(np.log(6 * size / 1e-7))
    assert np.abs(shares - np.bincount(values, minlength=size) / number).max() <= bound
