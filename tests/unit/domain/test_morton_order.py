from __future__ import annotations

import pytest

from sudare.domain import Bins, Categories, Domain, Grid, Line
from sudare.errors import DomainError

PARTS = {"sex": Categories(["f", "m"]), "cell": Grid(4, 4), "age": Bins(0, 100, step=25), "time": Line(4)}


def test_by_default_space_interleaves_and_the_rest_follows():
    domain = Domain(**PARTS)
    assert domain.groups == (("cell", "time"), ("sex",), ("age",))
    # Axes: 0 sex, 1 row, 2 column, 3 age, 4 time.
    assert domain.plan.order == (1, 2, 4, 1, 2, 4, 0, 3, 3)


def test_an_order_lists_names_root_to_leaf():
    domain = Domain(order=["sex", ("age", "cell"), "time"], **PARTS)
    assert domain.plan.order == (0, 3, 1, 2, 3, 1, 2, 4, 4)


def test_the_default_written_out_is_the_default():
    assert Domain(order=[("cell", "time"), "sex", "age"], **PARTS) == Domain(**PARTS)
    assert Domain(order=[("cell", "time"), "age", "sex"], **PARTS) != Domain(**PARTS)


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        (
            ["cell", "sexx", "age", "time"],
            "the order names an attribute that does not exist (got 'sexx'; allowed: sex, cell, age, time). "
            "Did you mean 'sex'?",
        ),
        (["cell", "sex", "age"], "the order leaves attributes out (got ['time']; allowed: every attribute once)"),
        (["cell", "sex", ("age", "cell"), "time"], "the order names an attribute twice (got 'cell')"),
        (["cell", 3], "an item of the order is not a name or a tuple of names (got 3)"),
        (["cell", ()], "an item of the order is not a name or a tuple of names (got ())"),
        (
            "cell",
            "the order is not a list of names (got 'cell'). "
            'Write order=["sex", ("row", "column")] and give attributes by name.',
        ),
        (
            Line(4),
            "the order is not a list of names (got 'Line'). "
            'Write order=["sex", ("row", "column")] and give attributes by name.',
        ),
    ],
)
def test_mistakes_end_in_one_sentence(order, sentence):
    with pytest.raises(DomainError) as caught:
        Domain(order, **PARTS)
    assert str(caught.value) == sentence
