"""Tables as dense grids for a canvas: little-endian float32, row 0 in the south, summed over everything not drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.charts import View
from sudare.domain import CountTable, Domain, Mesh

MOST_CELLS = 1 << 22
"""Of a grid: a larger one is summed in blocks first."""
_SHARES = (0.5, 0.9, 0.99, 0.999, 1.0)
_MOST_LABELS = 400


def frame_of(domain: Domain) -> dict[str, Any]:
    """What is drawn of tables over a domain: the attribute, rows and columns, cells along a side of a drawn one.

    >>> from sudare.domain import Categories, Grid
    >>> frame = frame_of(Domain(sex=Categories(["f", "m"]), cell=Grid(500, 400)))
    >>> frame["attribute"], frame["rows"], frame["columns"], frame["side"], frame["summed_over"]
    ('cell', 500, 400, 1, ['sex'])
    """
    name = View.of(domain).name
    attribute = domain.attributes[name]
    shift = 0
    while math.prod(_coarse(attribute.lengths, shift)) > MOST_CELLS:
        shift += 1
    lengths = _coarse(attribute.lengths, shift)
    rows, columns = lengths if len(lengths) == 2 else (1, lengths[0])
    labels: list[str] = []
    if len(lengths) == 1 and columns <= _MOST_LABELS:
        labels = [str(label) for label in attribute.labels(np.arange(columns) << shift).tolist()]
    return {
        "attribute": name,
        "summed_over": [other for other in domain.attributes if other != name],
        "rows": rows,
        "columns": columns,
        "side": 1 << shift,
        "bounds": _bounds(attribute),
        "labels": labels,
    }


def grid_of(table: CountTable, frame: dict[str, Any]) -> NDArray[np.float32]:
    """The values (rows, columns) of a table as its ``frame`` says."""
    own = [place for place, axis in enumerate(table.domain.axes) if axis.name == frame["attribute"]]
    coordinates = table.domain.coordinates(table.index)
    shift = frame["side"].bit_length() - 1
    places = [coordinates[place] >> shift for place in own]
    place = places[0] if len(places) == 1 else places[0] * frame["columns"] + places[1]
    dense = np.bincount(place, weights=table.count, minlength=frame["rows"] * frame["columns"])
    return dense.reshape(frame["rows"], frame["columns"]).astype("<f4")


def quantiles(*grids: NDArray[np.float32]) -> dict[str, float]:
    """Of all cells that are not 0, by share: where a colour scale may end."""
    values = np.concatenate([grid[grid != 0] for grid in grids])
    if not len(values):
        return {str(share): 0.0 for share in _SHARES}
    return {str(share): float(found) for share, found in zip(_SHARES, np.quantile(values, _SHARES), strict=True)}


def _coarse(lengths: tuple[int, ...], shift: int) -> list[int]:
    return [((length - 1) >> shift) + 1 for length in lengths]


def _bounds(attribute: Any) -> dict[str, float] | None:
    """Where a mesh lies, in degrees."""
    if not isinstance(attribute, Mesh):
        return None
    corners = attribute.corners([0, attribute.lengths[0] - 1], [0, attribute.lengths[1] - 1])
    south, west, north, east = corners
    return {"south": float(south[0]), "west": float(west[0]), "north": float(north[1]), "east": float(east[1])}
