from __future__ import annotations

import pytest

from sudare.domain import Line, attribute_from_json
from sudare.errors import DomainError


def test_an_attribute_is_read_by_its_type():
    assert attribute_from_json({"type": "line", "length": 4}) == Line(4)
    assert attribute_from_json({"type": "line", "length": 4, "mask": None}) == Line(4)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], "an attribute is not a JSON object with a type (got 'list')"),
        ({}, "an attribute is not a JSON object with a type (got 'dict')"),
        (
            {"type": "lines"},
            "there is no such type of attribute (got 'lines'; allowed: bins, categories, grid, line, mesh). "
            "Did you mean 'line'?",
        ),
        ({"type": "grid", "rows": 3}, "these entries do not make a grid (got ['rows'])"),
        ({"type": "mesh", "size": "1km", "row": [0, 1]}, "these entries do not make a mesh (got ['row', 'size'])"),
        (
            {"type": "line", "length": 3, "mask": [1, 1]},
            "the runs of the mask do not fill it (allowed: runs that add to 3)",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(data, sentence):
    with pytest.raises(DomainError) as caught:
        attribute_from_json(data)
    assert str(caught.value) == sentence
