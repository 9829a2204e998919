"""Which records take part: a coin each, and the same ones for a neighbour under replay."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sudare.noise.response as sampling
from sudare.errors import AccountingError
from sudare.noise import Source, record, sample
from sudare.noise.response import draw_sample

KEYS = np.array([[0, 1], [0, 2], [4, 0]])
COUNTS = np.array([6, 40, 1])
HALF = Fraction(1, 2)


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


def test_the_coins_are_those_of_the_labels_child() -> None:
    kept = sample(KEYS, COUNTS, HALF, Source.from_seed(2), "rows")
    assert kept.tolist() == draw_sample(COUNTS, HALF, Source.from_seed(2).child("rows")).tolist()


@pytest.mark.parametrize("drawn", [False, True])
def test_a_replay_keeps_the_coins_of_the_records_that_both_have(drawn: bool) -> None:
    with record() as tape:
        kept = sample(KEYS, COUNTS, HALF, Source.from_seed(3), "rows")
    more = np.array([[4, 0], [0, 2], [7, 7], [0, 1]])
    with record(replay=tape, drawn=drawn) as again:
        second = sample(more, np.array([1, 41, 1, 6]), HALF, Source.system(), "rows")
    assert second.tolist() == [kept[2], kept[1] + drawn, int(drawn), kept[0]]
    assert again.sampled[0].counts.tolist() == [1, 41, 1, 6]


def test_who_is_gone_was_not_drawn_if_that_can_be() -> None:
    with record() as tape:
        kept = sample(KEYS, COUNTS, Fraction(1), Source.from_seed(3), "rows")
    assert kept.tolist() == COUNTS.tolist()
    with record(replay=tape):
        assert sample(KEYS, COUNTS - 1, Fraction(1), Source.system(), "rows").tolist() == [5, 39, 0]
    with record() as tape:
        kept = sample(KEYS[:2], COUNTS[:2], HALF, Source.from_seed(3), "rows")
    with record(replay=tape):
        assert sample(KEYS[:2], COUNTS[:2] - 1, HALF, Source.system(), "rows").tolist() == kept.tolist()


def test_a_replay_samples_as_the_recording_did() -> None:
    with record() as tape:
        sample(KEYS, COUNTS, HALF, Source.from_seed(3), "rows")
    with record(replay=tape):
        with pytest.raises(AccountingError, match="the replay samples in another way"):
            sample(KEYS, COUNTS, Fraction(1, 3), Source.system(), "rows")
        sample(KEYS, COUNTS, HALF, Source.system(), "rows")
        with pytest.raises(AccountingError, match="the replay samples more than the recording did"):
            sample(KEYS, COUNTS, HALF, Source.system(), "more")
