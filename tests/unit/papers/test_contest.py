"""One contender against the truth: what is measured, and with which strength."""

import numpy as np
import pytest

from sudare.domain import CountTable
from sudare.papers.contest import SparseContender, compete, negative_l2, score, strength_of
from sudare.papers.sparse_l2 import bump
from sudare.tables.laplace import Laplace
from sudare.tables.negative_l2 import NegativeL2
from sudare.tables.nonnegative_lasso import NonnegativeLasso

TRUTH = CountTable.from_array([0, 0, 5, 200])


def released(values):
    return CountTable.released(TRUTH.domain, np.flatnonzero(values), np.array(values)[np.flatnonzero(values)])


def test_a_score_is_the_mean_of_the_runs():
    made = score(TRUTH, [released([0, 0, 5, 200]), released([4, 0, 1, 200])])
    assert made.error == pytest.approx((0 + np.sqrt(32 / 4)) / 2)
    assert made.nonzero == pytest.approx((0.5 + 0.75) / 2)
    assert made.mean == pytest.approx((0 + (4 - 4) / 4) / 2)
    assert made.range_error[[0, 1, 3]] == pytest.approx([np.sqrt(8) / 2, 2, 0])
    assert made.range_mean[[0, 1, 3]] == pytest.approx([1, -2, 0])
    assert np.isnan(made.range_error[2])  # no cell holds 10 to 99


def test_a_tuned_contender_beats_its_bounds():
    truth = bump(32)
    contender = SparseContender("proposed", NegativeL2, negative_l2, bounds=(1e-4, 0.5))
    made = compete(truth, contender, 0.1, 5)
    ends = [compete(truth, SparseContender("end", NegativeL2, strength=end), 0.1, 5).whole.error for end in (1e-4, 0.5)]
    assert made.whole.error < min(ends)
    assert made.floats is not None
    assert made.seconds_tuned > made.seconds > 0


def test_a_strength_per_noise_grows_with_it():
    contender = SparseContender("lasso", NonnegativeLasso, strength=4.0, per_noise=True)
    assert strength_of(bump(16), contender, lambda strength, seed: TRUTH, 0.1, 1) == 40.0


def test_without_floats_only_whole_noise_is_drawn():
    made = compete(bump(16), SparseContender("LM", lambda _: Laplace(clip=True)), 1.0, 2)
    assert made.floats is None
    assert np.isnan(made.seconds_tuned)
