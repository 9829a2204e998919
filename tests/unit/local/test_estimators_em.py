"""EM: the packed products, merging, the limit, the prior, and when to stop."""

import numpy as np
import pytest

from sudare.local import HadamardResponse, LocalHashing, Reports, SubsetSelection, SymmetricUnary, estimate
from sudare.local.estimators import Prior, Supports, fit


def dense(reports):
    """z (reports, size): which values each report supports."""
    maps = reports.encoding.bitmaps(reports.packed)
    return np.unpackbits(maps, axis=1, count=reports.encoding.size, bitorder="little").astype(float)


@pytest.mark.parametrize("size", [3, 8, 23, 64, 65, 200])
@pytest.mark.parametrize("kind", [SymmetricUnary, SubsetSelection, LocalHashing])
def test_products_on_packed_bits_are_the_products(kind, size):
    generator = np.random.default_rng(size)
    reports = kind(size=size, epsilon=1.5).randomize(generator.integers(0, size, 700), seed=1)
    seen = Supports(reports.encoding, reports.chunks(300))
    assert seen.counts.sum() == 700
    law, weights = 1 + np.expm1(1.5) * dense(reports), generator.dirichlet(np.ones(size))
    # Merging changes the order: compare what does not depend on it.
    assert np.allclose(np.sort(np.repeat(seen.forward(weights), seen.counts.astype(int))), np.sort(law @ weights))
    assert np.allclose(seen.back(seen.counts / seen.forward(weights)), (1 / (law @ weights)) @ law)


def test_equal_reports_are_merged():
    encoding = SymmetricUnary(size=10, epsilon=3)
    reports = encoding.randomize(np.arange(10).repeat(500), seed=1)
    assert len(Supports(encoding, [reports]).counts) == len(np.unique(reports.packed, axis=0)) < 1000
    wide = SymmetricUnary(size=100, epsilon=12)
    reports = wide.randomize(np.arange(100).repeat(50), seed=1)
    assert len(Supports(wide, [reports]).counts) == len(np.unique(reports.packed, axis=0)) < 2500


def test_limit_of_em_maximises_the_likelihood_of_single_reports():
    """At the maximum over the simplex the gradient is 1 where shares are positive, and at most 1 elsewhere."""
    reports = SymmetricUnary(size=12, epsilon=1).randomize(np.repeat(np.arange(12), 100 + 50 * np.arange(12)), seed=2)
    made = estimate(reports, "em", stop="converged")
    law = 1 + np.expm1(1) * dense(reports)
    gradient = (law / (law @ made.counts / made.reports)[:, None]).mean(axis=0)
    positive = made.counts > 1e-4 * made.reports
    assert np.allclose(gradient[positive], 1, atol=1e-3)
    assert gradient.max() < 1 + 1e-3


def test_plain_steps_are_the_papers():
    reports = SymmetricUnary(size=6, epsilon=2).randomize(np.repeat(np.arange(6), 40), seed=3)
    theta = np.full(6, 1 / 6)
    for _ in range(7):
        responsibility = theta * np.exp(2 * dense(reports))
        theta = (responsibility / responsibility.sum(axis=1, keepdims=True)).mean(axis=0)
    assert np.allclose(estimate(reports, "em", stop=7).counts / len(reports), theta)


def test_prior_is_a_fixed_point_of_em_with_people_beforehand():
    reports = SymmetricUnary(size=6, epsilon=2).randomize(np.repeat(np.arange(6), [90, 40, 30, 20, 10, 0]), seed=3)
    seen = Supports(reports.encoding, [reports])
    prior = Prior(12.0, np.full(6, 1 / 6))
    found = fit(seen.counts, seen.forward, seen.back, 6, stop="prior", prior=prior, tolerance=1e-12).probabilities
    responsibility = found * np.exp(2 * dense(reports))
    people = (responsibility / responsibility.sum(axis=1, keepdims=True)).sum(axis=0)
    assert np.allclose(found, (people + 2) / (190 + 12), atol=1e-9)


def test_strength_of_the_prior_follows_the_spread():
    generator = np.random.default_rng(1)
    noise = generator.normal(scale=0.01, size=(400, 50))
    even, uneven = np.full(50, 0.02), generator.dirichlet(np.ones(50))
    weak = np.mean([Prior.of(uneven + row, 1e-4, 1000).people for row in noise])
    assert 30 < weak < 80  # Dirichlet(1, ..., 1) of 50 values is 50 people beforehand
    strong = np.median([Prior.of(even + row, 1e-4, 1000).people for row in noise])
    assert strong > 1000
    assert Prior.of(np.array([1.0, 0, 0, 0]), 1e-9, 1000).people == pytest.approx(0, abs=1e-6)


def test_start_under_the_prior_does_not_matter():
    values = np.repeat(np.arange(40), np.linspace(300, 1, 40).astype(int))
    reports = SymmetricUnary(size=40, epsilon=2).randomize(values, seed=4)
    seen = Supports(reports.encoding, [reports])
    starts = np.full(40, 1 / 40), np.linspace(1, 0.01, 40) / np.linspace(1, 0.01, 40).sum()
    ends = [
        fit(seen.counts, seen.forward, seen.back, 40, stop="prior", prior=Prior(30.0, start), tolerance=1e-9)
        for start in starts
    ]
    assert np.allclose(ends[0].probabilities, ends[1].probabilities, atol=1e-5)
    made = Prior.of(np.array([0.5, 0.5, -0.1, 0.1]), 1e-3, 1000).start
    assert made.min() > 0
    assert made.sum() == pytest.approx(1)


def test_em_of_even_people_is_even():
    """Where the spread is noise alone, the estimate is the prior: no place is invented."""
    reports = SymmetricUnary(size=20, epsilon=0.5).randomize(np.arange(20).repeat(50), seed=12)
    raw = estimate(reports, "mle").counts
    if raw.var(ddof=1) < (estimate(reports, "mle").standard_error ** 2).mean():
        assert np.allclose(estimate(reports, "em").counts, 50, atol=0.01)
    assert estimate(reports, "em").counts.std() < raw.std() / 3


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["prior", "held_out"])
def test_rules_to_stop_beat_the_limit_where_noise_is_large(stop):
    values = np.repeat(np.arange(23), np.linspace(300, 40, 23).astype(int))
    true, errors = np.bincount(values), {"converged": 0.0, stop: 0.0}
    for seed in range(6):
        reports = SymmetricUnary(size=23, epsilon=0.5).randomize(values, seed=seed)
        for rule in errors:
            errors[rule] += np.abs(estimate(reports, "em", stop=rule).counts - true).sum()
    # Six runs: the sums differ by a factor of two, a standard deviation is about a tenth of them.
    assert errors[stop] < 0.8 * errors["converged"]


def test_channel_and_single_reports_give_the_same():
    """Hadamard reports can be counted by kind or looked at one by one: EM must agree."""
    encoding = HadamardResponse(size=6, epsilon=1)
    reports = encoding.randomize(np.repeat(np.arange(6), [90, 40, 30, 20, 10, 0]), seed=3)
    columns = encoding.layout.unpack(reports.packed)
    signs = np.bitwise_count(columns[:, None] & np.arange(1, 7)) % 2 == 0
    as_bits = Reports(SymmetricUnary(size=6, epsilon=1), np.packbits(signs, axis=1, bitorder="little"))
    assert np.allclose(
        estimate(reports, "em", stop="converged").counts, estimate(as_bits, "em", stop="converged").counts, atol=0.5
    )
