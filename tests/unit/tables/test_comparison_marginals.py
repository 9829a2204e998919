import numpy as np
import pytest

from sudare.domain import Bins, Categories, CountTable, Domain, Grid
from sudare.errors import ParameterError
from sudare.privacy import Unit
from sudare.tables.comparison import marginal

DOMAIN = Domain(cell=Grid(5, 6), sex=Categories(["f", "m"]), age=Bins(0, 90, step=30))
DENSE = np.random.default_rng(4).poisson(0.7, DOMAIN.shape)
PLACES = np.nonzero(DENSE)
TABLE = CountTable(DOMAIN, DOMAIN.index(*PLACES), DENSE[PLACES], Unit("person", 2))


@pytest.mark.parametrize(
    ("names", "summed"),
    [(("cell",), (2, 3)), (("sex",), (0, 1, 3)), (("cell", "age"), (2,)), (("cell", "sex", "age"), ())],
)
def test_marginals_match_dense_sums(names, summed):
    table = marginal(TABLE, *names)
    assert np.array_equal(table.to_array(), DENSE.sum(axis=summed))
    assert tuple(table.domain.attributes) == names
    assert table.unit == TABLE.unit
    assert table.private


def test_the_order_of_names_is_the_order_of_axes():
    assert np.array_equal(marginal(TABLE, "age", "sex").to_array(), DENSE.sum(axis=(0, 1)).T)


def test_a_released_table_stays_released_and_may_be_fractional():
    table = CountTable.released(DOMAIN, TABLE.index, TABLE.count * -0.5)
    assert np.allclose(marginal(table, "sex").to_array(), -0.5 * DENSE.sum(axis=(0, 1, 3)))
    assert not marginal(table, "sex").private


def test_an_unknown_attribute_is_refused():
    with pytest.raises(ParameterError, match=r"there is no such attribute \(got 'sx'.*Did you mean 'sex'\?"):
        marginal(TABLE, "sx")
