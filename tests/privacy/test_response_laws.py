"""Coins and responses have exactly the law they state; twins that are off a little are caught (1e-7 false alarms)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sudare.noise import Bernoulli, RandomisedResponse, Source, SquareWave, metered, record, respond, uniform
from sudare.noise.bernoulli import _SOLID
from sudare.privacy import Budget

FALSE_ALARM = 1e-7


def p_value(observed: np.ndarray, law: np.ndarray) -> float:
    keep = law > 0
    assert not observed[~keep].any()
    return float(stats.chisquare(observed[keep], law[keep] * observed.sum()).pvalue)


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 2), Fraction(999, 1000), Fraction(5, 8)])
def test_every_place_of_a_word_has_the_law_of_the_coin(chance: Fraction) -> None:
    tosses = Bernoulli(chance).draw(Source.from_seed(4), 64 * 20_000).reshape(-1, 64)
    law = np.array([1 - float(chance), float(chance)])
    for place in range(64):
        assert p_value(np.bincount(tosses[:, place], minlength=2), law) > FALSE_ALARM / 64
    together = np.bincount(tosses.ravel(), minlength=2)
    assert p_value(together, law) > FALSE_ALARM
    off = np.array([1 - float(chance) * 0.98, float(chance) * 0.98])
    assert p_value(together, off) < FALSE_ALARM
    # Neighbours in a word are independent: heads follow heads as often as tails do.
    pairs = np.bincount(2 * tosses[:, :-1].ravel() + tosses[:, 1:].ravel(), minlength=4)
    assert p_value(pairs, np.outer(law, law).ravel()) > FALSE_ALARM


def test_an_irrational_chance_and_the_rare_cases() -> None:
    coin = Bernoulli(lambda real: real.exp(-12))
    heads = coin.draw(Source.from_seed(1), 4_000_000).sum()
    mean = 4_000_000 * np.exp(-12)
    assert stats.poisson.sf(heads - 1, mean) > FALSE_ALARM
    assert stats.poisson.cdf(heads, mean) > FALSE_ALARM
    assert not Bernoulli(Fraction(0)).draw(Source.from_seed(1), 100).any()
    assert Bernoulli(Fraction(1)).draw(Source.from_seed(1), 100).all()


def test_a_chance_known_only_beyond_the_first_places() -> None:
    """1/2 + 2**-70 and 1/2 differ first at place 70: the digits that are compared are the ones of the number."""
    coin = Bernoulli(Fraction(1, 2) + Fraction(1, 2**70))
    assert [coin._place(place) for place in (0, 1, 68, 69, 70)] == [True, False, False, True, False]


def test_packed_coins_are_the_drawn_ones_and_no_bit_is_beyond() -> None:
    coin = Bernoulli(Fraction(2, 3))
    packed = coin.packed(Source.from_seed(5), 77)
    drawn = coin.draw(Source.from_seed(5), 77)
    assert len(packed) == 10
    assert packed[-1] >> 5 == 0
    assert [bool(packed[j // 8] >> (j % 8) & 1) for j in range(77)] == drawn.tolist()
    assert _SOLID < 64


@pytest.mark.parametrize("bound", [1, 2, 3, 23, 2**16, 2**16 + 1, 10**12])
def test_uniform_numbers(bound: int) -> None:
    drawn = uniform(bound, Source.from_seed(6), 60_000)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    cells = min(bound, 30)
    shares = np.diff([-(-bound * i // cells) for i in range(cells + 1)]) / bound
    assert p_value(np.bincount(drawn * cells // bound, minlength=cells), shares) > FALSE_ALARM or bound == 1


@pytest.mark.parametrize(
    "law",
    [
        RandomisedResponse(2, Fraction(1)),
        RandomisedResponse(7, Fraction(3, 2)),
        SquareWave(2, Fraction(1)),
        SquareWave(9, Fraction(1, 2)),
        SquareWave(16, Fraction(4)),
    ],
    ids=str,
)
def test_responses_have_the_law_of_their_channel_which_is_private(law: RandomisedResponse | SquareWave) -> None:
    channel = law.matrix()
    np.testing.assert_allclose(channel.sum(axis=0), 1)
    ratio = np.log(channel.max(axis=1) / channel.min(axis=1)).max()
    assert ratio == pytest.approx(float(law.epsilon))
    np.testing.assert_allclose(law.back(np.eye(law.outputs)), channel)
    for value in range(law.inputs):
        source = Source.from_seed(value)
        drawn = respond(np.full(40_000, value), law, source, "x")
        observed = np.bincount(drawn, minlength=law.outputs)
        assert p_value(observed, channel[:, value]) > FALSE_ALARM / law.inputs
        wrong = type(law)(law.inputs, law.epsilon * Fraction(13, 10)).matrix()
        if wrong.shape == channel.shape:
            assert p_value(observed, wrong[:, value]) < FALSE_ALARM


def test_a_large_epsilon_does_not_overflow() -> None:
    for law in (RandomisedResponse(5, Fraction(2000)), SquareWave(8, Fraction(2000))):
        np.testing.assert_allclose(law.matrix(), np.eye(law.inputs))
        assert respond(np.arange(5), law, Source.from_seed(1), "x").tolist() == [0, 1, 2, 3, 4]


def test_retention_is_never_less_private_than_asked() -> None:
    law = RandomisedResponse.retention(Fraction(3, 10), 4)
    exact = np.log1p(0.3 * 4 / 0.7)
    assert 0 < exact - float(law.epsilon) < 1e-12
    np.testing.assert_allclose(law.matrix(), 0.3 * np.eye(4) + 0.7 / 4)


def test_respond_is_metered_recorded_and_replayed() -> None:
    law, values = RandomisedResponse(4, Fraction(1)), np.array([0, 1, 2, 3, 3])
    with metered() as meter, record() as tape:
        first = respond(values, law, Source.from_seed(1), "place")
    meter.check(Budget(epsilon=Fraction(1)))
    neighbour = np.array([0, 1, 2, 3, 0])
    with record(replay=tape):
        second = respond(neighbour, law, Source.from_seed(2), "place")
    assert first.tolist() == second.tolist()
