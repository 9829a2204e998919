"""Negative l2, the non-negative lasso and clipped Laplace: one family, in integers, with the total kept."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.errors import ParameterError
from sudare.measure.simplex import simplex_level
from sudare.noise import record
from sudare.papers.contest import simplex as project
from sudare.tables.laplace import Laplace
from sudare.tables.method import Method
from sudare.tables.negative_l2 import NegativeL2
from sudare.tables.nonnegative_lasso import NonnegativeLasso
from sudare.tables.strength import from_reference, target_sparsity
from sudare.tables.threshold import fit_to_total

COUNTS = np.array([[0, 0, 9, 0], [120, 0, 0, 3], [0, 41, 0, 0]])
METHODS = [
    NegativeL2(),
    NegativeL2(0.2),
    NegativeL2("0.05", fit="shift"),
    NegativeL2(fit="shift"),
    NegativeL2(target_sparsity(0.2)),
    NegativeL2(from_reference(sd.CountTable.from_array(COUNTS + 1), repetitions=2)),
    NonnegativeLasso(),
    NonnegativeLasso(7),
    NonnegativeLasso(7, fit="shift"),
    NonnegativeLasso(0),
    Laplace(clip=True),
]


@pytest.fixture
def table():
    return sd.CountTable.from_array(COUNTS, unit=sd.Unit("person"))


def linearised(noisy: np.ndarray, total: int, strength: float) -> np.ndarray:
    """The paper's iteration (12)-(13): |z - b|^2 - 2 strength b0.b on the simplex, b0 the last solution."""
    solution = project(noisy, total)
    for _ in range(10_000):
        following = project(noisy + strength * solution, total)
        if np.abs(following - solution).max() < 1e-12 * total:
            return following
        solution = following
    raise AssertionError("no convergence")


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(st.integers(-50, 300), min_size=1, max_size=40),
    st.integers(1, 2000),
    st.sampled_from(["0", "0.03", "1/3", "0.8"]),
)
def test_the_closed_form_is_the_fixed_point_of_the_papers_iteration(values, total, written):
    value, strength = np.array(values), Fraction(written)
    excess = (1 - strength) * total
    active = value[value > simplex_level(value, excess)]
    threshold = (int(active.sum()) - excess) / len(active)
    closed = np.maximum(value - float(threshold), 0) / float(1 - strength)
    assert closed.sum() == pytest.approx(total)
    assert linearised(value.astype(float), total, float(strength)) == pytest.approx(closed, abs=1e-6 * total)


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(st.integers(-50, 300), min_size=1, max_size=40),
    st.integers(1, 2000),
    st.fractions(0, 200),
    st.sampled_from(["scale", "shift"]),
    st.integers(0, 2**32),
)
def test_the_fit_is_the_nearest_integer_point_of_its_definition(values, total, threshold, fit, seed):
    value = np.array([v for v in values if v > threshold] or [300])
    threshold = min(threshold, Fraction(299))
    fitted = fit_to_total(value, total, threshold, fit, np.random.default_rng(seed))
    assert fitted.sum() == total
    assert (fitted >= 0).all()
    if fit == "scale":
        excess = [int(v) - threshold for v in value]
        wanted = [total * one / sum(excess) for one in excess]
    else:
        wanted = [Fraction(w).limit_denominator(10**6) for w in project(value.astype(float), total)]
    # Each is rounded down or up: no integer point with this sum is nearer, except among ties in the last bit.
    assert all(abs(one - int(got)) < 1 + 1e-5 for one, got in zip(wanted, fitted, strict=True))


@pytest.mark.slow
def test_strength_0_is_the_simplex_projection(table):
    for seed in range(50):
        simplex, none, shifted = (
            sd.release(table, method, 0.1, seed=seed).table
            for method in (sd.Simplex(), NegativeL2(0), NegativeL2(0, fit="shift"))
        )
        assert simplex == none == shifted


@pytest.mark.slow
def test_the_lasso_scaled_to_the_total_is_negative_l2(table):
    """Strength lambda of the lasso is the threshold lambda/2, and gamma = sum max(z - lambda/2, 0)/total."""
    agreed = 0
    for seed in range(60):
        with record() as tape:
            lasso = sd.release(table, NonnegativeLasso(9), Fraction(1, 2), total="public", seed=seed).table
        _, value = tape.measured[0].noisy.above(4)
        gamma = sum(max(int(z) - Fraction(9, 2), Fraction(0)) for z in value) / int(table.total)
        if not 0 < gamma <= 1:  # the threshold lies below the simplex projection's
            continue
        with record(replay=tape):
            same = sd.release(table, NegativeL2(1 - gamma), Fraction(1, 2), total="public").table
        assert np.array_equal(lasso.index, same.index)
        assert np.array_equal(lasso.count, same.count)
        agreed += 1
    assert agreed > 20


