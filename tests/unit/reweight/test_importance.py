import numpy as np
import pytest

from sudare.errors import InputError, ParameterError
from sudare.noise import Source, record
from sudare.reweight import fit
from sudare.reweight.basis import GRID
from sudare.reweight.functions import Polynomial
from sudare.reweight.ratio import minimise
from sudare.reweight.space import STEPS, Space

GENERATOR = np.random.default_rng(14)
PRIVATE, PUBLIC = GENERATOR.normal(2, 0.5, 400), GENERATOR.normal(1, 1, 60)
MIXED = Space.declare([(0, 1), (0, 1)], {"sex": ["f", "m"]})


def weighted(private=PRIVATE, epsilon=1.0, **options):
    return fit(private, PUBLIC, epsilon, bounds=[(-4, 6)], estimator="importance", **options)


def unit_length(space, degree):
    return Polynomial(space, degree, constant=True, unit_length=True)


def test_it_is_metered_and_positive():
    made = weighted()
    assert made.guarantee.epsilon == 1
    assert made.guarantee.adjacency == "replace one record"
    assert (made.weights > 0).all()
    assert made.weights.mean() == pytest.approx(1)
    assert made.weight(PUBLIC) == pytest.approx(made.weights)
    gaussian = weighted(delta=1e-6)
    assert gaussian.guarantee.delta is not None
    assert gaussian.measured.sensitivity < made.measured.sensitivity


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_no_row_is_longer_than_one(degree):
    codes = np.array([[a, b, c] for a in (0, STEPS / 3, STEPS) for b in (0, STEPS) for c in (0, 1)], dtype=float)
    assert np.linalg.norm(unit_length(MIXED, degree).steps(codes) / GRID, axis=1).max() <= 1


def test_replacing_a_row_moves_the_coefficients_by_no_more_than_stated():
    basis = unit_length(Space.declare([(-4, 6)]), 2)
    space = Space.declare([(-4, 6)])
    below = basis.steps(space.encode({"x0": PUBLIC})) / GRID
    moved = []
    for extreme in (-4.0, 6.0, 1.0):
        rows = PRIVATE.copy()
        rows[0] = extreme
        moved.append(minimise(basis.steps(space.encode({"x0": rows})) / GRID, below, 0.01, 1e-9))
    largest = max(np.linalg.norm(one - other) for one in moved for other in moved)
    assert 0 < largest <= 2 / (400 * 0.01)


def test_the_measurement_is_scaled_to_the_proof():
    with record() as tape:
        weighted(regularisation=0.1, source=Source.from_seed(1))
    (one,) = tape.measured
    assert float(one.sensitivity) / 2**24 == pytest.approx(np.sqrt(3) * 2 / (400 * 0.1), rel=1e-4)


def test_bad_input():
    with pytest.raises(InputError, match="there are too few private records"):
        weighted([1.0])
    with pytest.raises(ParameterError, match="regularisation is not positive"):
        weighted(regularisation=0)
    with pytest.raises(ParameterError, match="epsilon is missing"):
        weighted(epsilon=None)
