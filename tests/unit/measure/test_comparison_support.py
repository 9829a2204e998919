import math

from sudare.domain import CountTable, Domain, Line
from sudare.measure import density
from sudare.measure.comparison import support

DOMAIN = Domain(cell=Line(10))


def test_cells_that_appear_and_vanish():
    truth = CountTable(DOMAIN, [0, 1, 2, 3], [1, 2, 3, 4])
    released = CountTable.released(DOMAIN, [2, 3, 4, 9], [3, -1, 2, 1])
    found = support(truth, released)
    assert (found.true_positives, found.false_positives, found.false_negatives) == (2, 2, 2)
    assert found.true_negatives == 4
    assert found.false_positive_rate == 2 / 6
    assert found.false_negative_rate == 2 / 4


def test_rates_without_a_base_are_undefined():
    empty = CountTable(DOMAIN, [], [])
    full = CountTable(DOMAIN, range(10), [1] * 10)
    assert math.isnan(support(empty, full).false_negative_rate)
    assert math.isnan(support(full, empty).false_positive_rate)


def test_density_is_over_logical_cells():
    assert density(CountTable(DOMAIN, [0, 9], [1, 1])) == 0.2
