"""Grids for a canvas: every table summed over what is not drawn, south first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import Categories, CountTable, Domain, Grid, Line, Mesh
from sudare.domain.mesh import corners
from sudare.studio import rehearsals as grids
from sudare.studio.rehearsals import frame_of, grid_of, quantiles
from sudare.studio.windows import window


@pytest.mark.parametrize(
    "domain",
    [
        Domain(sex=Categories(["f", "m"]), cell=Grid(5, 7)),
        Domain(mesh=Mesh("500m", rows=(8480, 8491), columns=(6300, 6303)), age=Line(3)),
        Domain(place=Line(9), sex=Categories(["f", "m"])),
    ],
)
def test_a_grid_is_the_marginal(domain):
    rng = np.random.default_rng(1)
    index = domain.cells(np.arange(0, domain.size, 2))
    table = CountTable(domain, index, rng.integers(1, 9, len(index)))
    frame = frame_of(domain)
    grid = grid_of(table, frame)
    assert grid.dtype == np.dtype("<f4")
    assert grid.shape == (frame["rows"], frame["columns"])
    own = [place for place, axis in enumerate(domain.axes) if axis.name == frame["attribute"]]
    others = tuple(place for place in range(len(domain.axes)) if place not in own)
    assert np.array_equal(grid, np.atleast_2d(table.to_array().sum(axis=others)))


def test_a_large_grid_is_summed_in_blocks(monkeypatch):
    monkeypatch.setattr(grids, "MOST_CELLS", 8)
    domain = Domain(cell=Grid(10, 6))
    table = CountTable.from_array(np.arange(60).reshape(10, 6))
    frame = frame_of(domain)
    assert (frame["rows"], frame["columns"], frame["side"]) == (3, 2, 4)
    grid = grid_of(table, frame)
    padded = np.zeros((12, 8))
    padded[:10, :6] = table.to_array()
    assert np.array_equal(grid, padded.reshape(3, 4, 2, 4).sum(axis=(1, 3)))


def test_a_mesh_knows_where_it_lies():
    frame = frame_of(Domain(mesh=Mesh("500m", rows=(8480, 8482), columns=(6300, 6304))))
    south, west, _, _ = corners([8480], [6300], "500m")
    assert frame["bounds"] == pytest.approx({"south": south[0], "west": west[0], "north": 8482 / 240, "east": 139.4})


def test_colours_end_where_values_do():
    assert quantiles(np.zeros((2, 2), dtype="<f4"))["1.0"] == 0
    assert quantiles(np.array([[0, 1, 2, 3]], dtype="<f4"))["0.5"] == 2


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["80km", "10km", "1km", "500m", "250m", "125m"]),
    st.floats(0.01, 66),
    st.floats(100.01, 199),
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
