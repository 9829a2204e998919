"""The region of a mesh attribute that was declared by codes: meshes of one or several levels.

The meshes stay as coarse as they can be: 8 x 8 meshes of 10 km that fill one of 80 km become that one, and
what lies inside a coarser mesh of the region is dropped. A region is then the same however it was declared,
and takes memory by its codes, never by its cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np

from sudare.arrays import Booleans, Integers
from sudare.domain.mesh import LEVELS, codes_of, mesh_level

_STRIDE = 2**20
"""A row and a column make one key: row * 2**20 + column. Both stay below 100 * 640."""

Shares: TypeAlias = list[tuple[Integers, Integers]]
"""Positions along an axis, each with the number of cells it shares: at most two for one interval."""


@dataclass(frozen=True, eq=False)
class MeshSquares:
    """Meshes of one level: sorted keys of rows and columns, ``side`` cells of the region's own size each."""

    size: str
    side: int
    keys: Integers

    @property
    def rows(self) -> Integers:
        """Rows at the meshes' own level."""
        return self.keys // _STRIDE

    @property
    def columns(self) -> Integers:
        """Columns at the meshes' own level."""
        return self.keys % _STRIDE

    def span(self, places: Integers) -> tuple[int, int]:
        """The first cell under rows (or columns) of meshes, and the one after the last."""
        return int(places.min()) * self.side, (int(places.max()) + 1) * self.side


@dataclass(frozen=True, eq=False)
class MeshRegion:
    """Disjoint meshes, coarse to fine, inside a window that begins at ``origin`` (row, column)."""

    squares: tuple[MeshSquares, ...]
    origin: tuple[int, int]
    lengths: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        """Cells under the meshes."""
        return sum(part.side**2 * part.keys.size for part in self.squares)

    def allowed(self, *coordinates: Integers) -> Booleans:
        """Whether a cell lies under one of the meshes."""
        return self.block_counts((0, 0), *coordinates) > 0

    def cell(self, rank: Integers) -> tuple[Integers, ...]:
        """Mesh by mesh, coarse ones first; row-major inside each."""
        row, column = np.zeros_like(rank), np.zeros_like(rank)
        first = 0
        for part in self.squares:
            cells = part.side**2
            here = (rank >= first) & (rank < first + cells * part.keys.size)
            mesh, inside = np.divmod(rank[here] - first, cells)
            row[here] = part.rows[mesh] * part.side + inside // part.side - self.origin[0]
            column[here] = part.columns[mesh] * part.side + inside % part.side - self.origin[1]
            first += cells * part.keys.size
        return row, column

    def block_counts(self, shifts: Sequence[int], *prefixes: Integers) -> Integers:
        """Cells under the meshes in each block: at most four look-ups a block and level."""
        counts = np.zeros(prefixes[0].shape, dtype=np.int64)
        here = np.ones(counts.shape, dtype=bool)
        for prefix, shift, length in zip(prefixes, shifts, self.lengths, strict=True):
            here &= (prefix >= 0) & (prefix <= (length - 1) >> shift)
        blocks = [prefix[here] for prefix in prefixes]
        found = np.zeros(blocks[0].shape, dtype=np.int64)
        for part in self.squares:
            rows, columns = (
                _meshes_of_blocks(block, shift, part.side, origin)
                for block, shift, origin in zip(blocks, shifts, self.origin, strict=True)
            )
            keys, cells = _blocks_of_meshes(part, self.origin, tuple(shifts))
            for row, height in rows:
                for column, width in columns:
                    key = row * _STRIDE + column
                    place = np.minimum(np.searchsorted(keys, key), keys.size - 1)
                    found += np.where(keys[place] == key, cells[place], 0) * height * width
        counts[here] = found
        return counts

    def codes(self) -> list[str]:
        """The codes of the meshes, coarse to fine."""
        codes = []
        for part in self.squares:
            digits = mesh_level(part.size).digits
            numbers = codes_of(part.rows, part.columns, part.size).tolist()
            codes += [f"{number:0{digits}}" for number in numbers]
        return codes

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MeshRegion)
            and (self.origin, self.lengths, self.size) == (other.origin, other.lengths, other.size)
            and [part.size for part in self.squares] == [part.size for part in other.squares]
            and all(
                np.array_equal(mine.keys, theirs.keys) for mine, theirs in zip(self.squares, other.squares, strict=True)
            )
        )

    def __hash__(self) -> int:
        return hash((self.origin, self.lengths, self.size))


