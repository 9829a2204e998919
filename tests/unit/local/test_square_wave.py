"""Numbers."""

import numpy as np
import pytest

from sudare.errors import DomainError
from sudare.local import SquareWave


def test_numbers_fall_into_cells():
    encoding = SquareWave(size=10, epsilon=1, low=-5, high=5)
    assert encoding.positions([-5, -4.001, 0, 4.99, 5]).tolist() == [0, 0, 5, 9, 9]
    assert encoding.edges[[0, 5, 10]].tolist() == [-5, 0, 5]


@pytest.mark.parametrize("values", [[1.01], [-0.01, 0.5]])
def test_numbers_outside_are_refused_unseen(values):
    with pytest.raises(DomainError, match=r"^a value lies outside the declared bounds \(allowed: 0 to 1\)$"):
        SquareWave(size=10, epsilon=1).randomize(values)


@pytest.mark.parametrize("values", [[float("nan")], [float("inf")], ["a"], [[0.5]], [None]])
def test_what_is_no_number(values):
    with pytest.raises(DomainError, match="values are not a list of finite numbers"):
        SquareWave(size=10, epsilon=1).randomize(values)


def test_bounds_are_part_of_the_survey():
    assert SquareWave(size=10, epsilon=1, high=2) != SquareWave(size=10, epsilon=1)
    assert SquareWave(size=10, epsilon=1, high=2).to_json()["high"] == 2.0
    assert np.isclose(SquareWave(size=10, epsilon=1).channel.matrix().sum(axis=0), 1).all()
