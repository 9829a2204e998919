import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.reweight.basis import GRID
from sudare.reweight.polynomial import Polynomial
from sudare.reweight.space import STEPS, Space

GENERATOR = np.random.default_rng(3)
SPACE = Space.declare({"age": (0, 1), "pay": (0, 1)}, {"sex": ["f", "m"]})


def codes(rows):
    numbers = np.rint(GENERATOR.uniform(0, STEPS, (rows, 2)))
    corners = np.array([[a, b, c] for a in (0, STEPS) for b in (0, STEPS) for c in (0, 1)], dtype=float)
    return np.concatenate([np.concatenate([numbers, GENERATOR.integers(0, 2, (rows, 1))], axis=1), corners])


@pytest.mark.parametrize("basis", [Polynomial(SPACE), Polynomial(SPACE, 3), Polynomial(SPACE, 2, True, True)])
def test_no_two_records_differ_by_more_than_stated(basis):
    steps = basis.steps(codes(200))
    apart = steps[:, None, :] - steps[None, :, :]
    replace = basis.reach("replace", averaged=False)
    assert np.abs(apart).sum(axis=2).max() <= replace.l1
    assert np.sqrt((apart**2).sum(axis=2).max()) <= replace.l2
    assert np.abs(steps).sum(axis=1).max() <= basis.reach("add_remove", averaged=False).l1


def test_polynomials_are_monomials_of_the_numbers_and_categories():
    basis = Polynomial(Space.declare([(0, 2), (0, 2)]), 2)
    steps = basis.steps(np.array([[STEPS, STEPS / 4]])) / GRID
    assert steps.tolist() == [[1, -0.5, 1, -0.5, 0.25]]
    assert Polynomial(SPACE).size == 5 + 2
    with pytest.raises(ParameterError, match="degree is not a whole number from 1 on"):
        Polynomial(SPACE, 0)


def test_averages_are_rounded_and_signs_are_known():
    basis = Polynomial(SPACE, 3)
    whole, averaged = (basis.reach("replace", averaged=each) for each in (False, True))
    assert averaged.l1 - whole.l1 == basis.size
    assert not basis.nonnegative
    assert Polynomial(Space.declare(None, {"sex": ["f", "m"]})).nonnegative
    assert (Polynomial(SPACE, 2, constant=True).steps(codes(3))[:, -1] == GRID).all()
