"""Estimates: right on average, honest about their error, and refusing what cannot be done."""

import numpy as np
import pytest

from sudare.errors import InputError, ParameterError
from sudare.local import (
    HadamardResponse,
    LocalHashing,
    RandomisedResponse,
    Reports,
    SquareWave,
    SubsetSelection,
    SymmetricUnary,
    Tally,
    estimate,
)
from sudare.local.estimators import interval, noise_terms


def test_unbiased_counts_are_near_the_truth(counting, people):
    true = np.bincount(people, minlength=23)
    made = estimate(counting.randomize(people, seed=5), "mle")
    # Six standard errors in 23 values: a right estimator fails once in twenty million runs.
    assert (np.abs(made.counts - true) < 6 * made.standard_error).all()
    # The chi-square of 23 values: between 4 and 64 with probability 1 - 1e-6. Wrong standard errors fall outside.
    z = (made.counts - true) / made.standard_error
    assert 3 < (z**2).sum() < 70


def test_simplex_and_em_are_distributions_nearer_to_the_truth(counting, people):
    true = np.bincount(people, minlength=23)
    reports = counting.randomize(people, seed=6)
    raw = estimate(reports, "mle")
    for method in ("simplex", "em"):
        made = estimate(reports, method)
        assert made.method == method
        assert made.counts.min() >= 0
        assert made.counts.sum() == pytest.approx(len(people))
        # Always so for the projection, by convexity.
        assert np.linalg.norm(made.counts - true) < np.linalg.norm(raw.counts - true)
        assert (made.low <= made.counts).all()
        assert (made.counts <= made.high).all()
        assert np.allclose(made.unbiased, raw.counts)
        assert made.frequencies.sum() == pytest.approx(1)


@pytest.mark.slow
def test_chunks_tally_and_whole_agree(counting, people):
    reports = counting.randomize(people, seed=7)
    whole = estimate(reports, "simplex")
    assert np.allclose(estimate(reports.chunks(999), "simplex").counts, whole.counts)
    assert np.allclose(estimate(Tally(counting).add(reports), "simplex").counts, whole.counts)
    assert np.allclose(estimate(reports.chunks(999), "em").counts, estimate(reports, "em").counts, atol=1e-3)


def test_order_of_reports_does_not_matter(counting, people):
    reports = counting.randomize(people[:3000], seed=8)
    mixed = Reports(counting, np.random.default_rng(1).permutation(reports.packed))
    for method in ("mle", "simplex", "em"):
        assert np.allclose(estimate(mixed, method).counts, estimate(reports, method).counts, atol=1e-6)


@pytest.mark.slow
def test_auto_means_em_for_few_values_and_simplex_for_many(people):
    small, large = SymmetricUnary(size=64, epsilon=1), SymmetricUnary(size=65, epsilon=1)
    assert estimate(small.randomize(people[:500])).method == "em"
    assert estimate(large.randomize(people[:500])).method == "simplex"
    assert estimate(Tally(small).add(small.randomize(people[:500]))).method == "simplex"
    response = RandomisedResponse(size=64, epsilon=1)
    assert estimate(Tally(response).add(response.randomize(people[:500]))).method == "em"
    assert estimate(SquareWave(size=8, epsilon=1).randomize([0.5] * 50)).method == "em"


@pytest.mark.parametrize("method", ["mle", "em"])
def test_standard_error_is_the_formula_of_its_paper(method):
    """Wang et al. 2017: n q (1 - q)/(p - q)**2 + people (1 - p - q)/(p - q)."""
    encoding = RandomisedResponse(size=4, epsilon=1)
    made = estimate(encoding.randomize([0] * 900 + [1] * 100, seed=1), method)
    (own, other), people = encoding.chances, np.clip(made.counts, 0, 1000)
    expected = 1000 * other * (1 - other) / (own - other) ** 2 + people * (1 - own - other) / (own - other)
    assert np.allclose(made.standard_error**2, expected)


def test_variances_of_the_methods_page():
    """n Var without the share's term: symmetric e^(x/2)/(e^(x/2)-1)^2, optimised and hashing 4 e^x/(e^x-1)^2, ..."""
    x = 1.3
    assert noise_terms(SymmetricUnary(size=9, epsilon=x))[0] == pytest.approx(np.exp(x / 2) / np.expm1(x / 2) ** 2)
    exact_buckets = LocalHashing(size=9, epsilon=np.log(3), buckets=4)  # e**epsilon + 1 buckets
    assert noise_terms(exact_buckets)[0] == pytest.approx(4 * 3 / 2**2, rel=1e-6)
    response = noise_terms(RandomisedResponse(size=9, epsilon=x))[0]
    assert response == pytest.approx((9 - 2 + np.exp(x)) / np.expm1(x) ** 2)
    hadamard = noise_terms(HadamardResponse(size=9, epsilon=x))[0]
    assert hadamard == pytest.approx((np.exp(x) + 1) ** 2 / np.expm1(x) ** 2)


