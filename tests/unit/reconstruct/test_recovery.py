"""Distributions recovered from perturbed values, by both methods, and what they refuse."""

import numpy as np
import pytest
from scipy import integrate, stats

import sudare as sd
from sudare.errors import SudareError
from sudare.reconstruct.diagonal import moments

EDGES = np.linspace(-4, 12, 51)
mixture, bayes, perturb = sd.reconstruct.Mixture, sd.reconstruct.iterative_bayes, sd.reconstruct.perturb


def square_wave():
    return perturb([1.0, 2.0, 2.0], bounds=(0, 3), epsilon=1, noise="square_wave", seed=1).channel


def mixed(size, seed):
    """The paper's synthetic mixture."""
    rng = np.random.default_rng(seed)
    which = rng.choice(4, size, p=[0.1, 0.6, 0.2, 0.1])
    return rng.normal(np.array([-1, 3, 5, 9])[which], np.sqrt([0.1, 0.2, 0.5, 0.01])[which])


def accuracy(found, true):
    expected = np.histogram(true, EDGES)[0] / len(true)
    return 100 * (1 - np.abs(found - expected).sum() / 2)


def test_the_scale_of_the_paper_and_its_inverse():
    assert sd.reconstruct.scale_for(k=2, records=32561, width=73) == pytest.approx(14.05, abs=0.005)
    assert sd.reconstruct.scale_for(k=2, records=32561, width=99_999) == pytest.approx(19247.5, abs=0.1)
    assert sd.reconstruct.scale_for(k=2, records=32561, width=15) == pytest.approx(2.89, abs=0.005)
    assert sd.reconstruct.k_for(scale=14.0508, records=32561, width=73) == pytest.approx(2, abs=1e-3)


@pytest.mark.slow
def test_the_early_stop_beats_the_limit_and_both_beat_the_noisy_histogram():
    true = mixed(1_000, 1)
    noisy = true + np.random.default_rng(2).laplace(0, 3.18, len(true))
    found = accuracy(sd.reconstruct.iterative_bayes(noisy, 3.18, EDGES).probabilities, true)
    limit = accuracy(sd.reconstruct.iterative_bayes(noisy, 3.18, EDGES, stop=5_000).probabilities, true)
    plain = accuracy(np.histogram(noisy, EDGES)[0] / len(noisy), true)
    assert found > limit + 5
    assert found > plain + 5


@pytest.mark.slow
def test_the_distribution_is_recovered():
    """Single draws vary by 6 to 9 around a mean of 66; the noisy histogram itself is at 30 to 40."""
    true = mixed(1_000, 5)
    noisy = true + np.random.default_rng(6).laplace(0, 3.18, 1_000)
    assert accuracy(sd.reconstruct.distribution(noisy, 3.18, EDGES).probabilities, true) > 52


def test_a_mixture_finds_its_components():
    rng = np.random.default_rng(3)
    true = np.where(rng.random(20_000) < 0.3, rng.normal(-4, 1, 20_000), rng.normal(3, 0.5, 20_000))
    found = sd.reconstruct.Mixture(components=2).fit(true + rng.laplace(0, 1.5, 20_000), 1.5)
    assert found.weights_ == pytest.approx([0.3, 0.7], abs=0.02)
    assert found.means_ == pytest.approx([-4, 3], abs=0.1)
    assert np.sqrt(found.covariances_) == pytest.approx([1, 0.5], abs=0.25)
    drawn = found.sample(5_000, seed=1)
    assert np.mean(drawn) == pytest.approx(true.mean(), abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "spread", "scale", "value"), [(0, 1, 1, 0.5), (2, 0.3, 2, -4), (-1, 3, 0.5, 6)])
def test_moments_are_those_of_quadrature(mean, spread, scale, value):
    def density(x):
        return stats.norm.pdf(x, mean, spread) * stats.laplace.pdf(value - x, scale=scale)

    around = sorted({mean, value})
    norm, first, second = (
        integrate.quad(lambda x, power=power: x**power * density(x), -60, 60, points=around, limit=400)[0]
        for power in range(3)
    )
    found = moments(float(value), mean=float(mean), variance=float(spread**2), scale=float(scale))
    # The means of (x - m)/s and of its square.
    assert float(found.log_density) == pytest.approx(np.log(norm), abs=1e-8)
    assert mean + spread * float(found.first) == pytest.approx(first / norm, rel=1e-7)
    true_second = (second - 2 * mean * first + mean**2 * norm) / norm / spread**2
    assert float(found.second) == pytest.approx(true_second, rel=1e-6)


