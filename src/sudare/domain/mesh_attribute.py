"""Mesh: an attribute whose cells are meshes of JIS X 0410."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.columns import index_range
from sudare.domain.mesh import LEVELS, centres, codes_of, corners, mesh_level, row_areas, rows_and_columns_at
from sudare.domain.mesh_sql import codes_sql, degrees_sql
from sudare.domain.place import Place, Squares
from sudare.domain.regions import Box, MaskedBox, Region
from sudare.domain.shapes import Shapes
from sudare.domain.sql import NUMBERS, AttributeSql, Dialect, Kind, SourceColumn, called
from sudare.errors import DomainError, Message
from sudare.language.messages import PageMessage

if TYPE_CHECKING:
    from sudare.domain.mesh_region import MeshRegion


@dataclass(frozen=True)
class Mesh(Place):
    """Meshes of one size: a window of half-open absolute rows and columns, or what lies under codes.

    ``size`` is one of "80km", "10km", "1km", "500m", "250m", "125m" (kept as ``cell_size``; ``.size`` is the number of
    cells as everywhere). ``code_list`` is a public file of codes, of which ``areas`` takes those of prefectures and
    municipalities by name or code (see `sudare.domain.public_codes`). ``codes`` may be of that level or any coarser
    one, mixed or not; the window is then their bounding box, and the rest of it is masked. ``mask`` is a public file of
    polygons or codes outside of which nobody can be, ``crs`` the system that coordinates are in.

    >>> mesh = Mesh("500m", codes=["5339"])
    >>> mesh.lengths, mesh.rows, mesh.columns
    ((160, 160), (8480, 8640), (6240, 6400))
    >>> coordinates, inside = mesh.locate([533946113, 999999999])
    >>> [axis.tolist() for axis in coordinates], inside.tolist()
    ([[83, 0], [122, 0]], [True, False])
    """

    kind: ClassVar[str] = "mesh"
    epsg: ClassVar[int] = 6668
    """JGD2011, the datum of the mesh statistics since 2015."""

    cell_size: str
    rows: tuple[int, int]
    columns: tuple[int, int]
    region: Region = field(repr=False)

    def __init__(
        self,
        size: str,
        rows: Sequence[int] | None = None,
        columns: Sequence[int] | None = None,
        codes: Iterable[str] | Iterable[int] | None = None,
        *,
        code_list: Any = None,
        areas: Iterable[str | int] | None = None,
        mask: Any = None,
        crs: str | int | None = None,
    ) -> None:
        level = mesh_level(size)
        region: Region
        if code_list is not None or areas is not None:
            if code_list is None or codes is not None:
                raise DomainError(
                    "areas needs code_list, and code_list cannot be combined with codes",
                    hint='Write code_list="13.csv", areas=["Tokyo"].',
                )
            from sudare.domain.public_codes import meshes_of  # few recipes have such a list

            codes = meshes_of(Path(code_list), areas)
        if codes is not None and rows is None and columns is None:
            from sudare.domain.mesh_codes import read_declared_codes
            from sudare.domain.mesh_region import mesh_region

            squares = mesh_region(read_declared_codes(_listed(codes), size), size)
            south, west = squares.origin
            row_range = (south, south + squares.lengths[0])
            column_range = (west, west + squares.lengths[1])
            # Codes that fill their bounding box are a window: the same domain, however it was declared.
            filled = squares.size == squares.lengths[0] * squares.lengths[1]
            region = Box(squares.lengths) if filled else squares
        elif codes is None and rows is not None and columns is not None:
            row_range = index_range(rows, "rows", level.limit)
            column_range = index_range(columns, "columns", level.limit)
            region = Box.over(row_range, column_range)
        else:
            raise DomainError(
                "declare a mesh by rows and columns, or by codes, not both",
                allowed="rows and columns, or codes",
                hint='Write codes=["5339"], or rows=(8480, 8640) and columns=(6240, 6400).',
            )
        self.settle(region, mask, crs, cell_size=size, rows=row_range, columns=column_range)

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        """One column of codes, or latitudes and longitudes in degrees."""
        if len(columns) == 2:
            row, column, known = rows_and_columns_at(*self.degrees(*columns), self.cell_size)
        else:
            from sudare.domain.mesh_codes import read_codes

            row, column, known = read_codes(columns[0], self.cell_size, self.leading_zeros)
        return (row - self.rows[0], column - self.columns[0]), known

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        """Mesh codes as int64."""
        return codes_of(*self._absolute(coordinates), self.cell_size)

    def corners(self, *coordinates: Any) -> tuple[Floats, Floats, Floats, Floats]:
        """South, west, north and east of cells in degrees."""
        return corners(*self._absolute(self._cells(coordinates)), self.cell_size)

    def shapes(self, *coordinates: Any) -> Shapes:
        """See `Place`."""
        south, west, north, east = self.corners(*coordinates)
        return Shapes.boxes(west, south, east, north)

    @property
    def cell_name(self) -> str:
        """See `Place`."""
        return self.cell_size

    def centres(self, *coordinates: Any) -> tuple[Floats, Floats]:
        """Latitude and longitude of the centres of cells."""
        return centres(*self._absolute(self._cells(coordinates)), self.cell_size)

    @property
    def square_km(self) -> float:
        """The area of all cells together on the ground, as if at sea level.

        A cell is a rectangle in degrees on the ellipsoid GRS80, whose area has a closed form, so the sum is exact but
        for rounding. One cell of 500 m has 0.26 square kilometres in Tokyo and 0.30 in Okinawa, not 0.25.

        >>> round(Mesh("80km", codes=["5339"]).square_km)
        6697
        """
        rows = np.arange(self.lengths[0], dtype=np.int64)
        cells = self.block_counts((0, (self.lengths[1] - 1).bit_length()), rows, np.zeros_like(rows))
        return float(cells @ row_areas(rows + self.rows[0], self.cell_size))

    def squares(self, codes: list[Any]) -> tuple[list[Squares], Booleans]:
        """See `Place`: meshes of the attribute's own size or coarser."""
        from sudare.domain.mesh_codes import read_codes

        found, read = [], np.zeros(len(codes), dtype=np.bool_)
        for level in LEVELS.values():
            if level.cells <= mesh_level(self.cell_size).cells:
                row, column, valid = read_codes(codes, level.name)
                which = np.flatnonzero(valid & ~read)
                read |= valid
                side = mesh_level(self.cell_size).cells // level.cells
                if len(which):
                    origin = (self.rows[0], self.columns[0])
                    found.append(Squares(side, origin, which, (row[which], column[which])))
        return found, read

    @property
    def codes(self) -> tuple[str, ...] | None:
        """The coarsest codes that make up the region; None if it is the whole window."""
        return None if isinstance(self.region, Box | MaskedBox) else tuple(cast("MeshRegion", self.region).codes())

    @property
    def leading_zeros(self) -> bool:
        """Whether the window reaches south of 6 degrees 40 minutes, where codes begin with zero."""
        return self.rows[0] < 10 * mesh_level(self.cell_size).cells

    def to_json(self) -> dict[str, Any]:
        """``size`` with ``rows`` and ``columns``, or with ``codes``."""
        if self.codes is not None:
            return {"type": self.kind, "size": self.cell_size, "codes": list(self.codes)}
        return {
            "type": self.kind,
            "size": self.cell_size,
            "rows": list(self.rows),
            "columns": list(self.columns),
            **self.mask_json(),
        }

    def describe(self) -> PageMessage:
        """The size of the cells, the window, and the cells under codes if they do not fill it."""
        rows, columns = self.lengths
        made = PageMessage("described.mesh", size=self.cell_size, rows=rows, columns=columns)
        if self.codes is not None:
            return PageMessage("described.under_codes", attribute=made, cells=self.size)
        return self.masked(made)

    def readable(self, columns: int) -> tuple[tuple[Kind, ...], Message]:
        """See `Attribute`."""
        if columns == 1:
            return (*NUMBERS, "text"), Message("mesh codes as whole numbers or text")
        return NUMBERS, Message("degrees as numbers")

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
        """See `Attribute`."""
        if len(columns) == 2 and self.crs is not None:
            return called(self, columns, prefix, dialect)
        if len(columns) == 2:
            return degrees_sql(columns, (self.rows[0], self.columns[0]), self.cell_size, prefix, dialect)
        # A whole number has no leading zeros, unless the domain reaches so far south that codes begin with one.
        origin = self.rows[0], self.columns[0]
        return codes_sql(columns[0], origin, self.cell_size, self.leading_zeros, prefix, dialect)

    def __repr__(self) -> str:
        if self.codes is not None:
            return f"Mesh({self.cell_size!r}, codes={_shortened(self.codes)})"
        return f"Mesh({self.cell_size!r}, rows={self.rows}, columns={self.columns})"

    def _absolute(self, coordinates: tuple[Integers, ...]) -> tuple[Integers, Integers]:
        return coordinates[0] + self.rows[0], coordinates[1] + self.columns[0]


def _listed(codes: Any) -> Any:
    """Codes as one array; a single code is a list of one."""
    if isinstance(codes, str | int | np.generic):
        return [codes]
    return codes if hasattr(codes, "__array__") else list(codes)


def _shortened(codes: Sequence[str]) -> str:
    return repr(list(codes)) if len(codes) <= 4 else f"[{codes[0]!r}, ... {len(codes):,} codes]"
