import numpy as np
import pytest

from sudare.domain import Categories, CountTable, Domain, Grid, Line
from sudare.errors import ParameterError
from sudare.measure import error_by_block


def tables(domain, truth, released):
    cells = np.argwhere(np.ones(domain.shape, dtype=bool))
    cells = cells[domain.contains(domain.index(*cells.T))]
    index = domain.index(*cells.T)
    return (
        CountTable(domain, index, truth[tuple(cells.T)]),
        CountTable.released(domain, index, released[tuple(cells.T)]),
    )


def test_blocks_of_a_grid_match_dense_sums():
    generator = np.random.default_rng(1)
    truth = generator.poisson(2, (8, 8))
    released = truth + generator.integers(-3, 4, (8, 8))
    errors = error_by_block(*tables(Domain(cell=Grid(8, 8)), truth, released), levels=[0, 2, 4, 6])
    for place, side in enumerate((1, 2, 4, 8)):
        dense = (released - truth).reshape(8 // side, side, 8 // side, side).sum(axis=(1, 3))
        assert errors.cells[place] == side * side
        assert errors.blocks[place] == dense.size
        assert errors.mean_absolute_error[place] == pytest.approx(np.abs(dense).mean())
        assert errors.root_mean_square_error[place] == pytest.approx(np.sqrt((dense**2).mean()))
        assert errors.mean_error[place] == pytest.approx(dense.mean())
        assert errors.mean_truth[place] == pytest.approx(truth.sum() / dense.size)
        assert errors.relative_error[place] == pytest.approx(np.abs(dense).sum() / truth.sum())


def test_padding_and_masked_blocks_are_not_averaged_over():
    mask = np.zeros((3, 5), dtype=bool)
    mask[0, 0] = mask[2, 4] = True
    domain = Domain(cell=Grid(3, 5, mask=mask), sex=Categories(["f", "m", "x"]))
    truth = np.zeros((3, 5, 3), dtype=int)
    released = truth.copy()
    released[0, 0, 0] = 4
    errors = error_by_block(*tables(domain, truth, released), levels=[0, 2, 3, domain.bits])
    assert errors.blocks.tolist() == [6, 2, 2, 1]
    assert errors.mean_absolute_error.tolist() == pytest.approx([4 / 6, 2, 2, 4])


def test_levels_come_back_in_the_order_asked_for():
    truth = CountTable.from_array([5, 0, 0, 1])
    errors = error_by_block(truth, truth, levels=[2, 0])
    assert errors.level.tolist() == [2, 0]
    assert errors.blocks.tolist() == [1, 4]


def test_all_levels_without_asking():
    truth = CountTable.from_array(np.ones(9, dtype=int))
    assert error_by_block(truth, truth).level.tolist() == [0, 1, 2, 3, 4]


def test_no_level_is_an_empty_result():
    truth = CountTable.from_array([5, 0, 0, 1])
    assert len(error_by_block(truth, truth, levels=[]).level) == 0


def test_a_huge_domain_costs_nothing():
    domain = Domain(cell=Grid(2**20, 2**20), age=Categories(list(range(100))))
    truth = CountTable(domain, domain.index([7], [9], [3]), [10])
    released = CountTable.released(domain, domain.index([7], [9], [4]), [10])
    errors = error_by_block(truth, released, levels=[0, 7, domain.bits])
    assert errors.blocks.tolist() == [100 * 2**40, 2**40, 1]
    assert errors.mean_absolute_error.tolist() == pytest.approx([20 / (100 * 2**40), 0, 0])


def test_an_empty_truth_has_no_relative_error():
    domain = Domain(cell=Line(4))
    errors = error_by_block(CountTable(domain, [], []), CountTable.released(domain, [1], [2]), levels=[0])
    assert np.isnan(errors.relative_error[0])
    assert errors.to_arrow().column("relative_error").null_count == 1


def test_float_releases_are_measured_as_floats():
    domain = Domain(cell=Line(2))
    errors = error_by_block(CountTable(domain, [0], [1]), CountTable.released(domain, [0, 1], [0.5, 0.25]))
    assert errors.mean_absolute_error.tolist() == pytest.approx([0.375, 0.25])


def test_rows_are_plain_numbers():
    truth = CountTable.from_array([5, 0])
    row = error_by_block(truth, truth, levels=[1]).rows()[0]
    assert row["cells"] == 2
    assert {type(value) for value in row.values()} == {int, float}


def test_a_level_that_does_not_exist_is_refused():
    truth = CountTable.from_array([5, 0, 0, 1])
    with pytest.raises(ParameterError, match=r"there is no such block level \(got 3; allowed: 0 to 2\)"):
        error_by_block(truth, truth, levels=[0, 3])


def test_tables_over_different_domains_are_refused():
    with pytest.raises(ParameterError, match="the two tables are over different domains"):
        error_by_block(CountTable.from_array([1, 2]), CountTable.from_array([1, 2, 3]))
