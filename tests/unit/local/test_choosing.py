"""Which encoding."""

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.local import choose, estimate


def test_few_values_take_the_most_exact():
    choice = choose(size=23, epsilon=1, users=100_000)
    assert choice.encoding.name == "subset_selection"
    assert "3 bytes a report" in str(choice)
    assert "the least of all at epsilon 1" in choice.why
    assert choose(size=2, epsilon=1).encoding.name == "randomised_response"
    assert choose(size=12, epsilon=3).encoding.name == "randomised_response"


def test_many_values_take_the_short_report():
    choice = choose(size=1024, epsilon=1)
    assert choice.encoding.name == "local_hashing"
    assert "/ sqrt(users)" in choice.why
    assert "subset_selection has" in choice.why
    assert choose(size=100_000, epsilon=1).encoding.report_bytes == 3


def test_candidates_are_sorted_by_error_and_the_error_is_what_comes_out():
    choice = choose(size=40, epsilon=2, users=4000)
    errors = [one.error for one in choice.candidates]
    assert errors == sorted(errors)
    assert len(choice.candidates) == 6
    values = np.arange(40).repeat(100)
    made = [estimate(choice.encoding.randomize(values, seed=seed), "mle").counts for seed in range(20)]
    # 800 squared errors: their mean is within a fifth of the variance (five standard deviations are a quarter).
    assert np.sqrt(np.mean((np.array(made) - 100) ** 2)) == pytest.approx(errors[0] * 4000**0.5, rel=0.13)


def test_mistakes():
    with pytest.raises(ParameterError, match="users is not a number of people"):
        choose(size=3, epsilon=1, users=0)
    with pytest.raises(ParameterError, match="epsilon is not positive"):
        choose(size=3, epsilon=0)
    with pytest.raises(ParameterError, match="size is not a number of values"):
        choose(size=1, epsilon=1)
