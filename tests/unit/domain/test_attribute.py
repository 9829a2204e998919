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
            "there is no such type of attribute (got 'lines'; allowed: bins, categories, europe_grid, grid, h3, "
            "latlon, line, mesh, regions, tiles). Did you mean 'line'?",
        ),
        ({"type": "grid", "rows": 3}, "these entries do not describe a grid (got ['rows'])"),
        ({"type": "mesh", "size": "1km", "row": [0, 1]}, "these entries do not describe a mesh (got ['row', 'size'])"),
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


@pytest.mark.parametrize("key", ["mask", "within", "file"])
def test_what_a_stranger_wrote_opens_no_file(tmp_path, key):
    """A certificate or a survey that names a file of its reader is refused, whether there is such a file or not."""
    secret = tmp_path / "secret.csv"
    secret.write_text("site,word\nbank-4711,hunter2\n", encoding="utf-8")
    said = set()
    for path in (secret, tmp_path / "none.csv"):
        with pytest.raises(DomainError) as refusal:
            attribute_from_json({"type": "mesh", "size": "1km", "codes": ["5339"], key: str(path)})
        said.add(str(refusal.value))
    assert said == {f"an attribute that is read back cannot name a file (got '{key}')"}
