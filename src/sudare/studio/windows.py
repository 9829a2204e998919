"""The window of a mesh between latitudes and longitudes, as a recipe declares it."""

from __future__ import annotations

import math
from typing import Any

from sudare.domain.mesh import mesh_level
from sudare.studio.models import Bounds, Window
from sudare.studio.refusals import RequestError

_HAIR = 1e-6
"""As a share of a cell: an edge this close to a border counts as on it."""


def window(level: str, south: float, west: float, north: float, east: float) -> Window:
    """All cells of ``level`` that a box in degrees touches: half-open rows and columns, and their own bounds.

    >>> found = window("500m", 35.675, 139.7625, 35.68, 139.77)
    >>> found.rows, found.columns, found.cells
    ((8562, 8564), (6362, 6364), 4)
    """
    size = mesh_level(level)
    if not all(map(math.isfinite, (south, west, north, east))) or not (south < north and west < east):
        raise RequestError(422, "the box has no area", allowed="south < north and west < east, in degrees")
    per_degree = size.rows_per_degree, size.columns_per_degree
    low = _whole(math.floor, south * per_degree[0] + _HAIR), _whole(math.floor, (west - 100) * per_degree[1] + _HAIR)
    high = _whole(math.ceil, north * per_degree[0] - _HAIR), _whole(math.ceil, (east - 100) * per_degree[1] - _HAIR)
    rows, columns = zip(low, high, strict=True)
    if any(first < 0 or last > size.limit for first, last in (rows, columns)):
        raise RequestError(
            422,
            "the box lies outside the mesh",
            allowed="latitudes 0 to 66.6, longitudes 100 to 200",
            hint="The mesh is that of Japan. Elsewhere, declare a grid in degrees, tiles, hexagons or regions.",
        )
    bounds = Bounds(
        south=rows[0] / per_degree[0],
        west=100 + columns[0] / per_degree[1],
        north=rows[1] / per_degree[0],
        east=100 + columns[1] / per_degree[1],
    )
    cells = (rows[1] - rows[0]) * (columns[1] - columns[0])
    return Window(level=level, rows=rows, columns=columns, cells=cells, bounds=bounds)


def _whole(rounded: Any, position: float) -> int:
    return int(rounded(min(max(position, -1e9), 1e9)))
