"""Mesh: an attribute whose cells are meshes of JIS X 0410."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.columns import index_range, read_column
from sudare.domain.formula import SqlCalculator, Term
from sudare.domain.mesh import (
    LEVELS,
    by_level,
    centres,
    code_numbers,
    codes_of,
    corners,
    least_code,
    mesh_level,
    of_code,
    of_degrees,
    rows_and_columns,
)
from sudare.domain.place import Lattice, Squares
from sudare.domain.regions import Box, MaskedBox, Region
from sudare.domain.sql import NUMBERS, AttributeSql, Dialect, Kind, SourceColumn, double, parsed
from sudare.errors import DomainError, Message
from sudare.language.messages import PageMessage

_MOST_MASKED = 1 << 28
Squared = dict[str, tuple[Integers, Integers]]
"""Rows and columns of meshes by the name of their level, each level's in order."""


@dataclass(frozen=True)
class Mesh(Lattice):
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
    codes: tuple[str, ...] | None = field(repr=False, compare=False)
    """The coarsest codes that make up the region; None if it is the whole window or has another mask."""

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
            meshes = _coarsest(_declared(codes, size))
            ranges, region = _under(meshes, size)
        elif codes is None and rows is not None and columns is not None:
            meshes, ranges = {}, (index_range(rows, "rows", level.limit), index_range(columns, "columns", level.limit))
            region = Box.over(*ranges)
        else:
            raise DomainError(
                "declare a mesh by rows and columns, or by codes, not both",
                allowed="rows and columns, or codes",
                hint='Write codes=["5339"], or rows=(8480, 8640) and columns=(6240, 6400).',
            )
        self.settle(region, mask, crs, cell_size=size, rows=ranges[0], columns=ranges[1])
        under_codes = isinstance(region, MaskedBox) and self.region is region
        object.__setattr__(self, "codes", tuple(_written(meshes)) if under_codes else None)

    def formula(self, by: Any, latitude: Any, longitude: Any) -> tuple[Any, Any]:
        row, column = of_degrees(by, latitude, longitude, self.cell_size)
        return row - float(self.rows[0]), column - float(self.columns[0])

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        if len(columns) == 2:
            return super().positions(*columns)
        row, column, known = rows_and_columns(
            code_numbers(columns[0], self.cell_size, self.leading_zeros), self.cell_size
        )
        return (row - self.rows[0], column - self.columns[0]), known

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        return codes_of(*self._absolute(coordinates), self.cell_size)

    def corners(self, *coordinates: Any) -> tuple[Floats, Floats, Floats, Floats]:
        return corners(*self._absolute(self._cells(coordinates)), self.cell_size)

    @property
    def cell_name(self) -> str:
        return self.cell_size

    def centres(self, *coordinates: Any) -> tuple[Floats, Floats]:
        return centres(*self._absolute(self._cells(coordinates)), self.cell_size)

    def squares(self, codes: list[Any]) -> tuple[list[Squares], Booleans]:
        """See `Place`: meshes of the attribute's own size or coarser."""
        found, read = by_level(codes, self.cell_size)
        origin, cells = (self.rows[0], self.columns[0]), mesh_level(self.cell_size).cells
        return [
            Squares(cells // mesh_level(name).cells, origin, which, (row, column))
            for name, (which, row, column) in found.items()
        ], read

    @property
    def code_digits(self) -> int:
        return mesh_level(self.cell_size).digits

    @property
    def leading_zeros(self) -> bool:
        """Whether the window reaches south of 6 degrees 40 minutes, where codes begin with zero."""
        return self.rows[0] < 10 * mesh_level(self.cell_size).cells

    def to_json(self) -> dict[str, Any]:
        if self.codes is not None:
            return {"type": self.kind, "size": self.cell_size, "codes": list(self.codes)}
        ranges = {"rows": list(self.rows), "columns": list(self.columns)}
        return {"type": self.kind, "size": self.cell_size, **ranges, **self.mask_json()}

    def describe(self) -> PageMessage:
        rows, columns = self.lengths
        made = PageMessage("described.mesh", size=self.cell_size, rows=rows, columns=columns)
        if self.codes is not None:
            return PageMessage("described.under_codes", attribute=made, cells=self.size)
        return self.masked(made)

    def readable(self, columns: int) -> tuple[tuple[Kind, ...], Message]:
        if columns == 1:
            return (*NUMBERS, "text"), Message("mesh codes as whole numbers or text")
        return super().readable(columns)

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
        if len(columns) == 2:
            return super().sql(columns, prefix, dialect)
        digits, code = self.code_digits, f"{prefix}code"
        if columns[0].kind in ("text", "untyped"):
            all_digits = dialect.matches(f"CAST({columns[0].sql} AS {dialect.text})", f"[0-9]{{{digits}}}")
            read, least = f"CASE WHEN {all_digits} THEN {parsed(columns[0], 'DOUBLE', dialect)} END", 0
        else:
            read, least = double(columns[0], dialect), least_code(digits, self.leading_zeros)
        by = SqlCalculator(prefix)
        row, column = of_code(by, by.within(Term(code, 0), least, 10**digits - 1), self.cell_size)
        return by.axes({code: read}, row - float(self.rows[0]), column - float(self.columns[0]))

    def __repr__(self) -> str:
        if self.codes is not None:
            shown = list(self.codes) if len(self.codes) <= 4 else f"[{self.codes[0]!r}, ... {len(self.codes):,} codes]"
            return f"Mesh({self.cell_size!r}, codes={shown})"
        return f"Mesh({self.cell_size!r}, rows={self.rows}, columns={self.columns})"

    def _absolute(self, coordinates: tuple[Integers, ...]) -> tuple[Integers, Integers]:
        return coordinates[0] + self.rows[0], coordinates[1] + self.columns[0]


def _declared(codes: Any, finest: str) -> Squared:
    """The meshes of declared codes by level; refuses the first that is no code, or finer than wanted."""
    one = isinstance(codes, str | int | np.generic)
    listed = [codes] if one else codes if hasattr(codes, "__array__") else list(codes)
    found, read = by_level(listed, finest)
    if not read.size:
        raise DomainError("there are no mesh codes", allowed="at least one")
    if not read.all():
        lengths = [str(level.digits) for level in LEVELS.values() if level.cells <= mesh_level(finest).cells]
        raise DomainError(
            "a declared code is not a code of the {finest} mesh or a coarser one",
            value=read_column(listed)[0][~read].tolist()[0],
            allowed="JIS X 0410 codes of {lengths} digits",
            finest=finest,
            lengths=", ".join(lengths),
        )
    return {name: (rows, columns) for name, (_, rows, columns) in found.items()}


_STRIDE = 2**20
"""A row and a column make one key: row * 2**20 + column. Both stay below 100 * 640."""


def _coarsest(meshes: Squared) -> Squared:
    """The same meshes as coarse as they can be, so that they are the same however they were declared.

    8 x 8 meshes of 10 km that fill one of 80 km become that one, and what lies inside a coarser mesh is dropped.
    """
    sizes = list(LEVELS)
    keys = {name: np.zeros(0, dtype=np.int64) for name in sizes}
    for name, (rows, columns) in meshes.items():
        keys[name] = np.unique(rows * _STRIDE + columns)

    def inside(fine: str, coarse: str) -> tuple[Integers, int]:
        """The coarse meshes that hold the fine ones, and how many fit into each."""
        ratio = mesh_level(fine).cells // mesh_level(coarse).cells
        return keys[fine] // _STRIDE // ratio * _STRIDE + keys[fine] % _STRIDE // ratio, ratio**2

    for coarse, fine in reversed(list(pairwise(sizes))):
        holding, most = inside(fine, coarse)
        parents, members = np.unique(holding, return_counts=True)
        keys[coarse] = np.union1d(keys[coarse], parents[members == most])
    for coarse, fine in combinations(sizes, 2):
        keys[fine] = keys[fine][~np.isin(inside(fine, coarse)[0], keys[coarse])]
    return {name: np.divmod(own, _STRIDE) for name, own in keys.items() if own.size}


def _under(meshes: Squared, size: str) -> tuple[tuple[tuple[int, int], tuple[int, int]], Region]:
    """The bounding box of meshes in rows and columns of ``size``, and its region: a mask of meshes of the finest level.

    Meshes that fill their bounding box are a window: the same domain, however it was declared.
    """
    finest = mesh_level(list(meshes)[-1])
    side = mesh_level(size).cells // finest.cells
    ratios = {name: finest.cells // mesh_level(name).cells for name in meshes}
    ranges = []
    for axis in (0, 1):
        low = min(int(own[axis].min()) * ratios[name] for name, own in meshes.items())
        high = max((int(own[axis].max()) + 1) * ratios[name] for name, own in meshes.items())
        ranges.append((low, high))
    lengths = tuple(high - low for low, high in ranges)
    if prod(lengths) > _MOST_MASKED:
        raise DomainError("the window is too large for a mask", allowed="at most 2**28 cells")
    mask = np.zeros(lengths, dtype=bool)
    for name, (rows, columns) in meshes.items():
        ratio = ratios[name]
        south, west = rows * ratio - ranges[0][0], columns * ratio - ranges[1][0]
        if ratio == 1:
            mask[south, west] = True
        for row, column in zip(south.tolist(), west.tolist(), strict=True) if ratio > 1 else ():
            mask[row : row + ratio, column : column + ratio] = True
    window = (ranges[0][0] * side, ranges[0][1] * side), (ranges[1][0] * side, ranges[1][1] * side)
    return window, Box.over(*window) if mask.all() else MaskedBox(mask, side)


def _written(meshes: Squared) -> list[str]:
    """The codes of meshes, coarse to fine."""
    return [
        f"{code:0{mesh_level(name).digits}}" for name, own in meshes.items() for code in codes_of(*own, name).tolist()
    ]
