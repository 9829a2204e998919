"""What a fitted mixture answers: scikit-learn manners, bands, several attributes, the paper's gradient."""

import numpy as np
import pytest

from sudare.reconstruct import Mixture, iterative_bayes
from sudare.reconstruct.fitting import Starts
from sudare.reconstruct.sample import sample_of


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(3)
    true = np.where(rng.random(4_000) < 0.3, rng.normal(-4, 1, 4_000), rng.normal(3, 0.8, 4_000))
    return true + rng.laplace(0, 1.0, 4_000)


@pytest.fixture(scope="module")
def fitted(values):
    return Mixture(components=2).fit(values, 1.0, bounds=(-8, 6))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    true = rng.multivariate_normal([0, 5], [[2.0, 1.2], [1.2, 1.0]], 1_500)
    return true + rng.laplace(0, 0.5, true.shape)


def test_answers_agree_with_each_other(fitted):
    edges = np.linspace(-8, 6, 29)
    shares = fitted.histogram(edges)
    assert shares.sum() == pytest.approx(1)
    middles = (edges[1:] + edges[:-1]) / 2
    assert fitted.density(middles) * 0.5 == pytest.approx(shares, abs=0.01)
    below = fitted.quantiles([0.1, 0.5, 0.9])
    assert (np.diff(below) > 0).all()
    assert np.interp(below[1], edges[1:], np.cumsum(shares)) == pytest.approx(0.5, abs=0.03)
    drawn = fitted.sample(20_000, seed=2)
    assert -8 <= drawn.min() <= drawn.max() <= 6
    assert np.histogram(drawn, edges)[0] / 20_000 == pytest.approx(shares, abs=0.02)


def test_clusters_are_the_likeliest_components(fitted, values):
    chances = fitted.predict_proba(values)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert (fitted.predict(values) == chances.argmax(axis=1)).all()
    assert fitted.predict([-5.0, 4.0]).tolist() == [0, 1]


def test_scores_are_likelihoods(fitted, values):
    # Bins stand for their values' means, hence the small difference.
    assert fitted.score(values) * len(values) == pytest.approx(fitted.log_likelihood_, rel=1e-4)


@pytest.mark.slow
def test_the_number_of_components_is_found(values):
    found = Mixture(components="auto", most=3).fit(values, 1.0)
    assert found.components_ >= 2
    assert set(found.candidates_) >= {1, 2}
    assert found.candidates_[2] > found.candidates_[1]


@pytest.mark.slow
def test_bands_hold_the_answer_and_are_wider_at_a_higher_level(fitted):
    wide = fitted.bands("histogram", [-8, 0, 6], level=0.95, repetitions=12)
    narrow = fitted.bands("histogram", [-8, 0, 6], level=0.5, repetitions=12)
    assert wide.value == pytest.approx([0.3, 0.7], abs=0.05)
    assert (wide.low <= wide.value).all()
    assert (wide.value <= wide.high).all()
    assert (wide.high - wide.low > narrow.high - narrow.low).all()


def test_a_number_of_numpy_is_a_number(values):
    assert Mixture(components=np.int64(1)).fit(values, 1.0).components_ == 1


def test_a_redrawn_fit_keeps_the_parameters(values):
    first = Mixture(components=1, gain=0.5, seed=7, sweeps=9).fit(values, 1.0)
    again = first.again(np.random.default_rng(1))
    assert (again.gain, again.seed, again.sweeps, again.components) == (0.5, 7, 9, 1)
    assert again.means_ != first.means_


@pytest.mark.slow
def test_a_mean_step_climbs_to_the_same_place_and_stops_there(values, fitted):
    climbed = Mixture(components=2, method="gradient", rate=0.5 / len(values), steps=2000).fit(values, 1.0)
    assert climbed.means_ == pytest.approx(fitted.means_, abs=0.3)
    assert climbed.converged_
    assert climbed.steps_ < 2000


def test_the_papers_step_overshoots_when_it_grows_with_the_records(values):
    assert not Mixture(components=2, method="gradient", rate=0.05, steps=100).fit(values, 1.0).converged_


@pytest.mark.slow
@pytest.mark.parametrize("covariance", ["full", "diagonal", "pca"])
def test_several_attributes(table, covariance):
    found = Mixture(components=1, covariance=covariance, sweeps=60).fit(table, [0.5, 0.5])
    assert found.means_ == pytest.approx(np.array([[0, 5]]), abs=0.2)
    assert found.covariances_.shape == (1, 2, 2)
    correlation = found.covariances_[0, 0, 1] / np.sqrt(np.prod(np.diag(found.covariances_[0])))
    if covariance == "diagonal":
        assert correlation == 0
    else:
        assert correlation == pytest.approx(1.2 / np.sqrt(2), abs=0.12)
    cross = found.cross_table([[-9, 0, 9], [-9, 5, 19]])
    assert cross.shape == (2, 2)
    assert cross.sum() == pytest.approx(1)
    assert found.sample(7, seed=1).shape == (7, 2)
    assert np.isfinite(found.score(table[:200]))


@pytest.mark.slow
def test_a_start_has_as_many_components_as_asked(values, table):
    for sample in (sample_of(values, 1.0), sample_of(table, 0.5)):
        starts = Starts(sample, seed=0)
        for count in (1, 2, 5):
            found = starts.of(count)
            assert found.count == count
            assert found.weights.sum() == pytest.approx(1)
            assert (found.variances > 0).all()


@pytest.mark.slow
def test_both_methods_find_the_same_histogram(values, fitted):
    edges = np.linspace(-8, 6, 15)
    other = iterative_bayes(values, 1.0, edges)
    assert np.abs(other.probabilities - fitted.histogram(edges)).sum() / 2 < 0.12
