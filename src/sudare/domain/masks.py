"""Public masks of places: cells outside of which nobody can be, from a file of polygons or of codes.

A mask is public and declared. Its cells stay, all others are structural zeros: no noise is drawn for them, and a record
that lies in one is outside the domain. A polygon keeps every cell that it touches.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.arrays import Booleans
from sudare.domain.parquet import is_geoparquet
from sudare.domain.public_codes import ENDINGS, read_code_rows
from sudare.domain.public_polygons import read_polygons, shapely_of
from sudare.domain.regions import Box, Listed, MaskedBox, Region, mask_from_runs
from sudare.errors import DomainError

if TYPE_CHECKING:
    from sudare.domain.place import Place, Squares

_AT_ONCE = 1 << 17
_MOST_CELLS = 1 << 28


def masked(place: Place, mask: Any) -> Region:
    """The region of a place that a mask leaves: a boolean array, run lengths, or a file of polygons or codes."""
    if isinstance(mask, str | Path) and isinstance(place.region, Listed):
        return _masked_list(place, place.region, Path(mask))
    if isinstance(mask, str | Path):
        kept = _of_codes(place, Path(mask)) if _lists_codes(Path(mask)) else _of_polygons(place, Path(mask))
    elif np.asarray(mask).dtype == np.bool_:
        kept = np.asarray(mask)
        if kept.shape != place.lengths:
            raise DomainError(
                "the mask has another shape than its attribute", value=kept.shape, allowed=[place.lengths]
            )
    else:
        kept = mask_from_runs(mask, place.lengths)
    if not isinstance(place.region, Box):
        flat = np.arange(kept.size).reshape(place.lengths)
        kept = kept & place.region.allowed(*np.unravel_index(flat, place.lengths))
    return place.region if int(kept.sum()) == place.region.size else MaskedBox(kept)


def _masked_list(place: Place, region: Listed, file: Path) -> Region:
    """Of listed cells those that a file keeps."""
    kept = np.zeros(region.size, dtype=bool)
    if _lists_codes(file):
        for group in _squares_of(place, file):
            first = group.position[0] * group.side - group.origin[0]
            ends = [np.searchsorted(region.positions, end) for end in (first, first + group.side)]
            for low, high in zip(*ends, strict=True):
                kept[low:high] = True
    else:
        kept = _touching(place, file, (region.positions,))
    return region if kept.all() else Listed(region.length, region.positions[kept])


def _lists_codes(file: Path) -> bool:
    """Whether a file lists codes: text, or Parquet without polygons."""
    if file.name.lower().endswith(ENDINGS):
        return True
    if file.suffix.lower() != ".parquet":
        return False
    return file.exists() and not is_geoparquet(file)


def _of_codes(place: Place, file: Path) -> Booleans:
    """Cells that the codes of a file name."""
    kept = np.zeros(_enough(place), dtype=bool)
    for group in _squares_of(place, file):
        for position in zip(*group.position, strict=True):
            ends = [
                slice(max(0, at * group.side - start), max(0, (at + 1) * group.side - start))
                for at, start in zip(map(int, position), group.origin, strict=True)
            ]
            kept[tuple(ends)] = True
    return kept


def _squares_of(place: Place, file: Path) -> list[Squares]:
    """The squares named by the first column of a file; a first line that is not a code is a heading."""
    codes = [row[0] for row in read_code_rows(file)]
    squares, read = place.squares(codes)
    if codes and not read[0]:
        codes = codes[1:]
        squares, read = place.squares(codes)
    if not read.all():
        raise DomainError("a line of {file} is not a code", value=codes[int(np.argmin(read))], file=file.name)
    return squares


def _of_polygons(place: Place, file: Path) -> Booleans:
    """Cells of a box that touch the polygons of a file."""
    lengths = _enough(place)
    every = np.unravel_index(np.arange(int(np.prod(lengths))), lengths)
    return _touching(place, file, every).reshape(lengths)


def _touching(place: Place, file: Path, cells: tuple[Any, ...]) -> Booleans:
    """Which cells touch the polygons of a file."""
    shapely = shapely_of()
    union = shapely.union_all(read_polygons(file).geometry)
    shapely.prepare(union)
    kept = np.zeros(cells[0].size, dtype=bool)
    for start in range(0, kept.size, _AT_ONCE):
        piece = slice(start, start + _AT_ONCE)
        outlines = place.outlines(*(axis[piece] for axis in cells)).wkb()
        kept[piece] = shapely.intersects(union, shapely.from_wkb(outlines))
    return kept


def _enough(place: Place) -> tuple[int, ...]:
    if np.prod([float(length) for length in place.lengths]) > _MOST_CELLS:
        raise DomainError("the window is too large for a mask", allowed="at most 2**28 cells")
    return place.lengths
