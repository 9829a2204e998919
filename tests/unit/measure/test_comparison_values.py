import numpy as np
import pytest

from sudare.domain import CountTable, Domain, Grid, Line
from sudare.errors import ParameterError
from sudare.measure import error_by_value


def test_ranges_match_dense_means():
    generator = np.random.default_rng(2)
    truth = generator.choice([0, 0, 0, 1, 5, 9, 10, 60, 100, 4000], (20, 20))
    released = np.maximum(truth + generator.integers(-8, 9, truth.shape), 0)
    domain = Domain(cell=Grid(20, 20))
    rows, columns = np.nonzero(released)
    out = CountTable.released(domain, domain.index(rows, columns), released[rows, columns])
    errors = error_by_value(CountTable.from_array(truth), out)
    for place, (low, high) in enumerate(((0, 1), (1, 10), (10, 100), (100, np.inf))):
        chosen = (truth >= low) & (truth < high)
        error = (released - truth)[chosen]
        assert errors.cells[place] == chosen.sum()
        assert errors.root_mean_square_error[place] == pytest.approx(np.sqrt((error**2).mean()))
        assert errors.mean_absolute_error[place] == pytest.approx(np.abs(error).mean())
        assert errors.mean_error[place] == pytest.approx(error.mean())


def test_cells_below_the_first_edge_belong_to_no_range():
    truth = CountTable.from_array([0, 0, 3, 12])
    errors = error_by_value(truth, truth, edges=(1, 10))
    assert errors.cells.tolist() == [1, 1]


def test_a_range_without_cells_has_no_error():
    truth = CountTable.from_array([0, 3])
    errors = error_by_value(truth, truth)
    assert errors.cells.tolist() == [1, 1, 0, 0]
    assert np.isnan(errors.mean_error[2:]).all()


def test_empty_cells_of_a_huge_domain_are_counted_not_stored():
    domain = Domain(cell=Line(2**60))
    truth = CountTable(domain, [5], [1])
    errors = error_by_value(truth, CountTable.released(domain, [6], [2]), edges=(0, 1))
    assert errors.cells.tolist() == [2**60 - 1, 1]
    assert errors.mean_error[1] == -1


@pytest.mark.parametrize("edges", [(), (1, 1), (5, 2), (0, float("nan"))])
def test_edges_that_do_not_ascend_are_refused(edges):
    truth = CountTable.from_array([0, 3])
    with pytest.raises(ParameterError, match="edges are not an ascending list"):
        error_by_value(truth, truth, edges=edges)
