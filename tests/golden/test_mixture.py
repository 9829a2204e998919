"""The paper's numbers for perturbed records, and ours beside them, everything chosen without the truth."""

import numpy as np
import pytest

from sudare.papers import mixture_adult as adult
from sudare.papers import mixture_synthetic as synthetic
from sudare.papers.data import TRAINING_RECORDS
from sudare.reconstruct import Mixture, iterative_bayes, perturb, scale_for


@pytest.mark.parametrize(("name", "width"), [("age", 73), ("capital-gain", 99_999), ("education-num", 15)])
def test_the_scales_of_the_paper(name, width):
    """2.89 where the paper has 2.88."""
    found = scale_for(k=2, records=TRAINING_RECORDS, width=width)
    assert found == pytest.approx(adult.SCALES[name], rel=0.003)


@pytest.mark.parametrize(("size", "least", "ahead"), [(1_000, 60, 20), (10_000, 73, 4)])
def test_the_synthetic_mixture_is_recovered_better_than_by_ibt_at_its_limit(size, least, ahead):
    """Means of 20 are 66 and 80, and 32 and 65 at the limit (benchmarks/reconstruct_accuracy.py)."""
    ours, late = [], []
    for seed in range(100, 104):
        x = synthetic.records(size, seed)
        bounds = (float(x.min()), float(x.max()))
        edges = np.linspace(*bounds, synthetic.BINS + 1)
        made = perturb(x, bounds, k=2, seed=seed)
        assert made.scale == pytest.approx(synthetic.SCALES[size], rel=0.06)
        true = np.histogram(x, edges)[0] / size
        for found, stop in ((ours, "held_out"), (late, synthetic.LIMIT)):
            law = iterative_bayes(made.values, made.channel, edges, stop=stop).probabilities
            found.append(synthetic.l1_percent(true, law))
    assert np.mean(ours) > least
    assert np.mean(ours) > np.mean(late) + ahead


def test_as_printed_the_mixture_falls_behind_ibt_at_100_000_records():
    """Figure 2: the paper's step grows with the records (errata M7), whatever the start."""
    x = synthetic.records(100_000, 0)
    bounds = (float(x.min()), float(x.max()))
    edges = np.linspace(*bounds, synthetic.BINS + 1)
    made = perturb(x, bounds, k=2, seed=0)
    true = np.histogram(x, edges)[0] / len(x)
    ibt = synthetic.l1_percent(true, synthetic.printed_ibt(made.values, made.channel, edges))
    mixed = synthetic.printed_mixture(made, 4, 0)
    assert not mixed.converged_
    assert ibt > 85 > 70 > synthetic.l1_percent(true, mixed.histogram(edges))


def test_with_many_records_the_mixture_does_not_stay_behind():
    """The paper's does from 100,000 on."""
    x = synthetic.records(300_000, 1)
    bounds = (float(x.min()), float(x.max()))
    edges = np.linspace(*bounds, synthetic.BINS + 1)
    made = perturb(x, bounds, k=2, seed=1)
    true = np.histogram(x, edges)[0] / len(x)
    mixed = Mixture(components=4).fit(made.values, made.channel).histogram(edges)
    late = iterative_bayes(made.values, made.channel, edges, stop=synthetic.LIMIT).probabilities
    assert synthetic.l1_percent(true, mixed) > max(88, synthetic.l1_percent(true, late))


@pytest.mark.parametrize("name", ["age", "education-num"])
def test_adult_is_recovered_better_than_in_the_paper_by_both_methods(name, data_folder, monkeypatch):
    monkeypatch.setenv("SUDARE_DATA", str(data_folder))
    data, basis = adult.adult_numbers()
    assert "Adult" in str(basis)
    assert len(data[name]) == TRAINING_RECORDS
    assert np.mean(data["capital-gain"] == 0) == pytest.approx(0.9167, abs=5e-5)  # the paper's accuracy for it
    true = np.histogram(data[name], adult.EDGES[name])[0] / TRAINING_RECORDS
    noisy = perturb(data[name], adult.BOUNDS[name], k=2, seed=11)
    smooth = iterative_bayes(noisy.values, noisy.channel, adult.EDGES[name]).probabilities
    mixed = Mixture().fit(noisy.values, noisy.channel).histogram(adult.EDGES[name])
    assert synthetic.l1_percent(true, smooth) > adult.PAPER[name][0]
    assert synthetic.l1_percent(true, mixed) > adult.PAPER[name][1]


def test_the_papers_order_on_age_comes_out_under_its_rules(data_folder, monkeypatch):
    """Table 2: 88.03 against IBT's 86.02. Ten perturbations have 89.7 and 85.6, deviations of one 1.4 and 4.5."""
    monkeypatch.setenv("SUDARE_DATA", str(data_folder))
    age = adult.recovered(adult.adult_numbers()[0], "age", 0)
    found = {name: age.accuracy(name) for name in (adult.PRINTED_IBT, adult.PRINTED)}
    assert found[adult.PRINTED_IBT] < found[adult.PRINTED]
    assert list(found.values()) == pytest.approx(adult.PAPER["age"], abs=2.5)


def correlated(size, seed):
    """(size, 2) draws of two correlated Gaussians."""
    rng = np.random.default_rng([size, seed])
    which = rng.choice(2, size, p=(0.6, 0.4))
    means = np.array([[0.0, 0.0], [4.0, 3.0]])
    factors = np.linalg.cholesky([[[1.0, 0.8], [0.8, 1.0]], [[1.5, -1.0], [-1.0, 1.0]]])
    return means[which] + np.einsum("nij,nj->ni", factors[which], rng.standard_normal((size, 2)))


def test_whole_covariances_beat_the_rotation():
    """At epsilon 20, where correlation shows: 93 against 74."""
    x = correlated(5_000, 3)
    bounds = [(float(column.min()), float(column.max())) for column in x.T]
    edges = [np.linspace(*ends, 13) for ends in bounds]
    true = np.histogram2d(*x.T, bins=edges)[0] / len(x)
    made = perturb(x, bounds, epsilon=20, seed=3)
    accuracy = {}
    for covariance in ("pca", "full"):
        fit = Mixture(components=2, covariance=covariance, sweeps=80).fit(made.values, made.channel)
        accuracy[covariance] = synthetic.l1_percent(true, fit.cross_table(edges))
    assert accuracy["full"] > accuracy["pca"] + 5
    assert accuracy["full"] > 85
