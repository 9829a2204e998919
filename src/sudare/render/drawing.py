"""What of a table can be drawn: a map if there is an area, a profile along one attribute if not."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import ParameterError
from sudare.language.catalogue import ENGLISH, Words
from sudare.render.charts import Spec
from sudare.render.curves import bars, profile
from sudare.render.maps import Frame, Panel, panels, released_map, side_by_side

MOST_CELLS = 1 << 16  # of a map; a larger one is drawn in blocks
MOST_PLACES = 256  # of a profile


@dataclass(frozen=True)
class View:
    """How tables over ``domain`` are drawn: over the attribute ``name`` alone, summed over all others.

    A drawn cell is 2**shift cells along each axis.

    >>> from sudare.domain import Categories, Grid
    >>> view = View.of(Domain(sex=Categories(["f", "m"]), cell=Grid(300, 300)))
    >>> view.name, view.what, view.note
    ('cell', 'people per 2 x 2 cells', 'summed over sex; drawn in blocks of 2 x 2 cells')
    """

    domain: Domain
    name: str
    shift: int
    words: Words = ENGLISH

    @classmethod
    def of(cls, domain: Domain, words: Words = ENGLISH) -> View:
        """The view that shows most: of an attribute with two axes, else of a spatial one, else of the first."""
        attributes = domain.attributes
        name = max(attributes, key=lambda name: (len(attributes[name].lengths), attributes[name].spatial))
        lengths, shift = attributes[name].lengths, 0
        while math.prod(_coarse(lengths, shift)) > (MOST_CELLS if len(lengths) == 2 else MOST_PLACES):
            shift += 1
        return cls(domain, name, shift, words)

    @property
    def is_map(self) -> bool:
        """Whether the attribute has rows and columns."""
        return len(self._attribute.lengths) == 2

    @property
    def others(self) -> tuple[str, ...]:
        """The attributes that are summed over."""
        return tuple(other for other in self.domain.attributes if other != self.name)

    @property
    def what(self) -> str:
        """What a drawn value counts."""
        return self.words("chart.people_per", cells=self._cells)

    @property
    def note(self) -> str:
        """What a reader must know to read the drawing; may be empty."""
        parts = [self.words("chart.summed", names=self.words.listing(self.others))] if self.others else []
        if self.shift:
            parts.append(self.words("chart.blocks", cells=self._cells))
        return self.words("chart.and_then").join(parts)

    def compared(self, truth: CountTable, released: CountTable, width: int | None = None, narrow: bool = False) -> Spec:
        """Two tables beside each other; ``width`` is one map's or the profile's (None: 430, or the page's)."""
        coordinates, (true, out) = self._values(truth, released)
        if not self.is_map:
            labels, (true, out) = self._everywhere(coordinates[0], true, out)
            return profile(labels, true, out, subtitle=self.note, **self._profile_options(width))
        row, column = coordinates
        return side_by_side(
            self._frame,
            row,
            column,
            true,
            out,
            subtitles=(self._subtitle(truth), self._subtitle(released)),
            **self._map_options(width or 430, narrow),
        )

    def released(self, table: CountTable, width: int | None = None, narrow: bool = False) -> Spec:
        """One released table; ``width`` is the map's or the profile's (None: 620, or the page's)."""
        coordinates, (values,) = self._values(table)
        if not self.is_map:
            labels, (values,) = self._everywhere(coordinates[0], values)
            return bars(labels, values, subtitle=self.note, **self._profile_options(width))
        row, column = coordinates
        subtitle = self._subtitle(table)
        return released_map(
            self._frame, row, column, values, subtitle=subtitle, **self._map_options(width or 620, narrow)
        )

    def still(self, table: CountTable, width: int) -> Spec:
        """One released table to look at only: a map whose cells are a picture, drawn as fast as a small one."""
        if not self.is_map:
            return self.released(table, width)
        coordinates, (values,) = self._values(table)
        dense = np.zeros(_coarse(self._attribute.lengths, self.shift))
        dense[tuple(coordinates)] = values
        panel = Panel(self.words("chart.released_counts"), dense, self._subtitle(table))
        return panels(self._frame, [panel], columns=1, what=self.what, width=width, words=self.words)

    def _profile_options(self, width: int | None) -> dict[str, Any]:
        return {"label_title": self.name, "what": self.what, "width": width or "container", "words": self.words}

    def _map_options(self, width: int, narrow: bool) -> dict[str, Any]:
        return {"what": self.what, "width": width, "narrow": narrow, "words": self.words}

    @property
    def _attribute(self) -> Any:
        return self.domain.attributes[self.name]

    @property
    def _frame(self) -> Frame:
        return map_frame(self._attribute, 1 << self.shift, self.words)

    @property
    def _cells(self) -> str:
        """What is drawn as one cell: "500 m cell", "2 x 2 cells of 500 m"."""
        size = re.sub(r"(\d+)", r"\1 ", self._attribute.cell_size) if isinstance(self._attribute, Mesh) else ""
        if not self.shift:
            return self.words("chart.mesh_cell", size=size) if size else self.words("chart.cell")
        side = self.words.number(1 << self.shift)
        number = f"{side} x {side}" if self.is_map else side
        if not size:
            return self.words("chart.cells", number=number)
        return self.words("chart.mesh_cells", number=number, size=size)

    def _subtitle(self, table: CountTable) -> str:
        people = self.words("chart.total", total=table.total)
        return self.words("chart.and_then").join([people, self.note]) if self.note else people

    def _values(self, *tables: CountTable) -> tuple[list[NDArray[np.int64]], list[NDArray[Any]]]:
        """Coordinates of the drawn cells that any of the tables fills, and the values of each table there."""
        lengths = _coarse(self._attribute.lengths, self.shift)
        own = [number for number, axis in enumerate(self.domain.axes) if axis.name == self.name]
        drawn = []
        for table in tables:
            if table.domain != self.domain:
                raise ParameterError("the two tables are over different domains", hint="Draw tables of one domain.")
            coordinates = table.domain.coordinates(table.index)
            values = np.zeros(math.prod(lengths), dtype=table.count.dtype)
            place = np.ravel_multi_index([coordinates[number] >> self.shift for number in own], lengths)
            np.add.at(values, place, table.count)
            drawn.append(values)
        filled = np.flatnonzero(np.any([values != 0 for values in drawn], axis=0))
        return list(np.unravel_index(filled, lengths)), [values[filled] for values in drawn]

    def _everywhere(
        self, place: NDArray[np.int64], *values: NDArray[Any]
    ) -> tuple[list[str], list[NDArray[np.float64]]]:
        """Labels of all drawn places, and values there, zeros included."""
        every = np.arange(_coarse(self._attribute.lengths, self.shift)[0])
        spread = []
        for own in values:
            spread.append(np.zeros(len(every)))
            spread[-1][place] = own
        return [str(label) for label in self._attribute.labels(every << self.shift).tolist()], spread


def map_frame(attribute: Any, side: int = 1, words: Words = ENGLISH) -> Frame:
    """Where the cells of a grid or mesh lie on a map, drawn in blocks of ``side`` x ``side`` cells."""
    rows, columns = ((length - 1) // side + 1 for length in attribute.lengths)
    if not isinstance(attribute, Mesh):
        across, up = words("chart.column"), words("chart.row")
        return Frame(rows, columns, cell_height=side, cell_width=side, x_title=across, y_title=up)
    south, west, north, east = (float(edge[0]) for edge in attribute.corners([0], [0]))
    return Frame(
        rows,
        columns,
        south,
        west,
        (north - south) * side,
        (east - west) * side,
        aspect=_aspect(attribute),
        x_title=words("chart.longitude"),
        y_title=words("chart.latitude"),
    )


def _coarse(lengths: tuple[int, ...], shift: int) -> list[int]:
    return [((length - 1) >> shift) + 1 for length in lengths]


def _aspect(mesh: Mesh) -> float:
    """Width over height on the ground of a cell in the middle of a mesh's window, on a sphere."""
    south, west, north, east = (float(edge[0]) for edge in mesh.corners(*([length // 2] for length in mesh.lengths)))
    return (east - west) * math.cos(math.radians((south + north) / 2)) / (north - south)
