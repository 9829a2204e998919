"""Reweighting: its noise has the stated law, neighbours give the same release from the same noisy values, and exact
values of neighbours are never further apart than the sensitivity that was stated."""

from dataclasses import replace

import numpy as np
import pytest

import sudare.reweight as reweight
from sudare.noise import Source, record
from sudare.reweight.choice import FitParameters
from sudare.reweight.fit import FitRequest
from sudare.reweight.kernel import Kernel

GENERATOR = np.random.default_rng(1)
PRIVATE, PUBLIC = GENERATOR.normal(2, 0.5, 60), GENERATOR.normal(1, 1, 30)
WAYS = {
    "hats": {},
    "kernel": {"basis": "kernel", "number": 6},
    "ulsif": {"estimator": "ulsif", "number": 6},
    "gaussian process": {"basis": "kernel", "number": 12, "delta": 1e-6},
    "gaussian": {"delta": 1e-6},
    "polynomial": {"basis": "polynomial", "degree": 3},
    "fourier": {"basis": "fourier", "number": 8},
    "functions": {"basis": reweight.Functions(lambda row: np.sin(next(iter(row.values())))[:, None], [-1], [1])},
    "noisy centres": {"centres": "noisy", "number": 5},
    "averaged": {"unit": np.arange(60) // 3},
    "bounded": {"unit": np.arange(60) // 3, "max_rows": 2},
}


def fitted(private, *, replay=None, **options):
    with record(replay) as tape:
        made = reweight.fit(private, PUBLIC, 1.0, bounds=[(-4, 6)], source=Source.from_seed(5), **options)
    return made, tape


def apart(one, other):
    """How far exact values are apart, in the norm that belongs to the noise, over the stated sensitivity."""
    difference = (one.exact - other.exact).astype(float)
    norm = np.abs(difference).sum() if one.budget.epsilon is not None else np.sqrt((difference**2).sum())
    return norm / float(one.sensitivity)


@pytest.mark.parametrize("name", WAYS)
def test_neighbours_differ_by_no_more_than_stated_and_are_released_alike(name):
    made, tape = fitted(PRIVATE, **WAYS[name])
    people = WAYS[name].get("unit")
    for place, extreme in ((0, -4.0), (17, 6.0), (59, 1.3), (30, 2.0)):
        neighbour = PRIVATE.copy()
        neighbour[np.arange(60) == place if people is None else people == people[place]] = extreme
        again, other = fitted(neighbour, replay=tape, **WAYS[name])
        assert (again.weights == made.weights).all()
        assert again.guarantee == made.guarantee
        assert len(tape.measured) == len(other.measured)
        for one, two in zip(tape.measured, other.measured, strict=True):
            assert apart(one, two) <= 1


@pytest.mark.parametrize("name", ["hats", "kernel", "gaussian process", "gaussian"])
def test_adding_or_removing_a_record(name):
    options = {**WAYS[name], "adjacency": "add_remove"}
    made, tape = fitted(PRIVATE, **options)
    for neighbour in (PRIVATE[1:], np.append(PRIVATE, -4.0), np.append(PRIVATE, 1.0)):
        again, other = fitted(neighbour, replay=tape, **options)
        assert (again.weights == made.weights).all()
        for one, two in zip(tape.measured, other.measured, strict=True):
            assert apart(one, two) <= 1


def test_a_twin_with_half_the_sensitivity_is_caught(monkeypatch):
    """sup |k|_1 instead of sup |k - k'|_1: two records at two far centres are further apart."""
    monkeypatch.setattr(Kernel, "largest_difference", property(lambda self: self.largest_sum / 1.9))
    _, tape = fitted(PRIVATE, **WAYS["kernel"])
    neighbour = PRIVATE.copy()
    neighbour[0] = PUBLIC.mean()
    far = PRIVATE.copy()
    far[0] = -4.0
    _, other = fitted(far, replay=tape, **WAYS["kernel"])
    _, third = fitted(neighbour, replay=tape, **WAYS["kernel"])
    assert apart(other.measured[0], third.measured[0]) > 1


def test_a_twin_that_reads_private_data_for_free_is_caught(monkeypatch):
    """Were the strength of the penalty taken from the exact mean, a neighbour's release would differ."""
    honest = FitRequest._measured

    def peeking(self, basis, private, budget, source):
        private = list(private)
        measured = honest(self, basis, private, budget, source)
        exact = sum(rows.total(basis) for rows in private) / 2**24 / measured.people
        return replace(measured, variance=float(exact.max()) * 1e-3)

    monkeypatch.setattr(FitRequest, "_measured", peeking)
    made, tape = fitted(PRIVATE)
    neighbour = PRIVATE.copy()
    neighbour[np.argmin(np.abs(neighbour - 2))] = -4.0
    again, _ = fitted(neighbour, replay=tape)
    assert (again.weights != made.weights).any()


@pytest.mark.parametrize(
    ("name", "law"), [("hats", "laplace"), ("kernel", "laplace"), ("gaussian process", "gaussian")]
)
def test_the_noise_of_the_means_has_its_law(name, law, fits, laws, monkeypatch):
    """Four checks and their twins in all, each with a false alarm of 1e-7."""
    draws, bases, of_public = [], [], FitParameters.of_public

    def kept(asked, space, public):
        """The basis follows from the public rows alone: in all fits it is the same, with the bounds that it keeps."""
        return bases[0] if bases else bases.append(of_public(asked, space, public)) or bases[0]

    monkeypatch.setattr(FitParameters, "of_public", kept)
    for seed in range(250):
        with record() as tape:
            reweight.fit(PRIVATE, PUBLIC, 1.0, bounds=[(-4, 6)], source=Source.from_seed(seed), **WAYS[name])
        (one,) = tape.measured
        draws.append(one.noisy - one.exact)
        scale = float(one.sensitivity / one.budget.amount if law == "laplace" else one.sensitivity)
        deviation = scale if law == "laplace" else scale / np.sqrt(2 * float(one.budget.amount))
    # In units of 1/100 of the scale: fine enough for the law, coarse enough for its table.
    coarse = np.floor(np.concatenate(draws) / (deviation / 100) + 0.5).astype(int)
    assert fits(coarse, laws[law](100.0))
    assert not fits(coarse, laws[law](130.0))
    assert not fits(coarse, laws[law](70.0))
