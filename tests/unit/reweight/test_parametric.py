from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.reweight.basis import GRID
from sudare.reweight.parametric import Parametric, fourier, polynomial
from sudare.reweight.space import STEPS, Space

GENERATOR = np.random.default_rng(3)
SPACE = Space.declare({"age": (0, 1), "pay": (0, 1)}, {"sex": ["f", "m"]})


def codes(rows):
    numbers = np.rint(GENERATOR.uniform(0, STEPS, (rows, 2)))
    corners = np.array([[a, b, c] for a in (0, STEPS) for b in (0, STEPS) for c in (0, 1)], dtype=float)
    return np.concatenate([np.concatenate([numbers, GENERATOR.integers(0, 2, (rows, 1))], axis=1), corners])


@pytest.mark.parametrize("basis", [polynomial(SPACE), polynomial(SPACE, 3), fourier(SPACE, 12)])
def test_no_two_records_differ_by_more_than_stated(basis):
    steps = basis.steps(codes(200))
    apart = steps[:, None, :] - steps[None, :, :]
    replace = basis.reach("replace", averaged=False)
    assert np.abs(apart).sum(axis=2).max() <= replace.l1
    assert np.sqrt((apart**2).sum(axis=2).max()) <= replace.l2
    assert np.abs(steps).sum(axis=1).max() <= basis.reach("add_remove", averaged=False).l1


def test_polynomials_are_monomials_of_the_numbers_and_categories():
    basis = polynomial(Space.declare([(0, 2), (0, 2)]), 2)
    steps = basis.steps(np.array([[STEPS, STEPS / 4]])) / GRID
    assert steps.tolist() == [[1, -0.5, 1, -0.5, 0.25]]
    assert polynomial(SPACE).size == 5 + 2
    with pytest.raises(ParameterError, match="degree is not a whole number from 1 on"):
        polynomial(SPACE, 0)


def test_clipping_makes_the_bounds_hold_whatever_the_function_says():
    wild = Parametric(lambda codes: np.tile([5.0, -np.inf, np.nan], (len(codes), 1)), [0, -1, 0], [1, 1, 1])
    assert (wild.steps(np.zeros((2, 1))) / GRID).tolist() == [[1, -1, 0]] * 2
    assert wild.reach("replace", averaged=False).l1 == pytest.approx(4 * GRID + 3)
    assert wild.reach("replace", averaged=True).l1 - wild.reach("replace", averaged=False).l1 == 3
    assert not wild.nonnegative
    assert isinstance(wild.reach("add_remove", averaged=False).l2, Fraction)


def test_fourier_features_are_the_same_in_every_chunk():
    basis, points = fourier(SPACE, 9), codes(100)
    assert (basis.steps(points[13:14]) == basis.steps(points)[13:14]).all()


@pytest.mark.parametrize(
    ("low", "high", "sentence"),
    [
        ([0.0], [0.0, 1.0], "do not have one bound for each function"),
        ([1.0], [0.0], "not in order"),
        ([0.0], [3.0], "too wide"),
        ([0.0], [np.nan], "not in order"),
    ],
)
def test_bounds_that_cannot_be(low, high, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Parametric(lambda codes: codes, low, high)


def test_a_function_of_another_shape_is_refused():
    with pytest.raises(ParameterError, match="array of another shape"):
        Parametric(lambda codes: codes[:, :1], [0, 0], [1, 1]).steps(np.zeros((3, 2)))
