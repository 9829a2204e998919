from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import Grid, Line, attribute_from_json
from sudare.errors import DomainError


def test_a_line_locates_positions():
    (position,), inside = Line(4).locate([0, 3, 4, -1, None])
    assert position.tolist() == [0, 3, 0, 0, 0]
    assert inside.tolist() == [True, True, False, False, False]


def test_a_line_clamps_numbers_but_not_what_is_missing_or_broken():
    (position,), inside = Line(4).clamp([9, -1, np.inf, -np.inf, np.nan, 1.5])
    assert position.tolist() == [3, 0, 3, 0, 0, 0]
    assert inside.tolist() == [True, True, True, True, False, False]


def test_a_masked_position_is_outside_even_when_clamped():
    line = Line(4, mask=[True, True, True, False])
    assert line.locate([2, 3])[1].tolist() == [True, False]
    assert line.clamp([9, -9])[1].tolist() == [False, True]
    assert line.size == 3
    assert line.allowed([-1, 2, 3, 4]).tolist() == [False, True, False, False]


def test_a_grid_takes_rows_and_columns():
    (row, column), inside = Grid(2, 3).locate([1, 1, 2], [2, 3, 0])
    assert (row.tolist(), column.tolist()) == ([1, 0, 0], [2, 0, 0])
    assert inside.tolist() == [True, False, False]
    (row, column), inside = Grid(2, 3).clamp([1, 1, 2, None], [2, 3, 0, 0])
    assert (row.tolist(), column.tolist()) == ([1, 1, 1, 0], [2, 2, 0, 0])
    assert inside.tolist() == [True, True, True, False]


def test_labels_are_positions():
    assert Line(4).labels([3, 0]).tolist() == [3, 0]
    assert Grid(2, 3).labels([1, 0], [2, 1]).tolist() == [[1, 2], [0, 1]]
    assert Grid(2, 3).labels([], []).shape == (0, 2)


def test_axes_and_sizes():
    assert (Line(5).lengths, Line(5).size, Line(5).spatial) == ((5,), 5, True)
    assert (Grid(2, 3).lengths, Grid(2, 3).size, Grid(2, 3).spatial) == ((2, 3), 6, True)
    assert Grid(2**31, 2**31).size == 2**62


def test_cells_of_ranks_are_row_major():
    assert [axis.tolist() for axis in Grid(2, 3).cell([0, 4, 5])] == [[0, 1, 1], [0, 1, 2]]


@pytest.mark.parametrize(
    "attribute",
    [Line(7), Line(3, mask=[True, False, True]), Grid(2, 1), Grid(2, 2, mask=[[False, True], [True, True]])],
)
def test_json_gives_an_equal_attribute(attribute):
    again = attribute_from_json(attribute.to_json())
    assert again == attribute
    assert hash(again) == hash(attribute)
    assert again.size == attribute.size


def test_attributes_are_equal_by_value():
    assert Line(3) == Line(np.int64(3))
    assert Line(3, mask=[True, True, True]) == Line(3)
    assert Line(3, mask=[True, True, False]) != Line(3)
    assert Grid(3, 2) != Grid(2, 3)
    assert Line(3, mask=[True, True, True]).mask is None


def test_descriptions_say_what_is_masked():
    assert str(Line(4096).describe()) == "line of 4,096"
    assert str(Grid(2, 2, mask=[[True, False], [True, True]]).describe()) == "grid of 2 x 2 with 3 cells under a mask"
    assert repr(Grid(2, 3)) == "Grid(rows=2, columns=3)"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: Line(0),
            "the length of a line is not a whole number (got 0; allowed: a whole number from 1 on)",
        ),
        (
            lambda: Grid(2, 2.5),
            "the columns of a grid is not a whole number (got 2.5; allowed: a whole number from 1 on)",
        ),
        (
            lambda: Grid("2", 2),
            "the rows of a grid is not a whole number (got '2'; allowed: a whole number from 1 on)",
        ),
        (lambda: Grid(2, 2).locate([1]), "a grid attribute takes another number of columns (got 1; allowed: 2)"),
        (lambda: Line(2).locate([1], [1]), "a line attribute takes another number of columns (got 2; allowed: 1)"),
        (lambda: Grid(2, 2).locate([1], [1, 1]), "coordinates have different lengths"),
        (lambda: Grid(2, 2).labels([1]), "a grid attribute has another number of axes (got 1; allowed: 2)"),
        (lambda: Grid(2, 2).labels([1], [1, 0]), "coordinates have different lengths"),
        (lambda: Line(2).labels([2]), "a coordinate is outside the line (allowed: 0 to 1)"),
        (lambda: Line(2).labels([-1]), "a coordinate is outside the line (allowed: 0 to 1)"),
        (lambda: Line(2).cell([2]), "a rank is outside the attribute (allowed: 0 to 1)"),
        (
            lambda: Line(2).locate(["a"]),
            "a position on a line is not a column of numbers (got 'text'; allowed: whole numbers or floats)",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(call, sentence):
    with pytest.raises(DomainError) as caught:
        call()
    assert str(caught.value) == sentence
