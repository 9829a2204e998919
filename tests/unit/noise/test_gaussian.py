"""The exact decision behind a kept proposal: more bits are drawn only where the first 64 are the threshold's."""

from fractions import Fraction

import pytest

from sudare.noise.bernoulli import scaled_floor
from sudare.noise.discrete import _keep_exactly


class Scripted:
    """Gives whole numbers of a script."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def integer(self, bits):
        assert bits == 64
        return self.numbers.pop(0)


@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(7, 3), Fraction(1, 10**6)])
def test_ties_are_settled_by_the_next_bits(gamma):
    """Such a tie comes once in 2**64 proposals, so that no test of a law sees one."""
    exact = scaled_floor(lambda real: real.exp(-real.mpf(gamma.numerator) / gamma.denominator), 192)
    first, second, third = exact >> 128, exact >> 64 & (2**64 - 1), exact & (2**64 - 1)
    tie = first >> 32, first & (2**32 - 1)
    assert _keep_exactly((tie[0], tie[1] - 1), gamma, Scripted())
    assert not _keep_exactly((tie[0], tie[1] + 1), gamma, Scripted())
    assert _keep_exactly(tie, gamma, Scripted(second - 1))
    assert not _keep_exactly(tie, gamma, Scripted(second + 1))
    assert _keep_exactly(tie, gamma, Scripted(second, third - 1))
    assert not _keep_exactly(tie, gamma, Scripted(second, third + 1))
    assert _keep_exactly(tie, Fraction(0), Scripted())