def coverage(encoding, method, people, runs, level=0.9, shrunk=1.0):
    """Share of true counts inside the intervals, among values that nobody holds and among the others."""
    true = np.bincount(people, minlength=encoding.size)
    inside = np.zeros(encoding.size)
    for run in range(runs):
        made = estimate(encoding.randomize(people, seed=run), method, level)
        middle = (made.low + made.high) / 2
        low, high = middle + shrunk * (made.low - middle), middle + shrunk * (made.high - middle)
        inside += (low <= true) & (true <= high)
    return inside[true == 0].sum() / (runs * (true == 0).sum()), inside[true > 0].sum() / (runs * (true > 0).sum())


def test_an_estimate_that_chance_took_below_zero_is_no_certain_zero():
    """Else one in twenty answers that nobody gave has the interval 0 to 0."""
    encoding, people = SymmetricUnary(size=30, epsilon=1), np.zeros(400, int)
    far = 0
    for seed in range(20):
        made = estimate(encoding.randomize(people, seed=seed), "mle")
        zero = interval(encoding, np.zeros(1), 400, 1.6448536)[1]
        far += (interval_before(encoding, made.unbiased, 400)[1:] <= 0).sum()
        assert (made.high >= zero - 1e-6).all()
        assert (estimate(encoding.randomize(people, seed=seed), "simplex").high >= zero - 1e-6).all()
    assert far > 5  # the twin: these would have been points


def interval_before(encoding, counts, reports, reach=1.6448536):
    """The upper ends where an estimate below zero is taken as it is."""
    constant, slope = noise_terms(encoding)
    half = reach * np.sqrt(np.maximum(reports * constant + slope * counts + (reach * slope / 2) ** 2, 0))
    return counts + reach**2 * slope / 2 + half


PLACES = np.repeat(np.arange(30), np.append((900 / np.arange(1, 21)).astype(int), np.zeros(10, int)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SymmetricUnary, RandomisedResponse, SubsetSelection, LocalHashing, HadamardResponse])
def test_intervals_of_the_unbiased_estimate_cover_as_promised(kind):
    """4,000 (2,000) intervals; five standard deviations are 0.024 (0.034): false alarms below 1e-6.

    The interval of a rare value misses on one side only, so that together they hold for up to 95 %.
    """
    empty, populated = coverage(kind(size=30, epsilon=2), "mle", PLACES, 200)
    assert empty > 0.916
    assert 0.872 < populated < 0.974
    # The twin: intervals of 80 % the length hold 81 % of the time.
    assert coverage(kind(size=30, epsilon=2), "mle", PLACES, 200, shrunk=0.8)[1] < 0.872


@pytest.mark.slow
@pytest.mark.parametrize("method", ["simplex", "em"])
def test_intervals_after_projection_and_em_cover_at_least_as_often(method):
    empty, populated = coverage(SymmetricUnary(size=30, epsilon=1), method, PLACES, 100)
    assert empty > 0.852  # five standard deviations of 1,000
    assert populated > 0.866


@pytest.mark.slow
def test_intervals_hold_for_very_few_people():
    """Eight people at epsilon 3: a normal interval about the estimate would be too short at the ends."""
    values = np.array([0] * 7 + [1])
    encoding, hits = RandomisedResponse(size=3, epsilon=3), 0
    for run in range(800):
        made = estimate(encoding.randomize(values, seed=run), "mle")
        hits += made.low[0] <= 7 <= made.high[0]
    assert hits / 800 > 0.847  # five standard deviations below 0.9


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SymmetricUnary, RandomisedResponse, SubsetSelection, HadamardResponse])
def test_covariance_is_that_of_the_estimates(kind):
    """1,000 draws: an entry's error is about sqrt(2/1000) of the variance; 0.25 is more than five of those."""
    encoding = kind(size=5, epsilon=1)
    values = np.repeat(np.arange(5), [300, 100, 60, 40, 0])
    drawn = np.array([estimate(encoding.randomize(values, seed=run), "mle").counts for run in range(1000)])
    known = estimate(encoding.randomize(np.repeat(np.arange(5), [300_000, 100_000, 60_000, 40_000, 0]), seed=1), "mle")
    matrix = known.covariance() / 1000
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    assert (np.abs(np.cov(drawn, rowvar=False) - matrix) < 0.25 * scale).all()