def test_both_choose_alike_from_the_noisy_table():
    rng = np.random.default_rng(2)
    counts = np.where(rng.random(4096) < 0.03, rng.integers(1, 900, 4096), 0)
    table = sd.CountTable.from_array(counts)
    for fit in ("scale", "shift"):
        one, other = (sd.release(table, kind(fit=fit), 0.1, seed=4).table for kind in (NegativeL2, NonnegativeLasso))
        assert one == other


def test_a_larger_strength_leaves_fewer_and_larger_cells(table):
    wide = sd.CountTable.from_array(np.pad(COUNTS, 20))
    made = [sd.release(wide, NegativeL2(strength), 0.2, total="public", seed=3).table for strength in (0, 0.1, 0.5)]
    assert len(made[0]) > len(made[1]) > len(made[2])
    assert made[0].count.max() < made[1].count.max() < made[2].count.max()


def test_shift_keeps_the_cells_of_scale_and_adds_the_same_to_each():
    wide = sd.CountTable.from_array(np.pad(COUNTS, 20))
    with record() as tape:
        scaled = sd.release(wide, NegativeL2(0.3), 0.2, total="public", seed=3).table
    with record(replay=tape):
        shifted = sd.release(wide, NegativeL2(0.3, fit="shift"), 0.2, total="public").table
    assert np.isin(scaled.index, shifted.index).all()  # a cell may have been rounded down to 0
    _, noisy = tape.measured[0].noisy.above(-(2**40))
    added = shifted.count - noisy[np.searchsorted(tape.measured[0].noisy.above(-(2**40))[0], shifted.index)]
    assert added.max() - added.min() <= 1
    assert shifted.total == wide.total


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("total", ["noisy", "public"])
def test_integers_from_zero_on_with_the_total(table, method, total):
    for seed in range(60):
        made = sd.release(table, method, epsilon=0.05, total=total, seed=seed).table
        assert made.count.dtype == np.int64
        assert (made.count > 0).all()
        if total == "public":
            assert made.total == table.total
    assert isinstance(method, Method)


@pytest.mark.parametrize("method", METHODS)
def test_costs_guarantee_and_sensitivity(method):
    table = sd.CountTable.from_array(COUNTS, unit=sd.Unit("person", max_rows=4))
    with record() as tape:
        made = sd.release(table, method, epsilon=1)
    assert made.guarantee.epsilon == 1
    assert [(m.label, m.budget.epsilon) for m in tape.measured] == [
        ("total", Fraction(1, 20)),
        ("cells", Fraction(19, 20)),
    ]
    assert {m.sensitivity for m in tape.measured} == {4}
    assert sd.release(table, method, epsilon=1, total="public").guarantee.epsilon == 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cell", [(0, 0), (0, 2), (2, 1)])
def test_a_neighbour_under_replay_gives_the_same_release(table, method, cell):
    neighbour = COUNTS.copy()
    neighbour[cell] += 1
    with record() as tape:
        first = sd.release(table, method, epsilon=0.3)
    with record(replay=tape):
        again = sd.release(sd.CountTable.from_array(neighbour, unit=sd.Unit("person")), method, epsilon=0.3)
    assert first.table == again.table


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "counts", [[0, 0, 0, 0], [7], [0], [10**12, 0, 0]], ids=["empty", "one cell", "one empty cell", "one crowd"]
)
def test_extreme_tables_are_released(method, counts):
    made = sd.release(sd.CountTable.from_array(counts), method, epsilon=0.5)
    assert abs(made.table.total - sum(counts)) < 10**4


def huge(cells: int, size: int = 2**40) -> sd.CountTable:
    rng = np.random.default_rng(1)
    index = np.unique(rng.integers(0, size, cells))
    return sd.CountTable(sd.Domain(cell=sd.Line(size)), index, rng.integers(200, 5000, len(index)))


@pytest.mark.parametrize(
    "method",
    [
        NegativeL2(),
        NegativeL2(fit="shift"),
        NegativeL2(0.1),
        NegativeL2(0.999),
        NegativeL2(target_sparsity(1e-9)),
        NonnegativeLasso(),
        NonnegativeLasso(120),
        NonnegativeLasso(10**7),
    ],
)
@pytest.mark.parametrize("cells", [1, 3000])
def test_a_domain_of_2_to_the_40_cells_costs_what_is_populated(method, cells):
    table = huge(cells)
    for seed in range(5):
        made = sd.release(table, method, epsilon=0.5, total="public", seed=seed).table
        assert made.total == table.total
        assert len(made) < 50_000


