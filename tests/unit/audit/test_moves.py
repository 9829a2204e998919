"""How far a neighbour moves what is measured, by the law on the tape."""

from fractions import Fraction

import numpy as np
import pytest

from sudare.anonymity.choice import Exponential
from sudare.audit.moves import change_of, cost_of, loss_of, share_moved
from sudare.errors import AccountingError
from sudare.noise import (
    AddedGaussian,
    AddedLaplace,
    Measured,
    RandomisedResponse,
    Source,
    Sparse,
    measure,
    record,
    respond,
)
from sudare.privacy import Budget

ONE, RHO = Budget(epsilon=Fraction(1)), Budget(rho=Fraction(1))


def measured(exact, law, sensitivity=1):
    budget = RHO if isinstance(law, AddedGaussian) else ONE
    return Measured("x", exact, Fraction(sensitivity), budget, np.zeros(1), law)


def test_sums_by_the_norm_of_their_noise():
    here, there = np.array([1, 5]), np.array([4, 1])
    laplace = [measured(exact, AddedLaplace(Fraction(2)), 2) for exact in (here, there)]
    gaussian = [measured(exact, AddedGaussian(Fraction(1, 2)), 5) for exact in (here, there)]
    assert (share_moved(*laplace), cost_of(*laplace)) == (3.5, Fraction(7, 2))
    assert share_moved(*laplace, factor=2) == 1.75
    assert (share_moved(*gaussian), cost_of(*gaussian)) == (1, 25)


def test_sparse_sums_and_large_ones():
    here = Sparse(np.array([1, 5]), np.array([2, 9]), 10)
    there = Sparse(np.array([0, 5]), np.array([4, 10]), 10)
    assert change_of(here, there) == [4, -2, 1]
    assert change_of(np.array([-(2**61)]), np.array([2**61])) == [2**62]  # no overflow
    with pytest.raises(AccountingError, match="another number of values"):
        change_of(np.array([1]), np.array([1, 2]))


def test_records_that_are_randomised_each_on_its_own_have_no_order():
    law = RandomisedResponse(9, Fraction(1, 2))
    here, there = measured(np.array([0, 8, 3]), law), measured(np.array([3, 0, 7]), law)
    assert (share_moved(here, there), cost_of(here, there)) == (1, Fraction(1, 2))
    assert share_moved(here, measured(np.array([1, 1, 3]), law)) == 2
    grid = [measured(np.array(exact), AddedLaplace(Fraction(100)), 100) for exact in ([0, 5], [5, 101])]
    assert share_moved(*grid, rows=1) == 1.01
    assert cost_of(*grid, rows=1) == Fraction(101, 100)


def test_scores_may_move_one_way_only():
    law = Exponential(Fraction(1), 10)
    here = measured(np.array([50, 20, 0]), law)
    assert share_moved(here, measured(np.array([60, 25, 0]), law)) == 1
    assert cost_of(here, measured(np.array([60, 25, 0]), law)) == 1
    # Some up and some down: the factor 2 of an ordinary exponential mechanism.
    assert share_moved(here, measured(np.array([60, 10, 0]), law)) == 2


def test_the_privacy_loss_is_the_log_ratio_of_all_measurements():
    def run(values, source):
        measure(np.array(values), 1, ONE, source, "dense")
        index = np.flatnonzero(values)
        measure(Sparse(index, np.array(values)[index], 3), 1, ONE, source, "sparse")

    with record() as tape:
        run([0, 4, 0], Source.from_seed(3))
    with record(replay=tape) as again:
        run([1, 4, 0], Source.from_seed(4))
    dense, sparse = tape.measured[0].noisy[0], tape.measured[1].noisy.above(-(2**62))[1][0]
    assert loss_of(tape, again) == sum(1 if noisy <= 0 else -1 for noisy in (dense, sparse))
    with record() as tape:
        respond(np.array([0]), RandomisedResponse(3, Fraction(1)), Source.from_seed(1), "x")
    with pytest.raises(AccountingError, match="only added noise"):
        loss_of(tape, tape)
