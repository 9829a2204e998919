"""Quantiles for strata of few examples."""

import numpy as np
import pytest
from scipy.special import stdtrit

from sudare.tables.strata import student


@pytest.mark.parametrize(
    ("degrees", "upper"),
    [
        # The usual table of Student's t: the quantiles at 90, 95, 97.5, 99 and 99.5 %.
        (2, (1.886, 2.920, 4.303, 6.965, 9.925)),
        (3, (1.638, 2.353, 3.182, 4.541, 5.841)),
        (9, (1.383, 1.833, 2.262, 2.821, 3.250)),
        (30, (1.310, 1.697, 2.042, 2.457, 2.750)),
        (np.inf, (1.282, 1.645, 1.960, 2.326, 2.576)),
    ],
)
def test_student_is_the_table_of_every_textbook(degrees, upper):
    found = [student(probability, degrees) for probability in (0.9, 0.95, 0.975, 0.99, 0.995)]
    assert found == pytest.approx(upper, abs=6e-4)


@pytest.mark.parametrize("degrees", [1, 2, 2.3, 3, 30.5, 300, 999, 1000, 1500, 1e5, 1e9, np.inf])
def test_student_is_that_of_scipy(degrees):
    tails = (0.4, 0.1, 0.025, 1e-3, 1e-6)
    assert [student(1 - tail, degrees) for tail in tails] == pytest.approx(
        stdtrit(degrees, 1 - np.array(tails)), rel=1e-11
    )
    assert student(0.1, degrees) == -student(0.9, degrees)
    assert student(0.5, degrees) == 0
