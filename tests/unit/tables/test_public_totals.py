"""Public totals of areas: exactly kept, named in the guarantee, refused when they contradict."""

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.noise import record

COUNTS = np.array([[0, 50, 0, 9], [120, 0, 4, 3], [0, 41, 0, 0], [7, 7, 7, 7]])


@pytest.fixture
def table():
    return sd.CountTable.from_array(COUNTS)


def area(table, rows, columns):
    row, column = np.meshgrid(rows, columns, indexing="ij")
    return table.domain.index(row.ravel(), column.ravel())


@pytest.mark.slow
@pytest.mark.parametrize("method", [sd.Tree(), sd.Simplex()])
@pytest.mark.parametrize("total", ["noisy", "public"])
def test_totals_are_kept_exactly(table, method, total):
    north, south = area(table, [0, 1], [0, 1, 2, 3]), area(table, [3], [0, 1])
    for seed in range(60):
        made = sd.release(
            table, method, epsilon=0.1, total=total, public_totals=[(north, 186), (south, 14)], seed=seed
        ).table
        values = made.to_array()
        assert values[:2].sum() == 186
        assert values[3, :2].sum() == 14
        assert (values >= 0).all()
        if total == "public":
            assert made.total == COUNTS.sum()


def test_an_area_that_the_release_left_empty_is_filled(table):
    made = sd.release(table, sd.Simplex(), epsilon=0.1, public_totals=[(area(table, [2], [2, 3]), 11)], seed=1).table
    assert made.to_array()[2, 2:].sum() == 11


def test_the_guarantee_names_them(table):
    made = sd.release(table, epsilon=0.1, public_totals=[([0, 1], 5)])
    assert "the totals of 1 areas, given from elsewhere" in str(made.guarantee)
    assert made.guarantee.epsilon == sd.privacy.exact(0.1)


def test_cells_may_be_named_by_attribute():
    mesh = sd.Mesh("1km", codes=["533946"])
    domain = sd.Domain(mesh=mesh, sex=sd.Categories(["f", "m"]))
    codes = mesh.labels(*mesh.cell(np.arange(50))).tolist()
    table = sd.CountTable(domain, [3], [70])
    for where in ({"mesh": codes}, {"mesh": codes, "sex": ["f"]}):
        made = sd.release(table, epsilon=1, public_totals=[(where, 12)], seed=1).table
        named = domain.labels(made.index)
        inside = np.isin(named["mesh"], codes) & np.isin(named["sex"], where.get("sex", ["f", "m"]))
        assert made.count[inside].sum() == 12
    # A coarser code stands for all cells below it: here for everything.
    assert sd.release(table, epsilon=1, public_totals=[({"mesh": ["533946"]}, 31)]).table.total == 31


def test_they_are_post_processing(table):
    """A neighbour under replay gives the same table: the numbers come from the caller alone."""
    totals = [(area(table, [0, 1], [0, 1, 2, 3]), 186)]
    with record() as tape:
        first = sd.release(table, epsilon=0.5, public_totals=totals)
    neighbour = COUNTS.copy()
    neighbour[0, 0] += 1
    with record(replay=tape):
        second = sd.release(sd.CountTable.from_array(neighbour), epsilon=0.5, public_totals=totals)
    assert np.array_equal(first.table.to_array(), second.table.to_array())


@pytest.mark.parametrize(
    ("totals", "sentence"),
    [
        ([([0, 1], 5), ([1, 2], 5)], "share a cell"),
        ([([0, 99], 5)], "outside the domain"),
        ([([], 5)], "has no cells"),
        ([([0], -1)], "whole number from 0 on"),
        ([([0], 2.5)], "whole number from 0 on"),
        ([({"other": [1]}, 5)], "no such attribute"),
        ([({"cell": [(7, 7)]}, 5)], "cell"),
        ([([0], 10**6)], "contradict"),
        ([(list(range(16)), 1)], "contradict"),
    ],
)
def test_what_cannot_be_is_refused(table, totals, sentence):
    with pytest.raises(sd.SudareError, match=sentence) as refused:
        sd.release(table, epsilon=1, total="public", public_totals=totals)
    assert str(COUNTS.sum()) not in str(refused.value)


def test_a_method_without_totals_refuses_them(table):
    with pytest.raises(ParameterError, match="cannot keep public totals"):
        sd.release(table, sd.Laplace(), epsilon=1, public_totals=[([0], 5)])
