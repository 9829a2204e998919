"""What a coin and a response refuse, and which random words they draw again."""

from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import DomainError, ParameterError
from sudare.noise import Bernoulli, RandomisedResponse, Source, SquareWave, uniform
from sudare.noise.bernoulli import _below


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="a probability is not between 0 and 1"):
        Bernoulli(Fraction(3, 2))
    with pytest.raises(ParameterError, match="the bound is not between"):
        uniform(0, Source.from_seed(1), 3)
    with pytest.raises(ParameterError, match="at least two values"):
        RandomisedResponse(1, Fraction(1))
    with pytest.raises(ParameterError, match="at least two cells"):
        SquareWave(1, Fraction(1))
    with pytest.raises(ParameterError, match="epsilon"):
        SquareWave(4, Fraction(0))
    with pytest.raises(ParameterError, match="the kept share"):
        RandomisedResponse.retention(1, 4)


@pytest.mark.parametrize("values", [[4], [-1], [0.5]])
def test_values_outside_are_refused_without_being_named(values: list[float]) -> None:
    for law in (RandomisedResponse(4, Fraction(1)), SquareWave(4, Fraction(1))):
        with pytest.raises(DomainError) as refusal:
            law.draw(np.array(values), Source.from_seed(1))
        assert "whole numbers 0 to 3" in str(refusal.value)
        assert str(values[0]) not in str(refusal.value).replace("0 to 3", "")


def test_the_reach_of_a_square_wave_is_that_of_the_continuous_law() -> None:
    # b = 0.256 at epsilon 1 and 0.0141 at 5 (Li et al. 2020, equation for b), 1/2 in the limit of 0.
    assert SquareWave(1000, Fraction(1)).reach == 256
    assert SquareWave(1000, Fraction(5)).reach == 14
    assert SquareWave(1000, Fraction(1, 10**6)).reach == 499
    assert SquareWave(1000, Fraction(800)).reach == 0


def test_words_beyond_the_last_multiple_are_drawn_again() -> None:
    """2**32 is one more than a multiple of 3: were the last word taken, 0 would be likelier than 1 and 2."""
    asked: list[int] = []

    def again(count: int) -> np.ndarray:
        asked.append(count)
        return np.array([2**32 - 1, 4][len(asked) - 1 :][:count], dtype=np.uint32)

    numbers = np.array([2**32 - 2, 2**32 - 1, 7], dtype=np.uint32)
    assert _below(3, numbers, again).tolist() == [2, 1, 1]
    assert asked == [1, 1]
