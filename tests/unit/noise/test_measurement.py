"""The seam: what it adds, what it costs, what a tape keeps."""

from fractions import Fraction

import numpy as np
import pytest

from sudare import parallel
from sudare.errors import AccountingError, ParameterError, TableError
from sudare.noise import (
    AddedGaussian,
    Source,
    Sparse,
    SparseNoise,
    discrete_laplace,
    measure,
    metered,
    noise_variance,
    record,
    refine,
)
from sudare.noise.discrete import added
from sudare.noise.measurement import PART
from sudare.noise.sparse import SparseGaussian
from sudare.privacy import Budget

HALF = Budget(epsilon=Fraction(1, 2))


def test_the_noise_is_the_one_of_the_labels_child():
    values = np.array([10, 0, 7])
    noisy = measure(values, 3, HALF, Source.from_seed(1), "cells")
    assert np.array_equal(noisy - values, discrete_laplace(Fraction(6), Source.from_seed(1).child("cells"), 3))


def test_the_scale_follows_sensitivity_and_budget():
    values = np.zeros(200_000, dtype=np.int64)
    laplace = measure(values, 2, HALF, Source.from_seed(1), "a").std()
    gaussian = measure(values, 2, Budget(rho=Fraction(1, 50)), Source.from_seed(1), "b").std()
    # Relative error of a standard deviation from 2e5 draws is 0.4 % (Laplace): 6 sigma are 2.4 %.
    assert laplace == pytest.approx(4 * 2**0.5, rel=0.024)
    assert gaussian == pytest.approx(10, rel=0.02)


def test_costs_add_up_exactly_or_are_refused():
    source, parts = Source.from_seed(1), Budget(epsilon=Fraction(1, 10)).split([1, 2, 4])
    with metered() as meter:
        for i, part in enumerate(parts):
            measure(np.zeros(3, dtype=np.int64), 1, part, source, f"level {i}")
    meter.check(Budget(epsilon=Fraction(1, 10)))
    with pytest.raises(AccountingError, match="do not add up"):
        meter.check(Budget(epsilon=Fraction(1, 5)))
    with pytest.raises(AccountingError, match="costs epsilon"):
        meter.check(Budget(rho=Fraction(1, 10)))


def test_a_neighbour_under_replay_gives_the_same_noisy_values():
    with record() as tape:
        first = measure(np.array([4, 0]), 1, HALF, Source.from_seed(1), "cells")
        sparse = measure(Sparse(np.array([4]), np.array([9]), 100), 1, HALF, Source.from_seed(1), "sparse")
        shown = sparse.above(2)
    with record(replay=tape) as second:
        assert np.array_equal(measure(np.array([5, 0]), 1, HALF, Source.system(), "cells"), first)
        again = measure(Sparse(np.array([4]), np.array([8]), 100), 1, HALF, Source.system(), "sparse")
        assert isinstance(again, SparseNoise)
        assert all(np.array_equal(a, b) for a, b in zip(again.above(2), shown, strict=True))
    exact = [m.exact for m in second.measured]
    assert np.array_equal(exact[0], [5, 0])
    assert exact[1].value.tolist() == [8]


@pytest.mark.parametrize(
    ("label", "sensitivity", "budget"),
    [("other", 1, HALF), ("cells", 2, HALF), ("cells", 1, Budget(epsilon=Fraction(1)))],
)
def test_a_replay_that_asks_something_else_is_refused(label, sensitivity, budget):
    with record() as tape:
        measure(np.array([4]), 1, HALF, Source.from_seed(1), "cells")
    with record(replay=tape), pytest.raises(AccountingError, match="something else"):
        measure(np.array([4]), sensitivity, budget, Source.from_seed(1), label)


def test_a_replay_that_asks_more_is_refused():
    with record(replay=record().__enter__()), pytest.raises(AccountingError, match="measures more"):
        measure(np.array([4]), 1, HALF, Source.from_seed(1), "cells")


def test_one_label_is_measured_once_per_source():
    source = Source.from_seed(1)
    measure(np.array([4]), 1, HALF, source, "cells")
    with pytest.raises(AccountingError, match="used twice"):
        measure(np.array([4]), 1, HALF, source, "cells")


