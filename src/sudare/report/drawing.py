"""What of two tables can be drawn: a map if there is an area, a profile along one attribute if not."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.charts import Frame, Spec, profile, side_by_side
from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import ParameterError
from sudare.report.marginals import marginal
from sudare.report.numbers import number

MOST_CELLS = 1 << 16  # of a map; a larger one is drawn in blocks
MOST_PLACES = 256  # of a profile
_EARTH_RADIUS_KM = 6371.0088


@dataclass(frozen=True)
class Drawing:
    """Two tables over the one attribute ``name`` that is drawn, summed over all others.

    ``shift`` says how coarse: a drawn cell is 2**shift cells along each axis. ``others`` names the attributes
    that were summed over.
    """

    name: str
    truth: CountTable
    released: CountTable
    shift: int
    others: tuple[str, ...]

    @property
    def is_map(self) -> bool:
        """Whether the attribute has rows and columns."""
        return len(self._attribute.lengths) == 2

    @property
    def cell_km2(self) -> float | None:
        """Square kilometres of a cell in the middle of the window; None where cells have no such size."""
        return math.prod(_ground(self._attribute)) if isinstance(self._attribute, Mesh) else None

    @property
    def what(self) -> str:
        """What a drawn value counts."""
        side = 1 << self.shift
        size = re.sub(r"(\d+)", r"\1 ", self._attribute.cell_size) if isinstance(self._attribute, Mesh) else ""
        if self.shift == 0:
            return f"people per {size} cell" if size else "people per cell"
        return f"people per {f'{side} x {side}' if self.is_map else side} cells{size and f' of {size}'}"

    @property
    def note(self) -> str:
        """What a reader must know to read the drawing; may be empty."""
        parts = [f"summed over {' and '.join(self.others)}"] if self.others else []
        if self.shift:
            parts.append(f"drawn in blocks of {self.what.partition('per ')[2]}")
        return "; ".join(parts)

    def chart(self, width: int | None = None, narrow: bool = False) -> Spec:
        """The map or the profile; ``width`` is one map's or the profile's (None: as wide as the page)."""
        coordinates, truth, released = self._values
        if self.is_map:
            row, column = coordinates
            return side_by_side(
                map_frame(self._attribute, 1 << self.shift),
                row,
                column,
                truth,
                released,
                what=self.what,
                subtitles=(self._subtitle(self.truth), self._subtitle(self.released)),
                width=width or 430,
                narrow=narrow,
            )
        return self._profile(coordinates[0], truth, released, width)

    def _subtitle(self, table: CountTable) -> str:
        people = f"{number(table.total)} people"
        return f"{people}, {self.note}" if self.note else people

    @property
    def _attribute(self) -> Any:
        return self.truth.domain.attributes[self.name]

    @cached_property
    def _values(self) -> tuple[list[NDArray[np.int64]], NDArray[Any], NDArray[Any]]:
        """Coordinates of the drawn cells that either table fills, and both their values."""
        lengths = [((length - 1) >> self.shift) + 1 for length in self._attribute.lengths]
        values = []
        for table in (self.truth, self.released):
            coarse = [axis >> self.shift for axis in table.domain.coordinates(table.index)]
            values.append(np.zeros(math.prod(lengths), dtype=table.count.dtype))
            np.add.at(values[-1], np.ravel_multi_index(coarse, lengths), table.count)
        drawn = np.flatnonzero((values[0] != 0) | (values[1] != 0))
        place = [np.asarray(axis) for axis in np.unravel_index(drawn, lengths)]
        return place, values[0][drawn], values[1][drawn]

    def _profile(
        self, place: NDArray[np.int64], truth: NDArray[Any], released: NDArray[Any], width: int | None
    ) -> Spec:
        every = np.arange(((self._attribute.lengths[0] - 1) >> self.shift) + 1)
        values = np.zeros((2, len(every)))
        values[:, place] = truth, released
        labels = [str(label) for label in self._attribute.labels(every << self.shift).tolist()]
        return profile(
            labels,
            *values,
            label_title=self.name,
            what=self.what,
            subtitle=self.note,
            width=width or "container",
        )


def draw(truth: CountTable, released: CountTable) -> Drawing:
    """The drawing of two tables over one domain: their first map, else their first line, else the first of all."""
    if truth.domain != released.domain:
        raise ParameterError("the two tables are over different domains", hint="Draw tables of one domain.")
    name = drawn_attribute(truth.domain)
    attribute = truth.domain.attributes[name]
    most = MOST_CELLS if len(attribute.lengths) == 2 else MOST_PLACES
    shift = 0
    while math.prod(((length - 1) >> shift) + 1 for length in attribute.lengths) > most:
        shift += 1
    others = tuple(other for other in truth.domain.attributes if other != name)
    return Drawing(name, marginal(truth, name), marginal(released, name), shift, others)


def drawn_attribute(domain: Domain) -> str:
    """The name of the attribute that shows most: with two axes, else spatial, else the first.

    >>> from sudare.domain import Categories, Grid
    >>> drawn_attribute(Domain(sex=Categories(["f", "m"]), cell=Grid(4, 4)))
    'cell'
    """
    attributes = domain.attributes
    return max(attributes, key=lambda name: (len(attributes[name].lengths), attributes[name].spatial))


def map_frame(attribute: Any, side: int = 1) -> Frame:
    """Where the cells of a grid or mesh lie on a map, drawn in blocks of ``side`` x ``side`` cells."""
    rows, columns = ((length - 1) // side + 1 for length in attribute.lengths)
    if not isinstance(attribute, Mesh):
        return Frame(rows, columns, cell_height=side, cell_width=side)
    south, west, north, east = (float(edge[0]) for edge in attribute.corners([0], [0]))
    east_km, north_km = _ground(attribute)
    return Frame(
        rows,
        columns,
        south,
        west,
        (north - south) * side,
        (east - west) * side,
        aspect=east_km / north_km,
        x_title="longitude (°E)",
        y_title="latitude (°N)",
    )


def _ground(mesh: Mesh) -> tuple[float, float]:
    """Kilometres to the east and to the north across a cell in the middle of a mesh's window, on a sphere."""
    south, west, north, east = (float(edge[0]) for edge in mesh.corners(*([length // 2] for length in mesh.lengths)))
    per_degree = math.radians(1) * _EARTH_RADIUS_KM
    return (east - west) * per_degree * math.cos(math.radians((south + north) / 2)), (north - south) * per_degree
