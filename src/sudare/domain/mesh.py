"""The Japanese standard mesh, JIS X 0410: codes, rows and columns, latitudes and longitudes.

A mesh of the first level (80 km) spans 40 minutes of latitude and 1 degree of longitude. Each is cut into
8 x 8 meshes of 10 km, these into 10 x 10 of 1 km, and these in halves: 500 m, 250 m, 125 m. At every level
rows count northwards from latitude 0 and columns eastwards from longitude 100.

A code of 500 m is written ``aabbcdefg``: row and column of the first level (aa, bb), of the second inside
it (c, d), of the third inside that (e, f), and a quarter g: 1 south-west, 2 south-east, 3 north-west, 4
north-east.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.columns import read_column, whole_array, within
from sudare.domain.formula import Calculator, NumpyCalculator, whole_numbers
from sudare.domain.text import plain
from sudare.errors import DomainError, did_you_mean

FIRST_LEVEL_ROWS = 100
"""First-level rows and columns have two digits each: latitude 0 to 66.7, longitude 100 to 200."""

BOUNDARY_TOLERANCE = 1e-9
"""In cells: what `of_degrees` adds before it rounds down."""


@dataclass(frozen=True)
class MeshLevel:
    """One level of the mesh: ``digits`` of a code, and ``cells`` along a side of a first-level mesh."""

    name: str
    digits: int
    cells: int

    @property
    def limit(self) -> int:
        """Rows, and as many columns, of the whole system."""
        return FIRST_LEVEL_ROWS * self.cells

    @property
    def rows_per_degree(self) -> float:
        """Rows in a degree of latitude: 240 for 500 m."""
        return self.cells * 1.5

    @property
    def columns_per_degree(self) -> int:
        """Columns in a degree of longitude: 160 for 500 m."""
        return self.cells


LEVELS = {
    level.name: level
    for level in (
        MeshLevel("80km", 4, 1),
        MeshLevel("10km", 6, 8),
        MeshLevel("1km", 8, 80),
        MeshLevel("500m", 9, 160),
        MeshLevel("250m", 10, 320),
        MeshLevel("125m", 11, 640),
    )
}
"""Coarse to fine."""


def mesh_level(size: Any) -> MeshLevel:
    """The level with this name.

    >>> mesh_level("500m")
    MeshLevel(name='500m', digits=9, cells=160)
    """
    if not isinstance(size, str) or size not in LEVELS:
        raise DomainError(
            "there is no such mesh size",
            value=size,
            allowed=LEVELS,
            hint=did_you_mean(str(size), LEVELS),
        )
    return LEVELS[size]


def level_of_digits(digits: int) -> MeshLevel | None:
    """The level whose codes have this many digits, or None."""
    return next((level for level in LEVELS.values() if level.digits == digits), None)


def of_code(by: Calculator, code: Any, size: str) -> tuple[Any, Any]:
    """Row and column of a code of one level, given as a double; one of them is not known for what is no code.

    All numbers here are below 2**53, so that quotients of doubles round down to those of whole numbers.
    """
    digits = mesh_level(size).digits
    code = by.within(code, 0, 10**digits - 1)
    begins = [by.let(by.floor(code / 10.0 ** (digits - place))) for place in range(digits)] + [code]
    digit = [begins[place + 1] - begins[place] * 10.0 for place in range(digits)]
    row, column = begins[2], begins[4] - begins[2] * 100.0
    if digits >= 6:
        row, column = row * 8.0 + by.within(digit[4], 0, 7), column * 8.0 + by.within(digit[5], 0, 7)
    if digits >= 8:
        row, column = row * 10.0 + digit[6], column * 10.0 + digit[7]
    for quarter in digit[8:]:
        after = by.within(quarter, 1, 4) - 1.0
        north = by.let(by.floor(after / 2.0))
        row, column = by.let(row * 2.0 + north), by.let(column * 2.0 + (after - north * 2.0))
    # A fraction is no code.
    return row + by.within(code - by.floor(code), 0, 0), column


def rows_and_columns(codes: Any, size: str) -> tuple[Integers, Integers, Booleans]:
    """Rows and columns of numbers that may be codes of one level; what is none has ``valid=False`` and 0, 0.

    >>> row, column, valid = rows_and_columns(np.array([533946113, 533946115]), "500m")
    >>> row.tolist(), column.tolist(), valid.tolist()
    ([8563, 0], [6362, 0], [True, False])
    """
    found = of_code(NumpyCalculator(), np.asarray(codes, dtype=np.float64), size)
    (row, row_known), (column, column_known) = map(whole_numbers, found)
    valid = row_known & column_known
    return np.where(valid, row, 0), np.where(valid, column, 0), valid


def least_code(digits: int, leading_zeros: bool) -> int:
    """The least whole number that is a code; it cannot begin with zero, as codes south of 6 degrees 40 minutes do."""
    return 0 if leading_zeros else 10 ** (digits - 1)


def code_numbers(column: Any, size: str, leading_zeros: bool = False) -> Floats:
    """A column of whole numbers, floats that hold them, text, or a mixture, as numbers that may be codes of a level.

    NaN where not all digits of the level are there; ``leading_zeros`` reads numbers as if their zeros were written.
    """
    array, masked = read_column(column)
    digits = mesh_level(size).digits
    least, limit = least_code(digits, leading_zeros), 10**digits
    known: dict[str, float] = {}

    def number(value: Any) -> float:
        if isinstance(value, str):
            if value not in known:
                text = plain(value)
                known[value] = float(text) if len(text) == digits and text.isascii() and text.isdecimal() else np.nan
            return known[value]
        if type(value) is bool or not isinstance(value, Real | Decimal) or value != value:
            return np.nan
        return float(value) if least <= value < limit else np.nan  # type: ignore[operator]  # reals are in order

    if array.dtype.kind in "iuf":
        numbers = np.where((array >= least) & (array < limit), array, np.nan).astype(np.float64)
    else:
        numbers = np.array(list(map(number, array.tolist())), dtype=np.float64)
    return numbers if masked is None else np.where(masked, np.nan, numbers)


def by_level(codes: Any, finest: str) -> tuple[dict[str, tuple[Integers, Integers, Integers]], Booleans]:
    """Codes of any level down to the ``finest`` by the level's name: which ones, rows and columns; and which are codes.

    >>> found, read = by_level(["5339", 53394611, "x"], "500m")
    >>> {size: [each.tolist() for each in own] for size, own in found.items()}, read.tolist()
    ({'80km': [[0], [53], [39]], '1km': [[1], [4281], [3181]]}, [True, True, False])
    """
    found, read = {}, np.zeros(read_column(codes)[0].shape, dtype=np.bool_)
    for level in LEVELS.values():
        if level.cells <= mesh_level(finest).cells:
            row, column, valid = rows_and_columns(code_numbers(codes, level.name), level.name)
            which = np.flatnonzero(valid)
            read[which] = True
            if which.size:
                found[level.name] = (which, row[which], column[which])
    return found, read


def codes_of(rows: Any, columns: Any, size: str) -> Integers:
    """The codes at these rows and columns, as whole numbers.

    >>> codes_of([8563], [6362], "500m").tolist()
    [533946113]
    """
    row, column = _within_system(rows, columns, size)
    level = mesh_level(size)
    codes, unit = np.zeros_like(row + column), level.cells
    # Into how many numbers a row is written at a level, and into how many parts a mesh is cut for the next.
    for numbers, cuts in ((100, 8), (10, 10), (10, 2))[: level.digits // 2 - 1]:
        (down, row), (across, column) = np.divmod(row, unit), np.divmod(column, unit)
        codes, unit = (codes * numbers + down) * numbers + across, unit // cuts
    for _ in range(max(0, level.digits - 8)):
        (down, row), (across, column) = np.divmod(row, unit), np.divmod(column, unit)
        codes, unit = codes * 10 + 1 + 2 * down + across, unit // 2
    return codes


def of_degrees(by: Calculator, latitude: Any, longitude: Any, size: str) -> tuple[Any, Any]:
    """Row and column of a place in degrees, possibly outside the system.

    A mesh holds its southern and western border and not its northern and eastern one:
    row = floor(latitude * rows_per_degree + 1e-9), column = floor((longitude - 100) * columns_per_degree +
    1e-9). The 1e-9 of a mesh (half a micrometre of 500 m) sends a decimal that means a border, such as
    35.675, to the northern side even if its double is slightly below.
    """
    level = mesh_level(size)
    north = by.clip(by.within(latitude, -np.inf, np.inf), -90.0, 90.0)
    east = by.clip(by.within(longitude, -np.inf, np.inf), -360.0, 360.0)
    return (
        by.floor(north * level.rows_per_degree + BOUNDARY_TOLERANCE),
        by.floor((east - 100.0) * float(level.columns_per_degree) + BOUNDARY_TOLERANCE),
    )


def corners(rows: Any, columns: Any, size: str) -> tuple[Floats, Floats, Floats, Floats]:
    """South, west, north and east of meshes in degrees, each rounded once.

    >>> south, west, north, east = corners([8562], [6362], "500m")
    >>> south.tolist(), west.tolist()
    ([35.675], [139.7625])
    """
    row, column = _within_system(rows, columns, size)
    return (*_degrees(2 * row, 2 * column, size), *_degrees(2 * row + 2, 2 * column + 2, size))


def centres(rows: Any, columns: Any, size: str) -> tuple[Floats, Floats]:
    """Latitude and longitude of the centres of meshes.

    >>> row, column, _ = rows_and_columns(np.array([533946114]), "500m")
    >>> [float(degrees[0]) for degrees in centres(row, column, "500m")]
    [35.68125, 139.771875]
    """
    row, column = _within_system(rows, columns, size)
    return _degrees(2 * row + 1, 2 * column + 1, size)


def parents(codes: Integers, size: str, coarser: str) -> Integers:
    """The codes of the meshes of a coarser level (or the same) that hold these: a code's first digits.

    >>> parents(np.array([533946113]), "500m", "10km").tolist()
    [533946]
    """
    _coarse_to_fine(coarser, size)
    return np.asarray(codes // 10 ** (mesh_level(size).digits - mesh_level(coarser).digits), dtype=np.int64)


def children(codes: Integers, size: str, finer: str) -> Integers:
    """The codes of the meshes of a finer level inside each: shape (codes, children), from south-west on.

    >>> children(np.array([53394611]), "1km", "500m").tolist()
    [[533946111, 533946112, 533946113, 533946114]]
    """
    _coarse_to_fine(size, finer)
    rows, columns, valid = rows_and_columns(codes, size)
    if not valid.all():
        raise DomainError("a code is not of the {size} mesh", value=int(codes[~valid][0]), size=size)
    sides = mesh_level(finer).cells // mesh_level(size).cells
    north, east = np.divmod(np.arange(sides * sides, dtype=np.int64), sides)
    return codes_of(rows[:, None] * sides + north, columns[:, None] * sides + east, finer)


def _coarse_to_fine(coarse: str, fine: str) -> None:
    if mesh_level(coarse).cells > mesh_level(fine).cells:
        raise DomainError(
            "a mesh cannot be divided into meshes of a coarser size",
            value=fine,
            allowed="{coarse} or finer",
            coarse=coarse,
        )


def _within_system(rows: Any, columns: Any, size: str) -> tuple[Integers, Integers]:
    limit = mesh_level(size).limit
    row, column = whole_array(rows, "a mesh row"), whole_array(columns, "a mesh column")
    for array in (row, column):
        if not within(array, limit):
            raise DomainError(
                "a row or column is outside the {size} mesh", allowed="0 to {limit}", size=size, limit=limit - 1
            )
    return row, column


def _degrees(half_rows: Integers, half_columns: Integers, size: str) -> tuple[Floats, Floats]:
    """Latitude and longitude of places counted in half cells: one division each, so one rounding."""
    level = mesh_level(size)
    east_of_greenwich = half_columns + 2 * 100 * level.columns_per_degree
    return half_rows / (2 * level.rows_per_degree), east_of_greenwich / (2 * level.columns_per_degree)
