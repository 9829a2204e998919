"""Sampling, and the paper's epsilon of one sample."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sudare.anonymity.sampling as sampling
from sudare.anonymity import class_epsilons, evaluated_epsilon
from sudare.anonymity.sampling import draw_sample
from sudare.noise import Source


def test_a_sample_never_exceeds_what_there_is() -> None:
    counts = np.array([0, 7, 0, 1, 900, 3, 0])
    drawn = draw_sample(counts, Fraction(1, 3), Source.from_seed(1))
    assert ((drawn >= 0) & (drawn <= counts)).all()
    assert 200 < drawn[4] < 400


def test_chunks_of_coins_do_not_change_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record has its own coin, wherever a chunk of them ends."""
    counts = np.array([5, 64, 0, 130, 1, 200, 17])
    whole = draw_sample(counts, Fraction(2, 5), Source.from_seed(3))
    coins = sampling.Bernoulli(Fraction(2, 5)).draw(Source.from_seed(3), int(counts.sum()))
    ends = np.cumsum(counts)
    assert whole.tolist() == [int(coins[end - size : end].sum()) for size, end in zip(counts, ends, strict=True)]
    monkeypatch.setattr(sampling, "_COINS", 64)
    source = Source.from_seed(3)
    parts = draw_sample(counts, Fraction(2, 5), source)
    source = Source.from_seed(3)
    coins = np.concatenate(
        [sampling.Bernoulli(Fraction(2, 5)).draw(source, min(64, 417 - start)) for start in range(0, 417, 64)]
    )
    assert parts.tolist() == [int(coins[end - size : end].sum()) for size, end in zip(counts, ends, strict=True)]


def test_no_records() -> None:
    assert draw_sample(np.empty(0, dtype=np.int64), Fraction(1, 2), Source.from_seed(1)).tolist() == []
    assert evaluated_epsilon(np.empty(0), np.empty(0), Fraction(1, 5)) == pytest.approx(-math.log(0.8))


def test_epsilon_of_classes_with_the_absolute_value() -> None:
    """d (1 - beta) / (d - n), once above and once below one; all drawn is infinite, none drawn the floor."""
    found = class_epsilons(np.array([5, 1, 3, 0]), np.array([10, 10, 3, 8]), Fraction(1, 5))
    assert found[:2] == pytest.approx([math.log(10 * 0.8 / 5), -math.log(10 * 0.8 / 9)])
    assert math.isinf(found[2])
    assert found[3] == pytest.approx(-math.log(0.8))


def test_the_floor_always_counts() -> None:
    assert evaluated_epsilon(np.array([20]), np.array([100]), Fraction(1, 5)) == pytest.approx(-math.log(0.8))
    assert evaluated_epsilon(np.array([80]), np.array([100]), Fraction(1, 5)) == pytest.approx(math.log(4))


def test_the_ratio_is_that_of_the_binomial_laws() -> None:
    """Proposition 1: Pr[n of d] / Pr[n of d - 1] = d (1 - beta) / (d - n)."""
    beta = 0.3
    for held, taken in ((9, 4), (9, 1), (5, 0)):
        ratio = math.comb(held, taken) / math.comb(held - 1, taken) * (1 - beta)
        found = class_epsilons(np.array([taken]), np.array([held]), Fraction(3, 10))
        assert found[0] == pytest.approx(abs(math.log(ratio)))
