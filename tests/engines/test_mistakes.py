"""Each mistake in a question to records ends in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from sudare.domain import Categories, Domain, Grid, Line, Mesh
from sudare.errors import InputError, ParameterError, SudareError

COLUMNS = {
    "person": [1],
    "place": [2],
    "lat": [35.0],
    "lon": [139.0],
    "sex": ["f"],
    "when": [None],
    "yes": [True],
}
ALL = "person, place, lat, lon, sex, when, yes"
LINE = Domain(place=Line(4))
REASON = (
    ": it counts rows and adds nothing up. A weight or an amount has no bound, so that one person could change the "
    "result by any size and no noise would hide it. Cut amounts into Bins and count people in them."
)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (
            {"domain": LINE, "columns": {"place": "plaice"}},
            InputError,
            f"there is no such column for the attribute place (got 'plaice'; allowed: {ALL}). Did you mean 'place'?",
        ),
        (
            {"domain": Domain(home=Line(4))},
            InputError,
            f"there is no such column for the attribute home (got 'home'; allowed: {ALL})",
        ),
        (
            {"domain": LINE, "unit": "persons"},
            InputError,
            f"there is no such column for the unit (got 'persons'; allowed: {ALL}). Did you mean 'person'?",
        ),
        (
            {"domain": LINE, "columns": {"palce": "place"}},
            ParameterError,
            "columns names an attribute that the domain does not have (got 'palce'; allowed: place). "
            "Did you mean 'place'?",
        ),
        (
            {"domain": LINE, "columns": "place"},
            ParameterError,
            'columns is not a mapping (got \'str\'; allowed: {"mesh": ("lat", "lon")})',
        ),
        (
            {"domain": LINE, "columns": {"place": "sex"}},
            InputError,
            "the column 'sex' has a type that the attribute place cannot be read from (got 'VARCHAR'; allowed: whole "
            "numbers)",
        ),
        (
            {"domain": Domain(home=Mesh("1km", codes=["5339"])), "columns": {"home": ("lat", "sex")}},
            InputError,
            "the column 'sex' has a type that the attribute home cannot be read from (got 'VARCHAR'; allowed: degrees "
            "as numbers)",
        ),
        (
            {"domain": Domain(home=Mesh("1km", codes=["5339"])), "columns": {"home": "yes"}},
            InputError,
            "the column 'yes' has a type that the attribute home cannot be read from (got 'BOOLEAN'; allowed: mesh "
            "codes as whole numbers or text)",
        ),
        (
            {"domain": Domain(sex=Categories([1, 2]))},
            InputError,
            "the column 'sex' has a type that the attribute sex cannot be read from (got 'VARCHAR'; allowed: whole "
            "numbers)",
        ),
        (
            {"domain": Domain(place=Categories(["a"]))},
            InputError,
            "the column 'place' has a type that the attribute place cannot be read from (got 'BIGINT'; allowed: text)",
        ),
        (
            {"domain": LINE, "unit": "yes"},
            InputError,
            "the column 'yes' has a type that the unit cannot be read from (got 'BOOLEAN'; allowed: whole numbers or "
            "text)",
        ),
        (
            {"domain": Domain(cell=Grid(4, 4)), "columns": {"cell": "place"}},
            ParameterError,
            "the attribute cell is read from another number of columns (got 'place'; allowed: 2). "
            'Write columns={"cell": ("row", "column")}.',
        ),
        (
            {"domain": LINE, "columns": {"place": ("lat", "lon")}},
            ParameterError,
            "the attribute place is read from another number of columns (got ('lat', 'lon'); allowed: 1). "
            'Write columns={"place": "column"}.',
        ),
        (
            {"domain": LINE, "outside": "clip"},
            ParameterError,
            "outside is not a way to treat rows outside the domain (got 'clip'; allowed: error, drop, clamp). "
            "Did you mean 'clamp'?",
        ),
        (
            {"domain": Line(4)},
            ParameterError,
            "this is not a domain (got 'Line'; allowed: sudare.Domain)",
        ),
        (
            {"domain": LINE, "max_rows": 2},
            ParameterError,
            "max_rows needs a unit (got 2; allowed: 1). Say with unit= which column holds the person.",
        ),
        (
            {"domain": LINE, "unit": "person", "max_rows": 0},
            ParameterError,
            "max_rows is not a whole number from 1 on (got 0)",
        ),
        (
            {"domain": LINE, "unit": "person", "key": b"short"},
            ParameterError,
            "the key of the hash is not 16 bytes (got '5 bytes'; allowed: bytes of length 16). Without a key, "
            "a fresh random one is drawn.",
        ),
        (
            {"domain": LINE, "unit": "person", "key": "0" * 16},
            ParameterError,
            "the key of the hash is not 16 bytes (got 'str'; allowed: bytes of length 16). Without a key, a "
            "fresh random one is drawn.",
        ),
        ({"domain": LINE, "weights": "lat"}, ParameterError, f"count takes no weights{REASON}"),
        ({"domain": LINE, "sum": "lat"}, ParameterError, f"count takes no sum{REASON}"),
        (
            {"domain": LINE, "maxrows": 2},
            ParameterError,
            "count has no such argument (got 'maxrows'). Did you mean 'max_rows'?",
        ),
    ],
)
def test_the_sentence(records: Any, arguments: dict[str, Any], error: type[SudareError], sentence: str) -> None:
    with pytest.raises(error) as refusal:
        records(COLUMNS).count(**arguments)
    assert str(refusal.value) == sentence


def test_a_long_list_of_columns_is_cut(records: Any) -> None:
    with pytest.raises(InputError, match=r"c0, c1, .*, c39 and 60 others"):
        records({f"c{number}": [1] for number in range(100)}).count(LINE)
