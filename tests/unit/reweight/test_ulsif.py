import numpy as np
import pytest

from sudare.errors import InputError, ParameterError
from sudare.reweight import Gaussian, logistic, rulsif, tilt, ulsif

AT = [-1.0, 0.0, 1.0, 2.0, 3.0]
# densratio 0.4.0 on these samples (benchmarks/reweight_densratio.py): width 0.7, lambda 0.1, all rows are centres.
ULSIF = [0.046863511119, 0.170528663542, 0.762124428475, 2.376867452596, 2.174056765627]
RULSIF = [0.055657242816, 0.196751396644, 0.803347463318, 1.868465295223, 1.746330763000]


def samples(rows):
    q = (np.arange(rows) + 0.5) / rows
    return 2 + 0.5 * np.log(q / (1 - q)), 1 + np.log(q / (1 - q)) * 0.9


def test_the_numbers_of_the_densratio_package():
    above, below = samples(200)
    assert ulsif(above, below, Gaussian(above, 0.7), 0.1)(AT) == pytest.approx(ULSIF, abs=1e-11)
    assert rulsif(above, below, Gaussian(above, 0.7), 0.1, alpha=0.2)(AT) == pytest.approx(RULSIF, abs=1e-11)


def test_rulsif_without_mixing_is_ulsif():
    above, below = samples(100)
    basis = Gaussian(above[:10], 0.5)
    assert (rulsif(above, below, basis, 0.1, alpha=0)(AT) == ulsif(above, below, basis, 0.1)(AT)).all()


def test_any_basis_will_do():
    above, below = samples(100)
    cells = lambda x: np.stack([x[:, 0] < 1.5, x[:, 0] >= 1.5], axis=1).astype(float)  # noqa: E731
    ratio = ulsif(above, below, cells, 1e-9)
    expected = [(above < 1.5).mean() / (below < 1.5).mean(), (above >= 1.5).mean() / (below >= 1.5).mean()]
    assert ratio([0.0, 2.0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [ulsif, rulsif, logistic, tilt])
def test_every_estimator_finds_where_the_numerator_is(estimator):
    generator = np.random.default_rng(5)
    ratio = estimator(generator.normal(2, 0.5, 2000), generator.normal(1, 1, 2000))
    there, elsewhere = ratio([1.9]), ratio([0.0, 4.5])
    assert there > 1.5
    assert (elsewhere < 1).all()
    assert (ratio(np.linspace(-4, 6, 50)) >= 0).all()
    assert ratio.guarantee.notion == "none"
    assert ratio.summary["method"] == estimator.__name__


def test_the_logistic_ratio_of_two_normals_is_known():
    """log p/q of N(1, 1) against N(0, 1) is x - 1/2, which a linear basis holds."""
    q = (np.arange(4000) + 0.5) / 4000
    from scipy.stats import norm

    above, below = norm.ppf(q) + 1, norm.ppf(q)
    ratio = logistic(above, below, lambda x: x, 1e-6)
    assert np.log(ratio([0.0, 1.0])) == pytest.approx([-0.5, 0.5], abs=0.02)


@pytest.mark.parametrize("estimator", [ulsif, rulsif, logistic, tilt])
@pytest.mark.parametrize(
    ("above", "below", "sentence"),
    [
        (np.ones((5, 2)), np.ones((5, 1)), "the two samples have different columns"),
        ([1.0], [1.0, 2.0], "the numerator has too few rows"),
        ([1.0, 2.0], [1.0], "the denominator has too few rows"),
        ([1.0, np.nan], [1.0, 2.0], "points hold NaN or infinity"),
        (["a", "b"], [1.0, 2.0], "points are not numbers"),
    ],
)
def test_samples_that_cannot_be_compared(estimator, above, below, sentence):
    with pytest.raises(InputError, match=sentence):
        estimator(above, below)


def test_parameters_that_cannot_be():
    above, below = samples(20)
    with pytest.raises(ParameterError, match="regularisation is not positive"):
        ulsif(above, below, regularisation=0)
    with pytest.raises(ParameterError, match="alpha is not a share below one"):
        rulsif(above, below, alpha=1)
    with pytest.raises(ParameterError, match="there is no basis to choose from"):
        ulsif(above, below, [])
    with pytest.raises(ParameterError, match="width of the kernel is not positive"):
        Gaussian([0.0], 0)
    with pytest.raises(InputError, match="points and centres have different columns"):
        Gaussian([0.0], 1.0)(np.ones((2, 2)))
