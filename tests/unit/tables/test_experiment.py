"""`experiment`: a tidy frame of errors."""

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError


@pytest.fixture
def table():
    return sd.CountTable.from_array(np.random.default_rng(1).integers(0, 3, 64) * 50)


def test_one_row_per_method_epsilon_repetition_and_level(table):
    frame = sd.experiment(table, [sd.Laplace(), sd.Simplex()], [0.1, 1], repetitions=3, levels=[0, 6])
    assert frame.num_rows == 2 * 2 * 3 * 2
    assert {"method", "epsilon", "repetition", "level", "root_mean_square_error"} <= set(frame.column_names)


def test_the_laplace_error_is_the_one_of_its_law(table):
    frame = sd.experiment(table, [sd.Laplace()], [0.1], repetitions=40, levels=[0, 4]).to_pydict()
    squares = np.array(frame["root_mean_square_error"]) ** 2
    level = np.array(frame["level"])
    for one in (0, 4):
        law = sd.Laplace().block_error(sd.privacy.Budget(epsilon=0.1), 1, 2**one)
        # 2,560 and 160 squares of kurtosis at most 6: relative error 4.4 % and 18 %, 6 sigma.
        assert np.mean(squares[level == one]) == pytest.approx(law**2, rel=0.27 if one == 0 else 1.0)


def test_repetitions_do_not_share_their_noise(table):
    frame = sd.experiment(table, [sd.Laplace()], [1], repetitions=20, levels=[0]).to_pydict()
    assert len(set(frame["root_mean_square_error"])) > 15
    assert frame == sd.experiment(table, [sd.Laplace()], [1], repetitions=20, levels=[0]).to_pydict()
    assert frame != sd.experiment(table, [sd.Laplace()], [1], repetitions=20, levels=[0], seed=2).to_pydict()


@pytest.mark.parametrize("repetitions", [0, -1, 1.5])
def test_wrong_repetitions_are_refused(table, repetitions):
    with pytest.raises(ParameterError, match="repetitions is not"):
        sd.experiment(table, [sd.Simplex()], [1], repetitions=repetitions)
