"""Noise as it stands on the tapes of releases: of a wrong scale, or used twice, it is found. False alarms: 1e-9."""

from fractions import Fraction

import numpy as np
import pytest

from sudare.audit.distinguish import FALSE_ALARM
from sudare.audit.recorded import places, recorded_fit
from sudare.noise import AddedGaussian, AddedLaplace, RandomisedResponse, Source, Sparse, measure, record, respond
from sudare.noise.sparse import SparseNoise
from sudare.privacy import Budget

ONE = Budget(epsilon=Fraction(1))
LAWS = {AddedLaplace: ONE, AddedGaussian: Budget(rho=Fraction(1, 10))}


def dense(budget):
    return lambda source: measure(np.arange(500), 3, budget, source, "x")


@pytest.mark.parametrize("law", LAWS)
def test_noise_of_its_law_passes_and_off_by_30_percent_fails(law, monkeypatch):
    assert recorded_fit(dense(LAWS[law]), 10_000).passed
    sound = law.draw
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        squared = factor if law is AddedLaplace else factor**2
        wrong = {AddedLaplace: "scale", AddedGaussian: "variance"}[law]
        monkeypatch.setattr(
            law, "draw", lambda self, *given, by=squared, of=wrong: sound(law(getattr(self, of) * by), *given)
        )
        assert recorded_fit(dense(LAWS[law]), 10_000).right < FALSE_ALARM


def test_noise_that_is_used_twice_is_found(monkeypatch):
    sound = AddedLaplace.draw
    monkeypatch.setattr(AddedLaplace, "draw", lambda self, source, size: np.repeat(sound(self, source, size // 2), 2))
    found = recorded_fit(dense(ONE), 10_000)
    assert found.right < FALSE_ALARM


def test_sparse_noise_and_reports():
    sparse = Sparse(np.array([3, 90]), np.array([5, 7]), 200)
    assert recorded_fit(lambda source: measure(sparse, 1, Budget(epsilon=Fraction(1, 4)), source, "x"), 10_000).passed
    law, values = RandomisedResponse(5, Fraction(2)), np.arange(1000) % 5
    assert recorded_fit(lambda source: respond(values, law, source, "x"), 20_000).passed


def test_places_are_in_the_law():
    with record() as tape:
        measure(np.zeros(1000, dtype=np.int64), 1, ONE, Source.from_seed(1), "x")
    found = places(tape.measured[0], np.random.default_rng(1))
    assert ((found >= 0) & (found < 1)).all()
    assert np.argmax(found) == np.argmax(tape.measured[0].noisy)


def test_cells_without_noise_are_found(monkeypatch):
    sparse = Sparse(np.array([3, 90]), np.array([5, 7]), 200)
    own = SparseNoise.above
    monkeypatch.setattr(SparseNoise, "above", lambda self, level: tuple(each[:100] for each in own(self, level)))
    assert recorded_fit(lambda source: measure(sparse, 1, ONE, source, "x"), 2_000).right < FALSE_ALARM