@pytest.mark.parametrize("exponent", range(-6, 7, 2))
def test_twelve_orders_of_magnitude_do_not_overflow(exponent):
    rng = np.random.default_rng(4)
    values = rng.normal(0, 10.0**exponent, 300) + rng.laplace(0, 1.0, 300)
    found = sd.reconstruct.Mixture(components=2).fit(values, 1.0)
    assert np.isfinite(found.means_).all()
    assert np.isfinite(found.covariances_).all()
    assert found.weights_.sum() == pytest.approx(1)


@pytest.mark.slow
def test_a_cross_table_of_a_number_and_a_category():
    rng = np.random.default_rng(5)
    sex = rng.choice(["f", "m"], 6_000)
    age = np.where(sex == "f", rng.normal(30, 4, 6_000), rng.normal(60, 4, 6_000))
    made = sd.reconstruct.perturb(
        {"age": age, "sex": sex}, {"age": (0, 100)}, categories={"sex": ["f", "m"]}, epsilon=14, outside="clamp", seed=1
    )
    found = sd.reconstruct.iterative_bayes(made.values, made.channel, {"age": np.arange(0, 101, 10)})
    assert found.probabilities.shape == (10, 2)
    young, old = found.probabilities[:5].sum(axis=0), found.probabilities[5:].sum(axis=0)
    assert young[0] == pytest.approx(0.5, abs=0.06)
    assert old[1] == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mixture(components=5).fit([1.0, 2.0], 1.0), "fewer records than components"),
        (lambda: mixture().fit([1.0, np.nan, 2.0], 1.0), "missing or not finite"),
        (lambda: mixture().fit([1.0, np.inf, 2.0], 1.0), "missing or not finite"),
        (lambda: mixture().fit(["a", "b"], 1.0), "not numbers"),
        (lambda: mixture().fit([], 1.0), "do not form a table"),
        (lambda: mixture().fit([1.0, 2.0, 3.0], 0), "scale is not positive"),
        (lambda: mixture().fit([1.0, 2.0, 3.0], np.inf), "scale is not positive"),
        (lambda: mixture().fit([1.0, 2.0, 3.0], "wide"), "scale is not a number"),
        (lambda: mixture().fit([1.0, 2.0, 3.0], [1.0, 2.0]), "scale does not fit"),
        (lambda: mixture().fit([1.0, 2.0, 3.0], 1.0, bounds=(3, 1)), "bounds are not in order"),
        (lambda: mixture().fit([[1.0, 2.0]] * 3, 1.0, bounds=[(0, 3)]), "bounds do not fit"),
        (lambda: mixture().fit([1.0, 2.0, 3.0], square_wave()), "needs Laplace noise"),
        (lambda: mixture().score([1.0]), "not fitted yet"),
        (lambda: mixture(components=0), "components is not a whole number"),
        (lambda: mixture(components="many"), "no such components"),
        (lambda: mixture(covariance="round"), "no such covariance"),
        (lambda: mixture(method="guess"), "no such method"),
        (lambda: mixture(rate=0), "rate is not positive"),
        (lambda: mixture(prior=-1), "prior is not a weight"),
        (lambda: bayes([1.0, np.inf], 1.0, [0, 1, 2]), "missing or not finite"),
        (lambda: bayes([1.0, np.nan], 1.0, [0, 1, 2]), "missing or not finite"),
        (lambda: bayes([1.0, 2.0], 1.0, [2, 1]), "edges do not increase"),
        (lambda: bayes([1.0, 2.0], -1.0, [0, 1, 2]), "scale is not positive"),
        (lambda: bayes([1.0, 2.0], 0, [0, 1, 2]), "scale is not positive"),
        (lambda: bayes([1.0, 2.0], 1.0, [0, 1, 2], stop="soon"), "no such rule"),
        (lambda: bayes([[1.0, 2.0]], 1.0, [0, 1, 2]), "edges does not name every column"),
        (lambda: perturb([1.0, np.nan, 2.0], bounds=(0, 3), epsilon=1), "missing or not finite"),
        (lambda: perturb([1.0, -np.inf, 2.0], bounds=(0, 3), epsilon=1), "missing or not finite"),
        (lambda: perturb([1.0, 47.25, 2.0], bounds=(0, 3), epsilon=1), "outside its declared bounds"),
        (lambda: perturb([1.0, 47.25, 2.0], bounds=(0, 3), epsilon=1, noise="square_wave"), "outside its declared"),
        (lambda: perturb(["a", "zoo 47.25"], categories=["a", "b"], epsilon=1), "not one of the declared categories"),
        (lambda: perturb([1.0, 2.0, 2.0], bounds=(0, 3), k=1), "k is out of range"),
        (lambda: perturb([1.0, 2.0, 2.0], bounds=(0, 3), k=1.5), "k is out of range"),
        (lambda: perturb([1.0, 2.0, 2.0], bounds=(0, 3), k=3), "k is out of range"),
        (lambda: perturb([1.0, 2.0, 2.0], bounds=(0, 3), k=7), "k is out of range"),
        (lambda: perturb([1.0, 2.0, 2.0], bounds=(0, 3)), "either k or epsilon"),
        (lambda: perturb([1.0, 2.0, 2.0], bounds=(3, 0), epsilon=1), "bounds are not in order"),
        (lambda: perturb([1.0, 2.0, 2.0], epsilon=1), "either bounds or categories"),
        (lambda: sd.reconstruct.scale_for(k=1, records=100, width=1), "k is out of range"),
        (lambda: sd.reconstruct.scale_for(k=100, records=100, width=1), "k is out of range"),
        (lambda: sd.reconstruct.k_for(scale=0, records=100, width=1), "scale is not positive"),
        (lambda: sd.reconstruct.LaplaceNoise(0), "scale is not positive"),
    ],
)
def test_mistakes_are_one_sentence(call, sentence):
    with pytest.raises(SudareError, match=sentence) as refusal:
        call()
    assert "47.25" not in str(refusal.value)


