"""The Japanese standard mesh, JIS X 0410: codes, rows and columns, latitudes and longitudes.

A mesh of the first level (80 km) spans 40 minutes of latitude and 1 degree of longitude. Each is cut into
8 x 8 meshes of 10 km, these into 10 x 10 of 1 km, and these in halves: 500 m, 250 m, 125 m. At every level
rows count northwards from latitude 0 and columns eastwards from longitude 100.

A code of 500 m is written ``aabbcdefg``: row and column of the first level (aa, bb), of the second inside
it (c, d), of the third inside that (e, f), and a quarter g: 1 south-west, 2 south-east, 3 north-west, 4
north-east. A row adds its digits to the code and a column adds its own, so both ways are table look-ups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.columns import floats_within, read_numbers, whole_array, within
from sudare.errors import DomainError, did_you_mean

FIRST_LEVEL_ROWS = 100
"""First-level rows and columns have two digits each: latitude 0 to 66.7, longitude 100 to 200."""

_COLUMN_BITS = 32
_NOT_A_DIGIT = -(2**58)
"""Added for a digit out of range: any sum with one to eleven of them is negative and fits int64."""

_POLAR_RADIUS_KM = 6356.75231414
_ECCENTRICITY = 0.0818191910428158

BOUNDARY_TOLERANCE = 1e-9
"""In cells: what `rows_and_columns_at` adds before it rounds down."""


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
    def quarters(self) -> int:
        """How many quarter digits a code has."""
        return max(0, self.digits - 8)

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


def rows_and_columns(codes: Integers, size: str) -> tuple[Integers, Integers, Booleans]:
    """Rows and columns of whole-number codes of one level; what is no code has ``valid=False`` and 0, 0.

    >>> row, column, valid = rows_and_columns(np.array([533946113, 533946115]), "500m")
    >>> row.tolist(), column.tolist(), valid.tolist()
    ([8563, 0], [6362, 0], [True, False])
    """
    level = mesh_level(size)
    valid = (codes >= 0) & (codes < 10**level.digits)
    rest = np.where(valid, codes, 0)
    packed = np.zeros(rest.shape, dtype=np.int64)
    for digits, table in _reading_tables(size):
        before = rest // 10**digits
        packed += table[rest - before * 10**digits]
        rest = before
    valid &= packed >= 0
    packed[~valid] = 0
    return packed >> _COLUMN_BITS, packed & ((1 << _COLUMN_BITS) - 1), valid


def codes_of(rows: Any, columns: Any, size: str) -> Integers:
    """The codes at these rows and columns, as whole numbers.

    >>> codes_of([8563], [6362], "500m").tolist()
    [533946113]
    """
    of_rows, of_columns = _writing_tables(size)
    row, column = _within_system(rows, columns, size)
    return np.asarray(of_rows[row] + of_columns[column], dtype=np.int64)


def rows_and_columns_at(latitudes: Any, longitudes: Any, size: str) -> tuple[Integers, Integers, Booleans]:
    """Rows and columns of places in degrees, possibly outside the system, and which places are known.

    A mesh holds its southern and western border and not its northern and eastern one:
    row = floor(latitude * rows_per_degree + 1e-9), column = floor((longitude - 100) * columns_per_degree +
    1e-9). The 1e-9 of a mesh (half a micrometre of 500 m) sends a decimal that means a border, such as
    35.675, to the northern side even if its double is slightly below.

    >>> row, column, known = rows_and_columns_at([35.675], [139.7625], "500m")
    >>> codes_of(row, column, "500m").tolist()
    [533946111]
    """
    level = mesh_level(size)
    latitude, latitude_known = read_numbers(latitudes, "a latitude")
    longitude, longitude_known = read_numbers(longitudes, "a longitude")
    if latitude.shape != longitude.shape:
        raise DomainError("latitudes and longitudes have different lengths")
    known = latitude_known & longitude_known
    north = np.where(known, latitude, 0.0) * level.rows_per_degree
    east = (np.where(known, longitude, 100.0) - 100.0) * level.columns_per_degree
    return _floor(north), _floor(east), known


def corners(rows: Any, columns: Any, size: str) -> tuple[Floats, Floats, Floats, Floats]:
    """South, west, north and east of meshes in degrees, each rounded once.

    >>> south, west, north, east = corners([8562], [6362], "500m")
    >>> south.tolist(), west.tolist()
    ([35.675], [139.7625])
    """
    row, column = _within_system(rows, columns, size)
    return (*_degrees(2 * row, 2 * column, size), *_degrees(2 * row + 2, 2 * column + 2, size))


def row_areas(rows: Integers, size: str) -> Floats:
    """Square kilometres of one cell in each of these rows, on the ellipsoid GRS80 (that of the maps of Japan).

    Between two latitudes a strip of one radian of longitude has the difference of
    b**2 / 2 * (s / (1 - e**2 * s**2) + atanh(e * s) / e), where s is the sine of the latitude.
    """
    level = mesh_level(size)
    sine = np.sin(np.radians(np.stack([rows, rows + 1]) / level.rows_per_degree))
    south, north = sine / (1 - _ECCENTRICITY**2 * sine**2) + np.arctanh(_ECCENTRICITY * sine) / _ECCENTRICITY
    return np.asarray(_POLAR_RADIUS_KM**2 / 2 * (north - south) * np.radians(1 / level.columns_per_degree))


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


def _floor(positions: Floats) -> Integers:
    return floats_within(np.floor(positions + BOUNDARY_TOLERANCE))


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


@lru_cache
def _reading_tables(size: str) -> tuple[tuple[int, Integers], ...]:
    """A code's digits in groups of at most four, last group first: how many, and what each value adds.

    An entry is row * 2**32 + column in cells of the level, or negative where a digit is out of range.
    """
    level = mesh_level(size)
    north, east = level.cells << _COLUMN_BITS, level.cells
    digits = [_digit(10 * north), _digit(north), _digit(10 * east), _digit(east)]
    if level.digits >= 6:
        digits += [_digit(north // 8, allowed=8), _digit(east // 8, allowed=8)]
    if level.digits >= 8:
        digits += [_digit(north // 80), _digit(east // 80)]
    for quarter in range(1, level.quarters + 1):
        half = level.cells // 80 >> quarter
        south_west_first = [0, half, half << _COLUMN_BITS, (half << _COLUMN_BITS) + half]
        digits.append(np.array([_NOT_A_DIGIT, *south_west_first, *[_NOT_A_DIGIT] * 5], dtype=np.int64))
    groups = [digits[start : start + 4] for start in range(0, level.digits, 4)]
    return tuple((len(group), _table(group)) for group in reversed(groups))


def _digit(unit: int, allowed: int = 10) -> Integers:
    """What the digits 0 to 9 add; only the first ``allowed`` of them are digits here."""
    value = np.arange(10, dtype=np.int64)
    return np.where(value < allowed, value * unit, _NOT_A_DIGIT)


def _table(digits: Sequence[Integers]) -> Integers:
    """What each value of neighbouring digits adds."""
    table = digits[0]
    for digit in digits[1:]:
        table = np.add.outer(table, digit).reshape(-1)
    return table


@lru_cache
def _writing_tables(size: str) -> tuple[Integers, Integers]:
    """What each row, and each column, of the level adds to a code."""
    level = mesh_level(size)
    position = np.arange(level.limit, dtype=np.int64)
    of_rows, of_columns = np.zeros_like(position), np.zeros_like(position)
    place, unit, rest = 10**level.digits, level.cells, position
    # Values that a digit (or the first pair) can be written with, and into how many the mesh is cut next.
    for values, cuts in ((100, 8), (10, 10), (10, 2))[: level.digits // 2 - 1]:
        digit, rest = np.divmod(rest, unit)
        of_rows += digit * (place // values)
        of_columns += digit * (place // values**2)
        place, unit = place // values**2, unit // cuts
    for _ in range(level.quarters):
        half, rest = np.divmod(rest, unit)
        place //= 10
        of_rows += (1 + 2 * half) * place
        of_columns += half * place
        unit //= 2
    return of_rows, of_columns
