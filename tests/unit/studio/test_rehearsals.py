"""The map of a rehearsal: every table summed over what is not drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from map_reading import values_of
from sudare.domain import Categories, CountTable, Domain, Grid, Line, Mesh
from sudare.render.drawing import View
from sudare.studio.protection import window
from sudare.studio.refusals import RequestError
from sudare.studio.rehearsals import map_of


@pytest.mark.parametrize(
    "domain",
    [
        Domain(sex=Categories(["f", "m"]), cell=Grid(5, 7)),
        Domain(mesh=Mesh("500m", rows=(8480, 8491), columns=(6300, 6303)), age=Line(3)),
        Domain(place=Line(9), sex=Categories(["f", "m"])),
    ],
)
def test_a_map_is_the_marginal_of_both_tables(domain):
    rng = np.random.default_rng(1)
    index = domain.cells(np.arange(0, domain.size, 2))
    tables = [CountTable(domain, index, rng.integers(1, 9, len(index))) for _ in range(2)]
    content = map_of(*tables)
    name = View.of(domain).name
    others = tuple(place for place, axis in enumerate(domain.axes) if axis.name != name)
    for panel, table in enumerate(tables):
        sums = table.to_array().sum(axis=others).reshape(-1)
        assert values_of(content, panel) == {place: value for place, value in enumerate(sums.tolist()) if value}
        assert content["panels"][panel]["total"] == table.total
    assert set(content["said"]) == {"en", "ja"}


def test_a_long_line_has_no_map():
    domain = Domain(place=Line(5000))
    table = CountTable(domain, [0], [1])
    assert map_of(table, table) is None


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["80km", "10km", "1km", "500m", "250m", "125m"]),
    st.floats(0.01, 64),
    st.floats(100.01, 197),
    st.floats(1e-4, 2),
    st.floats(1e-4, 2),
)
def test_a_window_is_the_least_that_holds_its_box(level, south, west, height, width):
    """Its bounds hold the box (to a millionth of a cell), and a row or column less would not."""
    found = window(level, south, west, south + height, west + width)
    bounds, (rows, columns) = found.bounds, (found.rows, found.columns)
    tall = (bounds.north - bounds.south) / (rows[1] - rows[0])
    wide = (bounds.east - bounds.west) / (columns[1] - columns[0])
    slack = 2e-6
    assert bounds.south <= south + slack * tall
    assert south < bounds.south + (1 + slack) * tall
    assert bounds.north - (1 + slack) * tall < min(south + height, 200 / 3) <= bounds.north + slack * tall
    assert bounds.west <= west + slack * wide
    assert bounds.east - (1 + slack) * wide < min(west + width, 200) <= bounds.east + slack * wide
    assert Mesh(level, rows=tuple(rows), columns=tuple(columns)).size == found.cells


@pytest.mark.parametrize("box", [(49.9, -7.6, 60.9, 1.8), (35.0, 99.0, 36.0, 140.0), (60.0, 139.0, 67.0, 140.0)])
def test_a_box_that_reaches_beyond_the_mesh_is_refused_and_not_moved(box):
    with pytest.raises(RequestError, match="outside the mesh"):
        window("1km", *box)