def test_covariance_of_hashing_is_not_known(people):
    made = estimate(LocalHashing(size=23, epsilon=1).randomize(people), "mle")
    with pytest.raises(ParameterError, match="the covariance of this encoding is not known"):
        made.covariance()


def test_covariance_of_too_many_values():
    made = estimate(HadamardResponse(size=5000, epsilon=1).randomize([1, 2, 3]), "mle")
    with pytest.raises(ParameterError, match="too many values for a covariance"):
        made.covariance()


def test_sums_of_values_have_their_own_error(people):
    made = estimate(SymmetricUnary(size=23, epsilon=1).randomize(people, seed=3), "simplex")
    true = np.bincount(people, minlength=23)
    group = made.sum([0, 1, 2, 2])
    assert group.count == pytest.approx(made.counts[:3].sum())
    assert group.standard_error == pytest.approx(np.sqrt((made.standard_error[:3] ** 2).sum()))
    assert abs(group.count - true[:3].sum()) < 6 * group.standard_error
    assert group.low <= group.count <= group.high
    # Randomised response reports exactly one value: all of them together are known.
    everybody = estimate(RandomisedResponse(size=23, epsilon=1).randomize(people), "em").sum(range(23))
    assert everybody.standard_error == pytest.approx(0, abs=1e-3)
    for wrong in ([], [23], [-1]):
        with pytest.raises(ParameterError, match="some of these values are not in the domain"):
            made.sum(wrong)


def test_no_reports():
    encoding = SymmetricUnary(size=23, epsilon=1)
    for nothing in (encoding.randomize([]), Tally(encoding), [], [encoding.randomize([])]):
        with pytest.raises(InputError, match=r"^there are no reports to estimate from"):
            estimate(nothing)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "eme"}, "unknown method of estimation .*Did you mean"),
        ({"method": "ems"}, "smoothing is for numbers"),
        ({"level": 1}, "level is not a probability"),
        ({"level": 0}, "level is not a probability"),
        ({"method": "em", "stop": "soon"}, "no such rule to stop EM"),
        ({"method": "em", "stop": 0}, "no such rule to stop EM"),
    ],
)
def test_options_that_make_no_sense(options, sentence):
    reports = SymmetricUnary(size=23, epsilon=1).randomize([1, 2])
    with pytest.raises(ParameterError, match=sentence):
        estimate(reports, **options)


def test_what_cannot_be_estimated_so():
    encoding = SymmetricUnary(size=23, epsilon=1)
    tally = Tally(encoding).add(encoding.randomize([1, 2]))
    with pytest.raises(ParameterError, match="a tally of these reports does not suffice for EM"):
        estimate(tally, "em")
    numbers = SquareWave(size=23, epsilon=1).randomize([0.5])
    with pytest.raises(ParameterError, match="method simplex is not for numbers"):
        estimate(numbers, "simplex")
    with pytest.raises(ParameterError, match="EM for numbers has no prior"):
        estimate(numbers, "em", stop="prior")
    with pytest.raises(InputError, match=r"^not reports"):
        estimate([np.zeros((2, 3), dtype=np.uint8)])


def test_facts_are_plain_and_the_estimate_prints_itself(people):
    import json

    made = estimate(SymmetricUnary(size=23, epsilon=1).randomize(people[:100]))
    assert json.loads(json.dumps(made.to_json()))["reports"] == 100
    assert made.summary["survey"]["encoding"] == "symmetric_unary"
    assert "23 values by em from 100 reports" in repr(made)
    assert "epsilon-LDP" in repr(made)


def test_an_impossible_count_has_an_interval_around_it():
    """600 forged reports that speak for one value only: the estimate of 1,567 had the interval [758, 758]."""
    encoding = SymmetricUnary(size=4, epsilon=1)
    honest = encoding.randomize(np.arange(158) % 4, seed=1)
    forged = Reports(encoding, np.full((600, 1), 1, dtype=np.uint8), seeded=True)
    made = estimate(honest + forged, "mle")
    assert made.counts[0] > made.reports == 758
    assert made.low[0] <= made.reports < made.counts[0] <= made.high[0]
    assert (made.high > made.low).all()
