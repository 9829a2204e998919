"""Lower bounds of epsilon and delta: below the truth, and not far below."""

import numpy as np
import pytest
from scipy import stats

from sudare.audit.distinguish import FALSE_ALARM, high_chance, low_chance, lower_bound, lowest_digit
from sudare.errors import ParameterError


def geometric(epsilon, shift, trials, seed):
    ratio = np.exp(-epsilon)
    rng = np.random.default_rng(seed)
    return (rng.geometric(1 - ratio, trials) - rng.geometric(1 - ratio, trials) + shift)[:, None]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_bound_is_below_the_truth_and_comes_near_it(epsilon, ordered):
    outcomes = geometric(epsilon, 1, 200_000, 1), geometric(epsilon, 0, 200_000, 2)
    bound = lower_bound(*outcomes, epsilon=epsilon, ordered=ordered)
    assert 0.75 * epsilon < bound.epsilon <= epsilon
    assert bound.delta <= 0
    less = lower_bound(*outcomes, epsilon=epsilon, delta=0.05, ordered=ordered)
    assert less.epsilon < bound.epsilon


def test_an_order_the_wrong_way_round_tells_less():
    outcomes = geometric(1, 0, 50_000, 1), geometric(1, 1, 50_000, 2)
    assert lower_bound(*outcomes, epsilon=1, ordered=True).epsilon < 0.1
    assert lower_bound(*outcomes[::-1], epsilon=1, ordered=True).epsilon > 0.8


def test_the_delta_of_a_rare_leak():
    """With chance 1/10 the value itself is published: delta is 1/10 whatever epsilon."""
    leak = np.random.default_rng(3).random(100_000) < 0.1
    here, there = (np.where(leak, value, geometric(0.5, value, 100_000, value)[:, 0]) for value in (1000, 1001))
    here, there = np.where(leak, 10**6, here - 1000), np.where(leak, 10**6 + 1, there - 1000)
    bound = lower_bound(here[:, None], there[:, None], epsilon=1.0)
    assert 0.08 < bound.delta < 0.1
    assert bound.epsilon > 2


def test_chances_are_those_of_clopper_and_pearson():
    low, high = low_chance(30, 100, 0.025), high_chance(30, 100, 0.025)
    interval = stats.binomtest(30, 100).proportion_ci(0.95, "exact")
    assert (low, high) == pytest.approx((interval.low, interval.high))
    assert low_chance(0, 10) == 0
    assert high_chance(10, 10) == 1
    assert high_chance(0, 100) == pytest.approx(1 - FALSE_ALARM ** (1 / 100))


def test_equal_laws_are_never_told_apart():
    rng = np.random.default_rng(4)
    bounds = [lower_bound(*rng.integers(0, 9, (2, 300, 2)), epsilon=0.0).epsilon for _ in range(60)]
    assert max(bounds) < 0


def test_the_alarm_is_kept():
    """Neighbours on the edge of what is promised: with an alarm of 1/2 some are accused, with 1e-9 none."""
    rng = np.random.default_rng(5)
    coins = [((rng.random((60, 1)) < 0.75).astype(int), (rng.random((60, 1)) < 0.25).astype(int)) for _ in range(400)]
    accused = {
        alarm: np.mean([lower_bound(*pair, epsilon=np.log(3), alarm=alarm).epsilon > np.log(3) for pair in coins])
        for alarm in (0.5, 0.05, 1e-9)
    }
    # Of 200 trials with chance 0.05 at most, 40 happen with probability below 1e-13.
    assert accused[0.05] < 0.2
    assert accused[1e-9] == 0
    assert accused[0.5] > accused[0.05]


def test_as_many_of_one_as_of_the_other():
    with pytest.raises(ParameterError, match="needs as many releases of one neighbour as of the other"):
        lower_bound(np.zeros((10, 1)), np.zeros((9, 1)), epsilon=1.0)


def test_digits_of_doubles():
    values = np.array([0.0, -1.0, 0.5, 3 * 2.0**-60, 2.0**40 + 1, -12.0])
    assert lowest_digit(values).tolist() == [0, 0, -1, -60, 0, 2]
