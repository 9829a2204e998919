import math

import pytest

from sudare.domain import CountTable, Domain, Line
from sudare.errors import ParameterError
from sudare.measure import l1_accuracy

DOMAIN = Domain(cell=Line(4))
TRUTH = CountTable(DOMAIN, [0, 1], [6, 4])


@pytest.mark.parametrize(
    ("index", "value", "accuracy"),
    [([0, 1], [6, 4], 1), ([2, 3], [5, 5], 0), ([0, 1], [5, 5], 0.9), ([], [], 0.5), ([0, 1, 2], [6, 4, 40], -1)],
)
def test_accuracy_is_one_minus_half_the_distance(index, value, accuracy):
    assert l1_accuracy(TRUTH, CountTable.released(DOMAIN, index, value)) == pytest.approx(accuracy)


def test_nobody_has_no_accuracy():
    assert math.isnan(l1_accuracy(CountTable(DOMAIN, [], []), TRUTH))


def test_tables_over_different_domains_are_refused():
    with pytest.raises(ParameterError, match="the two tables are over different domains"):
        l1_accuracy(TRUTH, CountTable.from_array([1]))
