"""What of a table can be drawn: a map if there is an area, a profile along one attribute if not."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.domain import CountTable, Domain, Place
from sudare.errors import ParameterError
from sudare.language.catalogue import ENGLISH, Words
from sudare.render.charts import Spec
from sudare.render.curves import bars, profile
from sudare.render.map_data import Layer, edges, frame_of, map_content, map_shift, place_count, places_of
from sudare.render.maps import Frame, Panel, panels
from sudare.render.outlines import Outline

MOST_PLACES = 256  # of a profile
LEVEL = 0.9
"""The probability with which an interval on a map holds the truth."""


@dataclass(frozen=True)
class View:
    """How tables over ``domain`` are drawn: over the attribute ``name`` alone, summed over all others.

    A drawn cell is 2**shift cells along each axis.

    >>> from sudare.domain import Categories, Grid
    >>> view = View.of(Domain(sex=Categories(["f", "m"]), cell=Grid(2000, 1000)))
    >>> view.name, view.what, view.note
    ('cell', 'people per 2 x 2 cells', 'summed over sex; drawn in blocks of 2 x 2 cells')
    """

    domain: Domain
    name: str
    shift: int
    words: Words = ENGLISH

    @classmethod
    def of(cls, domain: Domain, words: Words = ENGLISH, name: str | None = None) -> View:
        """The view of ``name``, or of what shows most: a place, else two axes, a spatial attribute, or the first."""
        attributes = domain.attributes

        def shown(name: str) -> tuple[bool, int, bool]:
            own = attributes[name]
            return isinstance(own, Place) and own.drawable, len(own.lengths), own.spatial

        name = max(attributes, key=shown) if name is None else name
        if attributes[name].drawable:
            return cls(domain, name, map_shift(attributes[name]), words)
        lengths, shift = attributes[name].lengths, 0
        while math.prod(_coarse(lengths, shift)) > MOST_PLACES:
            shift += 1
        return cls(domain, name, shift, words)

    @property
    def is_map(self) -> bool:
        """Whether the attribute has rows and columns, or polygons."""
        return bool(self._attribute.drawable)

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

    def profile(self, *tables: CountTable, width: int | None = None) -> Spec:
        """One released table, or the true one and the released one, along the attribute; ``width`` or the page's."""
        lengths, values = self._sums(*tables)
        labels = [str(label) for label in self._attribute.labels(np.arange(lengths[0]) << self.shift).tolist()]
        drawn = profile if len(tables) == 2 else bars
        look = {"label_title": self.name, "what": self.what, "subtitle": self.note, "width": width or "container"}
        return drawn(labels, *values, words=self.words, **look)

    def map(
        self, titled: Mapping[str, CountTable], *, bars: Any = None, outline: Outline | None = None
    ) -> dict[str, Any]:
        """The content of a map of tables by their titles; ``bars(block_level)`` gives error bars of the only one."""
        attribute = self._attribute
        known = self._intervals(bars) if bars is not None and len(titled) == 1 else {}
        layers = []
        for title, table in titled.items():
            if table.domain != self.domain:
                raise ParameterError("the two tables are over different domains", hint="Draw tables of one domain.")
            place = places_of(attribute, self._own(table.domain.coordinates(table.index)))
            values = np.zeros(place_count(attribute), dtype=table.count.dtype)
            np.add.at(values, place, table.count)
            filled = np.flatnonzero(values)
            layers.append(Layer(title, self._subtitle(table), filled, values[filled], **self._at(known, filled)))
        return map_content(attribute, layers, self.words, what=self.what, outline=outline)

    @property
    def box(self) -> tuple[float, float, float, float] | None:
        """West, south, east and north of the map in degrees; None where it is not on the earth."""
        if not self.is_map or not isinstance(self._attribute, Place):
            return None
        return frame_of(self._attribute).box

    def picture(self, titled: Mapping[str, CountTable], width: int) -> Spec:
        """Maps beside each other to look at only, as pictures with axes; of rows and columns."""
        shown = []
        for title, table in titled.items():
            lengths, (values,) = self._sums(table)
            shown.append(Panel(title, values.reshape(lengths), self._subtitle(table)))
        frame = map_frame(self._attribute, 1 << self.shift, self.words)
        return panels(frame, shown, columns=len(shown), what=self.what, width=width, words=self.words)

    def _intervals(self, bars: Any) -> dict[str, Any]:
        """Places and intervals there; none where a place is no block of the index, as with two places."""
        axes = [number for number, axis in enumerate(self.domain.axes) if axis.name == self.name]
        own = len(axes) * self.shift
        level = own + sum(
            (length - 1).bit_length() for number, length in enumerate(self.domain.shape) if number not in axes
        )
        last = self.domain.coordinates([(1 << level) - 1])
        if any(int(last[axis][0]) != (1 << self.shift) - 1 for axis in axes):
            return {}
        found = bars(level)
        place = places_of(self._attribute, self._own(self.domain.coordinates(found.block << level)))
        elsewhere = float(found.elsewhere.low[0]), float(found.elsewhere.high[0])
        return {"place": place, "low": found.low, "high": found.high, "elsewhere": elsewhere}

    @staticmethod
    def _at(known: dict[str, Any], filled: Integers) -> dict[str, Any]:
        if not known or not len(known["place"]):
            return {}
        order = np.argsort(known["place"], kind="stable")
        if not np.array_equal(known["place"][order], filled):
            return {}
        return {"low": known["low"][order], "high": known["high"][order], "elsewhere": known["elsewhere"]}

    def _own(self, coordinates: Sequence[Integers]) -> list[Integers]:
        return [coordinates[number] for number, axis in enumerate(self.domain.axes) if axis.name == self.name]

    @property
    def _attribute(self) -> Any:
        return self.domain.attributes[self.name]

    @property
    def _cells(self) -> str:
        """What is drawn as one cell: "500 m cell", "2 x 2 cells of 500 m"."""
        name = self._attribute.cell_name if isinstance(self._attribute, Place) else ""
        size = re.sub(r"^(\d+)(k?m)$", r"\1 \2", name)
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

    def _sums(self, *tables: CountTable) -> tuple[list[int], list[NDArray[Any]]]:
        """Drawn cells along each axis, and the values of each table in all of them."""
        lengths = _coarse(self._attribute.lengths, self.shift)
        drawn = []
        for table in tables:
            if table.domain != self.domain:
                raise ParameterError("the two tables are over different domains", hint="Draw tables of one domain.")
            coordinates = self._own(table.domain.coordinates(table.index))
            values = np.zeros(math.prod(lengths), dtype=table.count.dtype)
            np.add.at(values, np.ravel_multi_index([each >> self.shift for each in coordinates], lengths), table.count)
            drawn.append(values)
        return lengths, drawn


