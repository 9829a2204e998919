"""Laws of perturbed records and of what is recovered from them, for any numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.reconstruct import LaplaceNoise, Mixture, RetentionNoise, iterative_bayes, k_for, perturb, scale_for
from sudare.reconstruct.axes import Product, axis_of
from sudare.reconstruct.diagonal import Components, expect, log_prior, maximise, moments
from sudare.reconstruct.perturb import PerturbParameters, declared_noises
from sudare.reconstruct.sample import sample_of

orders = st.floats(-6, 6)  # of magnitude
seeds = st.integers(0, 2**32 - 1)
edges = st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True).map(sorted)


@given(far=st.floats(-1e4, 1e4), spread=orders, unit=orders)
@settings(max_examples=300, deadline=None)
def test_moments_are_those_of_some_distribution_at_any_scale(far, spread, unit):
    """sigma/phi over 12 orders of magnitude; y as far as 10,000 deviations or scales from the mean."""
    deviation, scale = 10.0**spread, 1.0
    y = far * max(deviation, scale)
    found = moments(y, 0.0, deviation**2, scale)
    assert np.isfinite([found.log_density, found.first, found.second]).all()
    assert found.second >= found.first**2 * (1 - 1e-9)
    # The true value lies on the side of the mean on which the perturbed one does, but for rounding.
    assert found.first * np.sign(far) >= -1e-12
    mirrored = moments(-y, 0.0, deviation**2, scale)
    assert float(mirrored.first) == pytest.approx(-float(found.first), rel=1e-9, abs=1e-12)
    other = moments(y * 10**unit, 0.0, (deviation * 10**unit) ** 2, scale * 10**unit)
    expected = float(found.log_density) - unit * np.log(10)
    assert float(other.log_density) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(spread=orders, unit=orders, seed=seeds)
@settings(max_examples=20, deadline=None)
def test_a_mixture_is_one_at_any_scale(spread, unit, seed):
    rng = np.random.default_rng(seed)
    scale = 10.0**unit
    values = rng.normal(0, scale * 10.0**spread, 60) + rng.laplace(0, scale, 60)
    found = Mixture(components=2, steps=40).fit(values, scale)
    assert np.isfinite(found.means_).all()
    assert (found.covariances_ > 0).all()
    assert np.isfinite(found.covariances_).all()
    assert float(found.weights_.sum()) == pytest.approx(1)
    assert np.isfinite([found.log_likelihood_, found.score(values)]).all()
    assert found.predict_proba(values).sum(axis=1) == pytest.approx(1)
    assert float(found.histogram([-scale, 0, scale]).sum()) == pytest.approx(1)


@given(seed=seeds, count=st.integers(1, 4), prior=st.sampled_from([0.0, 1.0]), spread=st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_no_exact_step_lowers_the_posterior(seed, count, prior, spread):
    rng = np.random.default_rng(seed)
    sample = sample_of(rng.normal(0, 10.0**spread, 80) + rng.laplace(0, 1, 80), 1.0)
    now = Components(
        rng.dirichlet(np.ones(count)), rng.normal(0, 2, (count, 1)), 10.0 ** rng.uniform(-3, 3, (count, 1))
    )
    before = expect(sample, now)
    after = maximise(sample, now, before, prior)
    reached = expect(sample, after).log_likelihood + log_prior(after, sample.scales, prior)
    assert reached >= before.log_likelihood + log_prior(now, sample.scales, prior) - 1e-6


@given(ends=edges, scale=orders, seed=seeds, stop=st.sampled_from(["converged", 1, 30]))
@settings(max_examples=40, deadline=None)
def test_iterative_bayes_gives_a_distribution(ends, scale, seed, stop):
    values = np.random.default_rng(seed).normal(0, 40, 50)
    found = iterative_bayes(values, 10.0**scale, ends, stop=stop).probabilities
    assert found.shape == (len(ends) - 1,)
    assert (found >= 0).all()
    assert float(found.sum()) == pytest.approx(1)


@given(ends=edges, scale=st.floats(-2, 2), seed=seeds)
@settings(max_examples=8, deadline=None)
def test_the_default_gives_a_distribution_in_which_order_and_units_do_not_count(ends, scale, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 40, 50)
    found = iterative_bayes(values, 10.0**scale, ends).probabilities
    assert (found >= 0).all()
    assert float(found.sum()) == pytest.approx(1)
    again = iterative_bayes(rng.permutation(values), 10.0**scale, ends).probabilities
    assert again == pytest.approx(found)
    # Powers of two change no rounding, so that no value changes its bin.
    doubled = iterative_bayes(8 * values, 8 * 10.0**scale, 8 * np.array(ends)).probabilities
    assert doubled == pytest.approx(found, abs=1e-9)


@given(ends=edges, epsilon=st.floats(0.01, 20), size=st.integers(2, 5), scale=orders, seed=seeds)
@settings(max_examples=60, deadline=None)
def test_a_channel_keeps_the_total_and_has_its_adjoint(ends, epsilon, size, scale, seed):
    from sudare.noise import RandomisedResponse
    from sudare.privacy import exact

    letters = tuple("abcde"[:size])
    retention = RetentionNoise(letters, RandomisedResponse(size, exact(round(epsilon, 6))))
    product = Product((axis_of(LaplaceNoise(10.0**scale), ends, 2), axis_of(retention, None, 2)))
    rng = np.random.default_rng(seed)
    law, score = rng.random(product.shape), rng.normal(size=product.reports)
    seen = product.forward(law)
    assert seen.min() > -1e-12
    assert float(seen.sum()) == pytest.approx(float(law.sum()))
    assert float((seen * score).sum()) == pytest.approx(float((law * product.back(score)).sum()), rel=1e-9, abs=1e-9)


@given(records=st.integers(3, 10**9), share=st.floats(0, 1, exclude_max=True), width=orders, rows=st.integers(1, 5))
@settings(max_examples=300, deadline=None)
def test_scale_for_and_k_for_are_inverse(records, share, width, rows):
    largest = records / rows
    k = 2 + share * (largest - 2) * 0.999
    if not 2 <= k < largest:
        return
    scale = scale_for(k=k, records=records, width=10.0**width, max_rows=rows)
    assert k_for(scale=scale, records=records, width=10.0**width, max_rows=rows) == pytest.approx(k, rel=1e-9)


@given(
    values=st.lists(st.floats(-10, 10), min_size=3, max_size=30),
    k=st.floats(2, 2.9),
    noise=st.sampled_from(["laplace", "square_wave"]),
    seed=seeds,
)
@settings(max_examples=40, deadline=None)
def test_rows_keep_their_number_and_their_declared_values(values, k, noise, seed):
    letters = ["a", "b", "c"]
    named = {"number": values, "letter": [letters[place % 3] for place in range(len(values))]}
    made = perturb(named, {"number": (-10, 10)}, categories={"letter": letters}, k=k, noise=noise, seed=seed)
    assert len(made.values["number"]) == len(made.values["letter"]) == len(values)
    assert np.isfinite(made.values["number"]).all()
    assert set(made.values["letter"].tolist()) <= set(letters)
    assert made.k >= k * (1 - 1e-9)
    assert sum(float(cost) for cost in _costs(made)) == pytest.approx(float(made.row_epsilon))


def _costs(made):
    number, letter = made.noises
    width = number.bounds[1] - number.bounds[0]
    yield width / number.scale if isinstance(number, LaplaceNoise) else number.law.epsilon
    yield letter.law.epsilon


@given(epsilon=st.fractions(min_value="1/100", max_value=20, max_denominator=999), step=st.floats(0.001, 5))
@settings(max_examples=60, deadline=None)
def test_laplace_noise_costs_what_its_scale_says(epsilon, step):
    """epsilon = width/scale, where the width is that of the grid, at least that of the bounds."""
    from sudare.reconstruct.noises import table_of

    ((noise, grid),) = declared_noises(table_of([1.0, 2.0]), (0, 7), PerturbParameters(), epsilon, step)
    assert grid.steps * grid.step >= 7 * (1 - 1e-12)
    assert grid.steps * grid.step / noise.scale == pytest.approx(float(epsilon))
    assert 7 / noise.scale <= float(epsilon) * (1 + 1e-12)
