"""Inversion against thresholds: the guide table, and the ties that force more bits."""

from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sudare.noise.bernoulli import Rate, scaled_floor
from sudare.noise.discrete import DiscreteLaplace
from sudare.noise.geometric import Digits, Geometric, Inversion, Split
from sudare.noise.source import Source


class Scripted(Source):
    """Gives the words of a script first."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(bytes(32))
        self.script = list(words)

    def fill(self, words: np.ndarray) -> None:
        super().fill(words)
        for i in range(min(len(words), len(self.script))):
            words[i] = self.script.pop(0)


def rational(thresholds: list[Fraction]) -> Inversion:
    def bits(j: int, precision: int) -> int:
        return int(thresholds[j] * 2**precision)

    return Inversion(np.array([bits(j, 32) for j in range(len(thresholds))], dtype=np.uint32), bits)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 50, 5000])
def test_the_guide_table_finds_what_a_search_finds(count):
    rng = np.random.default_rng(count)
    thresholds = sorted(Fraction(float(x)) for x in rng.beta(0.2, 0.2, count) * 0.999)
    drawn = rational(thresholds).draw(Source.from_seed(1), 60_000)
    # No word of this seed ties with a threshold (chance 7 % at most), so none needs further bits.
    expected = [bisect_right(thresholds, Fraction(int(w), 2**32)) for w in Source.from_seed(1).words(60_000)]
    assert np.array_equal(drawn, expected)


def test_a_tie_is_settled_by_the_next_bits():
    third = Fraction(1, 3)
    first = int(third * 2**32)
    following = int(third * 2**96) & (2**64 - 1)
    high, low = following >> 32, following & 0xFFFFFFFF
    table = rational([third])
    assert table.draw(Scripted([first - 1]), 1) == [0]
    assert table.draw(Scripted([first + 1]), 1) == [1]
    assert table.draw(Scripted([first, high, low - 1]), 1) == [0]
    assert table.draw(Scripted([first, high, low + 1]), 1) == [1]
    last = int(third * 2**160) & (2**64 - 1)
    again = [first, high, low, last >> 32, last & 0xFFFFFFFF]
    assert table.draw(Scripted([*again[:4], again[4] - 1]), 1) == [0]
    assert table.draw(Scripted([*again[:4], again[4] + 1]), 1) == [1]


@pytest.mark.slow
def test_ten_thresholds_within_one_word_are_told_apart_by_more_bits():
    word = 123_456_789
    table = rational([(word + Fraction(j, 10)) / 2**32 for j in range(1, 10)])
    outcomes = [int(table._extend(word, 0, 9, Source.from_seed(i))) for i in range(3000)]
    assert stats.chisquare(np.bincount(outcomes, minlength=10)).pvalue > 1e-7
    assert int(table.draw(Scripted([word]), 1)[0]) in range(10)
    assert table.draw(Scripted([word - 1]), 1) == [0]
    assert table.draw(Scripted([word + 1]), 1) == [9]


@pytest.mark.parametrize("scale", ["1/9", "1", "190", "100000"])
def test_thresholds_from_doubles_are_the_exact_ones(scale):
    sampler = DiscreteLaplace(Fraction(scale))
    tables = [sampler._head, *(table for _, table in sampler._digits._tables)]
    for table in tables:
        rows = np.unique(np.linspace(0, len(table._first) - 1, 400).astype(int))
        assert [int(table._first[j]) for j in rows] == [table._bits(int(j), 32) for j in rows]
        assert (np.diff(table._first.astype(np.int64)) >= 0).all()


@pytest.mark.parametrize("scale", ["1/3", "7", "5000", "123456/7"])
def test_exact_thresholds_begin_with_their_first_words(scale):
    """Bits beyond the 32nd decide one draw in 2**32 for each threshold: no test of a law would see them wrong."""
    rate = Rate.rational(1 / Fraction(scale))
    laplace, gaps = DiscreteLaplace(Fraction(scale)), Geometric(rate)
    tables = [laplace._head, laplace._beyond._head, gaps._head]
    tables += [table for _, table in (*laplace._digits._tables, *gaps._digits._tables)]
    for table in tables:
        last = len(table._first) - 1
        for row in {0, 1, last // 2, last // 2 + 1, last - 1, last, *range(0, last, 97)} & set(range(last + 1)):
            assert table._bits(row, 32) == table._first[row]
            assert table._bits(row, 160) >> 128 == table._first[row]


def test_every_digit_has_the_ratio_of_its_place():
    """Digit d of a geometric variable is truncated geometric with ratio r**(4096**d); 3 digits at this scale."""
    rate = Rate.rational(Fraction(1, 10**10))
    digits = Digits(Split(rate))._tables
    assert [low for low, _ in digits] == [0, 12, 24]
    for low, table in digits:
        values, step = len(table._first) + 1, Fraction(1 << low, 10**10)
        for row in (0, values // 2, values - 2):
            exact = scaled_floor(
                lambda real, row=row, values=values, step=step: (
                    real.expm1(-(row + 1) * real.mpf(step.numerator) / step.denominator)
                    / real.expm1(-values * real.mpf(step.numerator) / step.denominator)
                ),
                64,
            )
            assert table._bits(row, 64) == exact
            assert table._first[row] == exact >> 32


@pytest.mark.parametrize("scale", [10**14, 10**17])
def test_digits_of_tiny_rates_are_even_to_their_first_word(scale):
    """Gaps between empty cells that show at large thresholds have such rates, and words by a formula of their own."""
    (_, table), *_ = Digits(Split(Rate.rational(Fraction(1, scale))))._tables
    assert len(table._first) == 4095
    for row in (0, 1, 2047, 4094):
        assert int(table._first[row]) == table._bits(row, 32) == (row + 1) << 20