def map_frame(attribute: Any, side: int = 1, words: Words = ENGLISH) -> Frame:
    """Where the cells of a grid or a place lie on a map, drawn in blocks of ``side`` x ``side`` cells."""
    rows, columns = ((length - 1) // side + 1 for length in attribute.lengths)
    bounds = degree_bounds(attribute)
    if bounds is None:
        across, up = words("chart.column"), words("chart.row")
        return Frame(rows, columns, cell_height=side, cell_width=side, x_title=across, y_title=up)
    south, west, north, east = bounds
    height, width = (north - south) / attribute.lengths[0], (east - west) / attribute.lengths[1]
    return Frame(
        rows,
        columns,
        south,
        west,
        height * side,
        width * side,
        aspect=width * math.cos(math.radians((south + north) / 2)) / height,
        x_title=words("chart.longitude"),
        y_title=words("chart.latitude"),
    )


def degree_bounds(attribute: Any) -> tuple[float, float, float, float] | None:
    """South, west, north and east of a place whose cells are rectangles in degrees; the east may pass 180."""
    if attribute.plane not in ("degrees", "mercator"):
        return None
    return edges(attribute)


def _coarse(lengths: tuple[int, ...], shift: int) -> list[int]:
    return [((length - 1) >> shift) + 1 for length in lengths]