@pytest.mark.parametrize("values", [np.array([0.5]), np.array([2**62]), np.array([-(2**62)])])
def test_only_whole_numbers_in_range_are_measured_and_the_message_hides_them(values):
    with pytest.raises(TableError, match="only whole numbers") as refused:
        measure(values, 1, HALF, Source.from_seed(1), "cells")
    assert str(2**62) not in str(refused.value)


def test_epsilon_too_small_for_the_noise_to_fit_is_refused():
    with pytest.raises(ParameterError, match="scale of the noise is out of range"):
        measure(np.array([1]), 1, Budget(epsilon=Fraction(1, 2**60)), Source.from_seed(1), "cells")
    with pytest.raises(ParameterError, match="scale of the noise is out of range"):
        measure(np.array([1]), 1, Budget(rho=Fraction(1, 2**120)), Source.from_seed(1), "cells")
    # Scales that no double holds.
    with pytest.raises(ParameterError, match=r"out of range \(got '1\.000e\+400'"):
        measure(np.array([1]), 1, Budget(epsilon=Fraction(1, 10**400)), Source.from_seed(1), "cells")
    with pytest.raises(ParameterError, match=r"out of range \(got '7\.071e\+399'"):
        measure(np.array([1]), 1, Budget(rho=Fraction(1, 10**800)), Source.from_seed(1), "cells")


def test_sparse_noise_is_paid_in_epsilon_or_rho():
    exact = Sparse(np.array([4]), np.array([9]), 100)
    with metered() as meter, record() as tape:
        noisy = measure(exact, 3, Budget(rho=Fraction(1, 8)), Source.from_seed(1), "s")
    meter.check(Budget(rho=Fraction(1, 8)))
    assert isinstance(noisy, SparseGaussian)
    assert tape.measured[0].law == AddedGaussian(Fraction(36))


@pytest.mark.parametrize("rho", ["1/50", "2", "8", "200"])
def test_the_variance_is_that_of_the_discrete_law(rho):
    """The sample variance of n draws of variance s is within 6 standard deviations of s: chance 2e-9."""
    budget, size = Budget(rho=Fraction(rho)), 400_000
    drawn = measure(np.zeros(size, dtype=np.int64), 1, budget, Source.from_seed(3), "cells").astype(float)
    wanted = noise_variance(1, budget)
    assert abs((drawn**2).mean() - wanted) <= 6 * np.sqrt(((drawn**2).var() + 1e-12) / size)


@pytest.mark.parametrize(("rho", "variance"), [("1/8", 36.0), ("3", 1.5), ("9/20", 10.0)])
def test_the_variance_of_gaussian_noise_is_what_is_drawn(rho, variance):
    """Sensitivity squared over 2 rho, also where that is no whole number."""
    assert noise_variance(3, Budget(rho=Fraction(rho))) == pytest.approx(variance)


@pytest.mark.parametrize("refined", [False, True])
def test_noise_of_a_long_vector_is_drawn_side_by_side(monkeypatch, refined):
    """The same bytes on any number of cores; no two parts have the same noise, and all have its law."""
    values, parts, found = np.zeros(2 * PART + 1000, dtype=np.int64), Budget(epsilon=Fraction(1, 5)).split([1, 3]), []
    for cores in (1, 3):
        monkeypatch.setattr(parallel, "cores", lambda cores=cores: cores)
        source = Source.from_seed(4)
        noisy = measure(values, 1, parts[0], source, "cells")
        if refined:
            noisy = refine(values, noisy, 1, *parts, source, "finer", of="cells")
        found.append(noisy)
    assert np.array_equal(*found)
    first, second, rest = np.split(found[0], [PART, 2 * PART])
    assert (first == second).mean() < 0.1
    assert (first[:1000] == rest).mean() < 0.1
    law = added(Fraction(1), parts[0] + parts[1] if refined else parts[0])
    # Of so many draws whose kurtosis is about 6, 3 % are nearly seven standard deviations of the mean square.
    for part in (first, second):
        assert np.square(part).mean() == pytest.approx(law.spread, rel=0.03)