def mesh_region(meshes: dict[str, tuple[Integers, Integers]], size: str) -> MeshRegion:
    """The region under meshes given by (rows, columns) for each level, in cells of ``size``.

    >>> MeshRegion.codes(mesh_region({"80km": (np.array([53]), np.array([39]))}, "500m"))
    ['5339']
    """
    cells = mesh_level(size).cells
    sizes = [level.name for level in LEVELS.values() if level.cells <= cells]
    keys = {name: np.zeros(0, dtype=np.int64) for name in sizes}
    for name, (rows, columns) in meshes.items():
        keys[name] = np.unique(rows * _STRIDE + columns)
    for fine, coarse in zip(reversed(sizes[1:]), reversed(sizes[:-1]), strict=True):
        ratio = mesh_level(fine).cells // mesh_level(coarse).cells
        parents, members = np.unique(_coarser(keys[fine], ratio), return_counts=True)
        keys[coarse] = np.union1d(keys[coarse], parents[members == ratio**2])
    for position, fine in enumerate(sizes):
        for coarse in sizes[:position]:
            ratio = mesh_level(fine).cells // mesh_level(coarse).cells
            keys[fine] = keys[fine][~np.isin(_coarser(keys[fine], ratio), keys[coarse])]
    squares = tuple(MeshSquares(name, cells // mesh_level(name).cells, keys[name]) for name in sizes if keys[name].size)
    north_south = [end for part in squares for end in part.span(part.rows)]
    east_west = [end for part in squares for end in part.span(part.columns)]
    south, west = min(north_south), min(east_west)
    return MeshRegion(squares, (south, west), (max(north_south) - south, max(east_west) - west))


def _coarser(keys: Integers, ratio: int) -> Integers:
    return keys // _STRIDE // ratio * _STRIDE + keys % _STRIDE // ratio


def _meshes_of_blocks(block: Integers, shift: int, side: int, origin: int) -> Shares:
    """Along one axis: the positions that a block looks up in the table, and the number of cells it shares with each.

    For a block longer than a mesh the table holds its sum already. A shorter one overlaps at most two meshes.
    """
    if 1 << shift > side:
        return [(block, np.ones_like(block))]
    return _split(block, 1 << shift, side, origin)


@lru_cache(maxsize=16)
def _blocks_of_meshes(part: MeshSquares, origin: tuple[int, int], shifts: tuple[int, ...]) -> tuple[Integers, Integers]:
    """The table that blocks look up: sorted keys, and cells of each.

    Along an axis where blocks are longer than meshes, each mesh falls into at most two blocks and the table
    is by block; along another it stays by mesh.
    """
    if all(1 << shift <= part.side for shift in shifts):
        return part.keys, np.ones_like(part.keys)
    rows, columns = (
        _split(mesh, part.side, 1 << shift, -begin) if 1 << shift > part.side else [(mesh, np.ones_like(mesh))]
        for mesh, shift, begin in zip((part.rows, part.columns), shifts, origin, strict=True)
    )
    pairs = [(row * _STRIDE + column, height * width) for row, height in rows for column, width in columns]
    keys = np.concatenate([key for key, _ in pairs])
    cells = np.concatenate([cell for _, cell in pairs])
    keys, place = np.unique(keys[cells > 0], return_inverse=True)
    totals = np.zeros(keys.size, dtype=np.int64)
    np.add.at(totals, place, cells[cells > 0])
    return keys, totals


def _split(piece: Integers, length: int, other_length: int, offset: int) -> Shares:
    """The intervals of ``length`` with numbers ``piece``, moved by ``offset``: their overlap with longer intervals.

    >>> [(place.tolist(), cells.tolist()) for place, cells in _split(np.array([0, 1]), 4, 10, 3)]
    [([0, 0], [4, 3]), ([1, 1], [0, 1])]
    """
    start = piece * length + offset
    first = start // other_length
    inside = np.minimum((first + 1) * other_length - start, length)
    return [(first, inside), (first + 1, length - inside)] if length > 1 else [(first, inside)]
