"""One bit for a mean, remembered."""

import math

import numpy as np
import pytest

from sudare.errors import DomainError, ParameterError
from sudare.local import OneBitMean, RandomisedResponse, Tally


def numbers(count, rng):
    return 24 * rng.beta(2, 5, count)


@pytest.mark.parametrize("first", [None, 0.5])
def test_the_mean_of_each_day_lies_within_the_bound_of_the_paper(first):
    """Ding et al. 2017 (written from memory): |mean - estimate| <= m/sqrt(2n) (e^epsilon+1)/(e^epsilon-1)
    sqrt(ln(2/delta)) with probability 1 - delta, for the epsilon of a report; here delta = 1e-8 for each of four days.
    """
    hours, rng = OneBitMean(low=0, high=24, epsilon=1, first=first), np.random.default_rng(2)
    each = float(hours.encoding.epsilon)
    bound = 24 / math.sqrt(2 * 20_000) * (math.exp(each) + 1) / (math.exp(each) - 1) * math.sqrt(math.log(2 / 1e-8))
    memory = None
    for _ in range(4):
        today = numbers(20_000, rng)
        memory = hours.remember(today, memory)
        made = hours.estimate(Tally(hours.encoding).add(hours.report(memory)))
        assert abs(made.mean - today.mean()) < bound
        assert made.low <= made.mean <= made.high
        assert made.standard_error <= 12 / math.sqrt(20_000) * (math.exp(each) + 1) / (math.exp(each) - 1) * 1.0001


def test_two_answers_are_all_that_a_device_ever_gives():
    """400 days of numbers that change all the time: averaged, the reports tell two bits of each device and no more."""
    hours, rng = OneBitMean(low=0, high=24, epsilon=1), np.random.default_rng(3)
    memory, seen = None, {}
    for _ in range(400):
        memory = hours.remember(numbers(200, rng), memory)
        for device, (side, bit) in enumerate(zip(memory.above, hours.report(memory).packed[:, 0], strict=True)):
            assert seen.setdefault((device, side), bit) == bit
    right = np.mean([bit == side for (_, side), bit in seen.items()])
    assert abs(right - 1 / (1 + math.exp(-1))) < 0.15  # of up to 400 independent answers: six standard errors
    assert hours.lifetime(400).epsilon == 2
    assert hours.lifetime(1).epsilon == 1
    assert "at moments that may be known" in str(hours.lifetime(2))
    assert "moments" not in str(hours.lifetime(1))


def test_a_change_of_sides_shows_which_is_why_a_life_is_stated_with_known_moments():
    """Without a second flip the two reports of a number that stays are alike, so that two unlike ones give it away."""
    hours = OneBitMean(low=0, high=24, epsilon=1)
    stays = hours.remember(np.zeros(2000), seed=1)
    first, second = hours.report(stays).packed, hours.report(hours.remember(np.zeros(2000), stays)).packed
    assert (first == second).all()
    moved = hours.report(hours.remember(np.full(2000, 24.0), stays)).packed
    assert (first != moved).any()
    assert hours.remember([1.0], hours.remember([1.0])).seeded is False


def test_an_answer_that_is_drawn_anew_at_each_return_is_found():
    """The broken twin: thirty nights below the threshold and thirty above, each with a new answer, tell the side."""
    hours = OneBitMean(low=0, high=24, epsilon=1)
    low, high = np.zeros(1000), np.full(1000, 24.0)
    for redrawn, least, most in ((False, 0.6, 0.86), (True, 0.99, 1.0)):
        memory, sums = None, np.zeros(1000)
        for _ in range(61):
            memory = hours.remember(high, None if redrawn else memory)
            sums += hours.report(memory).packed[:, 0]
            memory = hours.remember(low, memory)
        share = (sums > 30).mean()
        assert least < share <= most


def test_the_flips_of_a_report_together_are_those_of_first():
    hours = OneBitMean(low=0, high=1, epsilon=2, first=0.5)
    assert hours.encoding == RandomisedResponse(2, 0.5)
    ones = hours.randomize(np.ones(200_000)).packed.mean()
    assert abs(ones - 1 / (1 + math.exp(-0.5))) < 6 * math.sqrt(0.25 / 200_000)


def test_mistakes():
    hours = OneBitMean(low=0, high=24, epsilon=1)
    with pytest.raises(DomainError, match="outside the declared bounds"):
        hours.remember([25])
    with pytest.raises(DomainError, match="not a list of finite numbers"):
        hours.remember([float("nan")])
    with pytest.raises(ParameterError, match="low and high are not bounds"):
        OneBitMean(low=1, high=1, epsilon=1)
    with pytest.raises(ParameterError, match="one report must cost less"):
        OneBitMean(low=0, high=1, epsilon=1, first=2)
    with pytest.raises(ParameterError, match="other devices"):
        hours.remember([1, 2], hours.remember([1]))
