import numpy as np
import pytest

from sudare.reweight.estimators import CANDIDATES, choose_regularisation, score
from sudare.reweight.functions import Polynomial
from sudare.reweight.kernel import Kernel
from sudare.reweight.rows import PublicFeatures
from sudare.reweight.space import STEPS, Space

SPACE = Space.declare([(-4, 6)])
GENERATOR = np.random.default_rng(7)
PUBLIC = SPACE.encode({"x0": GENERATOR.normal(1, 1, 40)})
KERNEL = Kernel(SPACE, PUBLIC[:6], 0.07 * STEPS)


@pytest.mark.parametrize("basis", [KERNEL, Polynomial(SPACE, 3)], ids=["cut at zero", "of either sign"])
def test_the_closed_form_is_refitting_without_each_public_row(basis):
    public = PublicFeatures(basis, PUBLIC)
    features = public.projected(np.eye(basis.size))
    mean = features[:9].mean(axis=0) + GENERATOR.normal(0, 0.05, basis.size)
    found = score(public, mean, 0.02, [0.05, 1.0])
    for place, strength in enumerate((0.05, 1.0)):
        parts = []
        for i in range(len(features)):
            rest = np.delete(features, i, axis=0)
            fitted = np.linalg.solve(rest.T @ rest / len(rest) + strength * np.eye(basis.size), mean)
            fitted = np.maximum(fitted, 0) if basis.nonnegative else fitted
            parts.append((features[i] @ fitted) ** 2 / 2 - mean @ fitted)
        inverse = np.linalg.inv(features.T @ features / len(features) + strength * np.eye(basis.size))
        free = inverse @ mean > 0 if basis.nonnegative else np.ones(basis.size, dtype=bool)
        assert found[place] == pytest.approx(np.mean(parts) + 0.02 * np.diag(inverse)[free].sum(), abs=1e-9)


def test_more_noise_is_regularised_more_and_never_less_than_its_deviation():
    public = PublicFeatures(KERNEL, PUBLIC)
    exact = public.moments.mean * 1.2
    chosen = []
    for deviation in (0.001, 0.1, 2.0):
        noisy = exact + GENERATOR.normal(0, deviation, KERNEL.size)
        chosen.append(choose_regularisation(public, noisy, deviation**2))
        assert chosen[-1] >= deviation
    assert chosen == sorted(chosen)
    assert choose_regularisation(public, exact, 1e12) == CANDIDATES[-1]