def test_a_value_outside_is_moved_to_the_bound_when_asked():
    made = perturb([1.0, 47.25, 2.0], bounds=(0, 3), epsilon=1, outside="clamp")
    assert len(made.values) == 3


@pytest.mark.slow
def test_all_values_equal():
    rng = np.random.default_rng(7)
    noisy = 5 + rng.laplace(0, 1, 2_000)
    found = mixture(most=3).fit(noisy, 1.0)
    assert float(found.weights_ @ found.means_) == pytest.approx(5, abs=0.15)
    recovered = bayes(noisy, 1.0, np.arange(0, 11) + 0.5).probabilities
    assert recovered[4] == recovered.max()  # the bin around 5
    assert recovered[3:6].sum() > 0.8
    made = perturb(np.full(50, 3.0), bounds=(0, 10), k=2)
    assert made.values.std() > 0


@pytest.mark.parametrize("shape", [(40,), (40, 2)])
def test_values_that_are_equal_even_after_the_noise(shape):
    """A released file that says nothing: a distribution comes back all the same, around the one value."""
    found = mixture(components=2, sweeps=20).fit(np.full(shape, 3.0), 1.0)
    assert found.means_ == pytest.approx(3.0, abs=0.5)
    assert np.isfinite(found.covariances_).all()
    assert found.weights_.sum() == pytest.approx(1)


def test_one_record():
    assert mixture().fit([3.0], 1.0).means_ == pytest.approx([3.0], abs=1e-6)
    assert bayes([3.0], 1.0, [0, 2, 4, 6]).probabilities.sum() == pytest.approx(1)


@pytest.mark.parametrize("epsilon", ["0.1", "3", "1000"])
def test_how_often_a_category_stays_at_any_epsilon(epsilon):
    from sudare.noise import RandomisedResponse
    from sudare.reconstruct import RetentionNoise

    kept = RetentionNoise(("a", "b", "c"), RandomisedResponse(3, sd.privacy.exact(epsilon))).kept
    assert np.log1p(3 * kept / (1 - kept)) == pytest.approx(float(epsilon)) if kept < 1 else float(epsilon) == 1000
