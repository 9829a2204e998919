from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import InputError, ParameterError
from sudare.noise import Source, metered
from sudare.reweight.choice import declared_centres, noisy_centres, public_centres, public_width, raw_centres
from sudare.reweight.space import STEPS, Space

SPACE = Space.declare([(0, 1), (0, 1)])
CODES = np.rint(np.random.default_rng(8).uniform(0, STEPS, (200, 2)))


def test_public_centres_are_quantiles_or_rows():
    one = public_centres(Space.declare([(0, 1)]), CODES[:, :1], 5)[:, 0]
    assert one == pytest.approx(np.quantile(CODES[:, 0], [0.1, 0.3, 0.5, 0.7, 0.9]), abs=1)
    rows = public_centres(SPACE, CODES, 9)
    assert len(rows) == 9
    assert all(row in CODES.tolist() for row in rows.tolist())
    assert (rows == public_centres(SPACE, CODES, 9)).all()


def test_more_centres_than_rows():
    with pytest.raises(
        ParameterError, match="there are more centres than public rows \\(got 201; allowed: at most 200\\)"
    ):
        public_centres(SPACE, CODES, 201)
    with pytest.raises(ParameterError, match="there are more centres than private rows"):
        noisy_centres(SPACE, CODES, 201, Fraction(1), Source.from_seed(1))


def test_declared_centres():
    assert declared_centres(SPACE, [[0.5, 1.0]]).tolist() == [[STEPS / 2, STEPS]]
    with pytest.raises(InputError, match="another number of columns"):
        declared_centres(SPACE, [0.5])
    with pytest.raises(ParameterError, match="there are no centres"):
        declared_centres(SPACE, np.zeros((0, 2)))
    with pytest.raises(ParameterError, match="all numbers"):
        declared_centres(Space.declare(None, {"sex": ["f", "m"]}), [0.5])


def test_the_width_is_the_median_distance_of_public_rows():
    points = CODES[:30]
    square = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)[np.triu_indices(30, 1)]
    assert public_width(SPACE, points) == pytest.approx(np.sqrt(np.median(square) / 2))


def test_noisy_centres_stay_in_the_box_and_cost_the_sample():
    with metered() as meter:
        centres, spent = noisy_centres(SPACE, CODES, 10, Fraction(1, 2), Source.from_seed(1))
    assert centres.shape == (10, 2)
    assert centres.min() >= 0
    assert centres.max() <= STEPS
    assert spent > Fraction(1, 2)
    assert [(label, cost.amount) for label, cost, _ in meter.costs] == [("centres", spent)]
    with pytest.raises(ParameterError, match="noisy centres need columns that are all numbers"):
        noisy_centres(Space.declare(None, {"sex": ["f", "m"]}), CODES, 1, Fraction(1), Source.from_seed(1))


def test_drawn_records_come_in_random_order():
    """In record order the first centre would never be a late record; here each place is as likely."""
    first = [raw_centres(np.arange(10.0)[:, None], 3, Source.from_seed(seed))[0, 0] for seed in range(400)]
    times = np.bincount(np.array(first, dtype=int), minlength=10)
    assert times.min() > 5  # 40 expected, sd 6: false alarm below 1e-7
    assert len(set(first)) == 10