def test_one_person_in_a_huge_domain_is_released():
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**40)), [5], [1])
    for method in (sd.Simplex(), NegativeL2(), NegativeL2(0.5)):
        for seed in range(20):
            assert sd.release(table, method, epsilon=1, total="public", seed=seed).table.total == 1


def test_where_no_cell_passes_the_largest_share_the_total(table):
    with record() as tape:
        made = sd.release(table, NonnegativeLasso(10**6), epsilon=1, total="public", seed=5).table
    index, value = tape.measured[0].noisy.above(-(2**40))
    assert made.index.tolist() == index[value == value.max()].tolist()
    assert made.total == table.total


def test_a_padded_domain_gets_no_people_outside():
    table = sd.CountTable.from_array(np.random.default_rng(1).integers(0, 40, (5, 7)))
    made = sd.release(table, NegativeL2(), epsilon=0.2, seed=1).table
    assert made.to_array().shape == (5, 7)


def test_clipped_laplace_is_the_lasso_of_strength_0(table):
    for total in ("noisy", "public"):
        clipped = sd.release(table, Laplace(clip=True), 0.3, total=total, seed=2).table
        assert clipped == sd.release(table, NonnegativeLasso(0), 0.3, total=total, seed=2).table
    assert Laplace(clip=True).block_error(sd.privacy.Budget(epsilon=1), 1, 4) is None
    assert Laplace(clip=True).parameters == {"cut": None, "clip": True}
    assert not Laplace().uses_total


@pytest.mark.parametrize("strength", [-0.1, 1, 1.5, "2", Fraction(1)])
def test_a_strength_of_negative_l2_outside_its_range_is_refused(strength):
    with pytest.raises(ParameterError, match=r"strength is out of range \(got .*from 0 on and under 1"):
        NegativeL2(strength)


def test_a_negative_strength_of_the_lasso_is_refused():
    with pytest.raises(ParameterError, match=r"strength is out of range \(got -1; allowed: from 0 on, or"):
        NonnegativeLasso(-1)
    assert math.isclose(float(NonnegativeLasso("1e3").strength), 1000)


@pytest.mark.parametrize("kind", [NegativeL2, NonnegativeLasso])
@pytest.mark.parametrize("strength", [float("nan"), float("inf"), "strong", None, True, [0.1]])
def test_a_strength_that_is_no_number_is_refused(kind, strength):
    with pytest.raises(ParameterError, match="strength is not a finite number"):
        kind(strength)


@pytest.mark.parametrize("kind", [NegativeL2, NonnegativeLasso])
@pytest.mark.parametrize("fit", ["add", "", None, 3])
def test_an_unknown_fit_is_refused(kind, fit):
    with pytest.raises(ParameterError, match="unknown way to restore the total"):
        kind(fit=fit)


def test_a_threshold_under_which_noise_fills_the_memory_is_refused():
    with pytest.raises(ParameterError, match="the noise of too many cells is above the threshold"):
        sd.release(huge(10), NonnegativeLasso(1), epsilon=1)
    with pytest.raises(ParameterError, match="too large for noise in every cell"):
        sd.release(huge(10), Laplace(clip=True), epsilon=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cut": 3, "clip": True}, "cut or clip, not both"),
        ({"clip": 1}, "clip is neither true nor false"),
        ({"clip": None}, "clip is neither true nor false"),
    ],
)
def test_wrong_options_of_laplace_are_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Laplace(**options)


def test_the_parameters_are_plain_values():
    assert NegativeL2().parameters == {"strength": "auto", "fit": "scale"}
    assert NegativeL2(0.05).parameters["strength"] == 0.05
    assert NegativeL2(Fraction(1, 3)).parameters["strength"] == "1/3"
    assert NonnegativeLasso(target_sparsity(0.03)).parameters["strength"] == "0.03 of all cells above 0"
    reference = from_reference(sd.CountTable.from_array(COUNTS))
    assert (
        NegativeL2(reference).parameters["strength"]
        == "from a public reference of cell: grid of 3 x 4 (12 cells, 4 bits)"
    )
    assert NegativeL2().block_error(sd.privacy.Budget(epsilon=1), 1, 4) is None
    assert NonnegativeLasso().block_error(sd.privacy.Budget(epsilon=1), 1, 4) is None
