"""Marginals: the joined estimate against textbook least squares, what it keeps, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.noise import record
from sudare.privacy import Budget
from sudare.tables.marginal_axes import Box, Summing, subsets
from sudare.tables.marginal_fit import View, fit, least_squares, onto_simplex, variance_of
from sudare.tables.marginal_pairs import shrunk, weighted_rows
from sudare.tables.marginals import pair_shares, planned_shares

SIZES = (3, 2, 4)
PEOPLE = sd.Domain(
    age=sd.Bins(0, 80, step=10), sex=sd.Categories(["f", "m"]), job=sd.Categories(list("abcde")), region=sd.Line(6)
)


def people(total=20_000, seed=1):
    """Attributes that depend on each other two by two, in few of the cells."""
    rng = np.random.default_rng(seed)
    age, sex = rng.binomial(7, 0.4, total), rng.integers(0, 2, total)
    job, region = np.minimum(4, age // 2 + sex), rng.geometric(0.4, total).clip(1, 6) - 1
    index, count = np.unique(PEOPLE.index(age, sex, job, region), return_counts=True)
    return sd.CountTable(PEOPLE, index, count)


def dense_problem():
    """Views of a small box, and the same as rows of one matrix, each in units of its standard deviation."""
    rng = np.random.default_rng(5)
    variances = {(0, 1, 2): 2.0, (0,): 0.7, (0, 2): 1.3, (): 0.3}
    unit = np.eye(24).reshape(24, *SIZES)
    views, rows, right = [], [], []
    for axes, variance in variances.items():
        matrix = unit.sum(axis=tuple(1 + axis for axis in range(3) if axis not in axes)).reshape(24, -1).T
        values = rng.normal(size=len(matrix))
        views.append(View(axes, values.reshape([SIZES[axis] for axis in axes]), variance))
        rows.append(matrix / variance**0.5)
        right.append(values / variance**0.5)
    return views, np.vstack(rows), np.concatenate(right)


def test_interaction_by_interaction_is_least_squares():
    views, matrix, right = dense_problem()
    estimate, _ = least_squares(views[0], views[1:])
    assert np.allclose(estimate.reshape(-1), np.linalg.lstsq(matrix, right, rcond=None)[0])


@pytest.mark.parametrize("axes", list(subsets(range(3))))
def test_variances_of_marginals_are_those_of_least_squares(axes):
    views, matrix, _ = dense_problem()
    covariance = np.linalg.inv(matrix.T @ matrix)
    summed = np.eye(24).reshape(24, *SIZES).sum(axis=tuple(1 + axis for axis in range(3) if axis not in axes))
    summed = summed.reshape(24, -1).T
    _, known = least_squares(views[0], views[1:])
    expected = np.diag(summed @ covariance @ summed.T).mean()
    assert variance_of(SIZES, axes, known, 1 / views[0].variance) == pytest.approx(expected)


def test_sums_and_the_way_back_are_transposes():
    rng = np.random.default_rng(2)
    summing = Summing.of([(0,), (1, 2), (0, 2)], 3)
    array = rng.normal(size=SIZES)
    sums = summing.marginals(array)
    assert np.allclose(sums[(0, 2)][:, 0], array.sum(axis=1))
    parts = {axes: rng.normal(size=table.shape) for axes, table in sums.items()}
    there = sum(float((parts[axes] * table).sum()) for axes, table in sums.items())
    assert there == pytest.approx(float((summing.spread(parts) * array).sum()))


def test_without_negative_values_the_fit_is_least_squares():
    views, _, _ = dense_problem()
    views = [View(view.axes, view.values + 1000 * 24 / view.values.size, view.variance) for view in views]
    estimate, _ = least_squares(views[0], views[1:])
    assert np.allclose(fit(views[0], views[1:]), estimate, atol=0.05)


def test_a_public_total_is_kept_while_fitting():
    views, _, _ = dense_problem()
    found = fit(views[0], views[1:], total=7.0)
    assert found.sum() == pytest.approx(7.0)
    assert found.min() >= 0
    assert onto_simplex(np.array([3.0, 0.0]), 1.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("gaussian", [False, True])
def test_shares_add_up_and_move_to_what_matters(gaussian):
    plain = dict(planned_shares((16, 2, 8, 7), (), gaussian))
    shifted = dict(planned_shares((16, 2, 8, 7), ((0, 2),), gaussian))
    assert sum(plain.values()) == sum(shifted.values()) == 1
    assert (0, 2) not in plain
    assert shifted[(0, 2)] > Fraction(1, 10)


@pytest.mark.parametrize("asked", [{"epsilon": 1}, {"rho": Fraction(1, 10)}, {"epsilon": 1, "total": "public"}])
def test_whole_numbers_at_logical_cells(asked):
    table = people()
    made = sd.release(table, sd.Marginals(), seed=3, **asked).table
    assert made.count.dtype.kind == "i"
    assert (made.count > 0).all()
    assert PEOPLE.contains(made.index).all()
    if "total" in asked:
        assert made.total == table.total
    else:
        assert abs(made.total - table.total) < 2_000


def test_what_matters_is_more_exact():
    table = people()
    errors = {}
    for method in (sd.Marginals(), sd.Marginals(matters=["job x region"])):
        found = [sd.release(table, method, 0.1, seed=seed).table.to_array() - table.to_array() for seed in range(6)]
        errors[method] = np.mean([np.abs(error.sum(axis=(0, 1))).sum() for error in found])
    plain, shifted = errors.values()
    assert shifted < 0.9 * plain


def test_marginals_beat_the_tree_without_places():
    table, truth = people(), people().to_array()
    error = {
        method.name: np.mean(
            [
                np.abs((sd.release(table, method, 1, seed=seed).table.to_array() - truth).sum(axis=(0, 3))).sum()
                for seed in range(4)
            ]
        )
        for method in (sd.Marginals(), sd.Tree())
    }
    assert error["marginals"] < 0.8 * error["tree"]


@pytest.mark.parametrize(
    "domain",
    [
        sd.Domain(cell=sd.Line(1)),
        sd.Domain(cell=sd.Line(7)),
        sd.Domain(one=sd.Categories(["x"]), sex=sd.Categories(["f", "m"])),
        sd.Domain(cell=sd.Grid(5, 5, mask=np.arange(25).reshape(5, 5) % 3 > 0), sex=sd.Categories(["f", "m"])),
    ],
    ids=str,
)
def test_small_and_masked_domains(domain):
    cells = np.sort(domain.cells(np.arange(domain.size)))
    table = sd.CountTable(domain, cells, np.full(len(cells), 500))
    made = sd.release(table, sd.Marginals(), 1, seed=1).table
    assert domain.contains(made.index).all()
    assert abs(made.total - table.total) < 100
    nobody = sd.CountTable(domain, cells[:0], cells[:0])
    assert sd.release(nobody, sd.Marginals(), 1, total="public", seed=1).table.total == 0


def test_ranks_of_a_masked_attribute_are_those_of_its_cells():
    domain = sd.Domain(cell=sd.Grid(5, 5, mask=np.arange(25).reshape(5, 5) % 3 > 0), sex=sd.Categories(["f", "m"]))
    rank = np.arange(domain.size)
    cell, sex = Box(domain).ranks(domain.cells(rank))
    assert (cell * 2 + sex == rank).all()


def test_one_more_person_moves_a_marginal_by_one_however_large_it_is():
    domain = sd.Domain(a=sd.Categories(list("abc")), b=sd.Categories(list("xy")))
    box, ranks = Box(domain), Box(domain).ranks(domain.cells(np.arange(2)))
    few, more = (box.sums((0,), ranks, np.array([2**53, count])) for count in (1, 2))
    assert (more - few).tolist() == [1, 0, 0]


def test_what_is_no_attribute_is_refused():
    with pytest.raises(ParameterError, match="no such attribute in matters"):
        sd.release(people(), sd.Marginals(matters=["jbo x age"]), 1)


def test_the_plan_names_what_is_measured():
    said = str(sd.Marginals(matters=["sex x age"]).explain(PEOPLE, Budget(epsilon=Fraction(1))))
    assert "on all cells" in said
    assert "on age x sex" in said


# --- pairs alone


def many(people=30_000, attributes=9, seed=4):
    """Nine attributes of eight values, each a noisy copy of the one before it: 134 million cells."""
    rng = np.random.default_rng(seed)
    columns = [rng.binomial(7, 0.3, people)]
    for _ in range(attributes - 1):
        columns.append(np.where(rng.random(people) < 0.7, columns[-1], rng.integers(0, 8, people)))
    domain = sd.Domain(**{f"a{number}": sd.Categories(list(range(8))) for number in range(attributes)})
    index, count = np.unique(domain.index(*columns), return_counts=True)
    return sd.CountTable(domain, index, count)


def pair_error(table, made, axes):
    box = Box(table.domain)
    one, other = (box.sums(axes, box.ranks(each.index), each.count) for each in (table, made))
    return np.abs(one - other).sum() / 2 / table.total


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"epsilon": 2}, {"rho": Fraction(1, 10)}, {"epsilon": 2, "total": "public"}])
def test_pairs_of_a_hundred_million_cells_are_kept(asked):
    table = many()
    made = sd.release(table, sd.Marginals(), seed=1, **asked).table
    assert (made.count > 0).all()
    assert made.count.dtype.kind == "i"
    neighbours = [pair_error(table, made, (axis, axis + 1)) for axis in range(8)]
    assert max(neighbours) < 0.06  # independence would be off by 0.55
    assert pair_error(table, made, (0, 4)) < 0.06
    assert abs(made.total - table.total) < (1 if "total" in asked else 1_000)


def test_few_people_for_each_cell_are_fitted_by_pairs():
    """At a small epsilon cells are not worth measuring; the noisy total decides it."""
    table, labels = many(attributes=4), {}
    for epsilon in ("0.01", "10"):
        with record() as tape:
            sd.release(table, sd.Marginals(), epsilon, seed=1)
        labels[epsilon] = [one.label for one in tape.measured]
    assert labels["0.01"][0] == labels["10"][0] == "total"
    assert "marginal a0 x a1 x a2 x a3" in labels["10"]
    assert "marginal a0 x a1 x a2 x a3" not in labels["0.01"]


@pytest.mark.parametrize("gaussian", [False, True])
def test_every_pair_is_in_a_view(gaussian):
    sizes = (16, 2, 8, 2, 5, 1, 7)
    shares = dict(pair_shares(sizes, ((0, 6),), gaussian))
    assert sum(shares.values()) == 1
    for one in range(7):
        for other in range(one + 1, 7):
            if 5 not in (one, other):
                assert any({one, other} <= set(axes) for axes in shares)


def test_small_attributes_share_a_view_under_epsilon():
    assert any(len(axes) > 2 for axes, _ in pair_shares((16, 2, 8, 2, 5), (), False))


def test_a_dependence_above_the_noise_stays_and_noise_goes():
    rng = np.random.default_rng(3)
    signal = 200 * np.outer([1, 1, -1, -1, 0, 0], [1, -1, 1, -1.0])
    noise = rng.normal(0, 10, signal.shape)
    noise -= noise.mean(axis=1, keepdims=True)
    noise -= noise.mean(axis=0)
    assert np.abs(shrunk(signal + noise, 10) - signal).max() < np.abs(noise).max() * 1.2
    assert np.abs(shrunk(noise / 2, 10)).max() == 0


def test_rows_follow_the_tree_and_weights_all_pairs():
    rng = np.random.default_rng(7)
    truth = rng.gamma(0.5, 1, (4, 3, 5))
    truth *= 10_000 / truth.sum()
    views = [View((0, 1), truth.sum(2), 1.0), View((1, 2), truth.sum(0), 1.0), View((0, 2), truth.sum(1), 1.0)]
    rows, weight = weighted_rows((4, 3, 5), views, None, rng)
    found = np.zeros((4, 3, 5))
    np.add.at(found, tuple(rows.T), weight)
    for axis in range(3):
        assert np.abs(found.sum(axis) - truth.sum(axis)).sum() / 2 / 10_000 < 0.01
    nobody, nothing = weighted_rows((4, 3, 5), views, 0.0, rng)
    assert len(nobody) == len(nothing) == 0


def test_an_attribute_of_a_million_values_is_refused():
    domain = sd.Domain(place=sd.Line(2**20), other=sd.Line(2**20))
    with pytest.raises(ParameterError, match="too many values"):
        sd.release(sd.CountTable(domain, [3], [5]), sd.Marginals(), 1, seed=1)
