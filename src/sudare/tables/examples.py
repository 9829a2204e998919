"""Example areas of a released table, chosen by a rule that uses the release alone, and their names.

Of all areas of one size that are released with people, the rule takes the one in the middle by its number. Areas are
blocks of neighbouring cells; where the domain has one mesh, squares of the standard mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Domain, Mesh, Place
from sudare.domain.attribute import Attribute
from sudare.domain.mesh import LEVELS, mesh_level, parents
from sudare.language.catalogue import Words
from sudare.tables.area_sizes import area_sizes
from sudare.tables.error_bars import BlockErrorBars
from sudare.tables.release import Release

COARSEST = "10km"
"""The largest squares of the mesh that examples are taken from."""
_BLOCKS = 3


@dataclass(frozen=True)
class Example:
    """One area: its name, its released number, the interval that holds the truth, and the expected error."""

    name: str
    value: float
    low: float
    high: float
    expected_error: float


def examples(release: Release, level: float, words: Words) -> list[Example]:
    """One area of each of a few sizes, small to large; none where nothing is released."""
    domain = release.table.domain
    meshes = [name for name, attribute in domain.attributes.items() if isinstance(attribute, Mesh)]
    levels = [size.level for size in area_sizes(domain)]
    if len(meshes) == 1:
        levels = levels[:1] if len(domain.attributes) > 1 else []
    elif len(levels) > _BLOCKS:
        levels = sorted({levels[0], levels[len(levels) // 2], levels[-2]})
    found = [_block(release, block_level, level, words) for block_level in levels]
    if len(meshes) == 1:
        found += [_square(release, meshes[0], size, level, words) for size in _sizes(domain.attributes[meshes[0]])]
    return [example for example in found if example is not None]


def block_bars(release: Release, block_level: int, level: float) -> BlockErrorBars:
    """Error bars of all blocks of 2**block_level cells."""
    bars = release.error(block_level=block_level, level=level)
    assert isinstance(bars, BlockErrorBars)  # noqa: S101 - this selector gives no other
    return bars


def _block(release: Release, block_level: int, level: float, words: Words) -> Example | None:
    bars = block_bars(release, block_level, level)
    one = _middle(bars.value)
    if one is None:
        return None
    name = block_name(release.table.domain, int(bars.block[one]), block_level, words)
    return _example(name, bars, one)


def _square(release: Release, name: str, size: str, level: float, words: Words) -> Example | None:
    """A square of the standard mesh, summed over everything else."""
    table, mesh = release.table, release.table.domain.attributes[name]
    assert isinstance(mesh, Mesh)  # noqa: S101 - the caller found it
    codes = np.asarray(table.domain.labels(table.index)[name]).astype(np.int64)
    squares, where = np.unique(parents(codes, mesh.cell_size, size), return_inverse=True)
    sums = np.zeros(len(squares), dtype=table.count.dtype)
    np.add.at(sums, where, table.count)
    one = _middle(sums)
    if one is None:
        return None
    code = str(squares[one]).zfill(mesh_level(size).digits)
    return _example(words(f"mesh.{size}", code=code), release.error(codes=[code], level=level), 0)


def _middle(values: NDArray[Any]) -> int | None:
    """The place of the middle one of the values above 0; of equal ones the first counts as less."""
    shown = np.flatnonzero(values > 0)
    return int(shown[np.argsort(values[shown], kind="stable")[len(shown) // 2]]) if len(shown) else None


def _example(name: str, bars: Any, one: int) -> Example:
    value = bars.value[one].item()
    return Example(name, value, float(bars.low[one]), float(bars.high[one]), float(bars.expected_error[one]))


def _sizes(mesh: Attribute) -> list[str]:
    """The mesh's own size and the coarser ones up to `COARSEST`, fine to coarse."""
    assert isinstance(mesh, Mesh)  # noqa: S101 - the caller found it
    own = mesh_level(mesh.cell_size).cells
    fine_to_coarse = reversed(LEVELS.values())
    allowed = range(min(own, mesh_level(COARSEST).cells), own + 1)
    return [level.name for level in fine_to_coarse if level.cells in allowed]


def block_name(domain: Domain, block: int, level: int, words: Words) -> str:
    """A block in the words of its attributes: a place, a range of them, or all of them.

    >>> from sudare.domain import Categories, Grid
    >>> domain = Domain(cell=Grid(8, 8), sex=Categories(["f", "m"]))
    >>> block_name(domain, 1, 3, Words("en")), block_name(domain, 0, 0, Words("en"))
    ('rows 0 to 1, columns 2 to 3, all of sex', 'row 0, column 0, f')
    """
    first = [int(axis[0]) for axis in domain.coordinates(np.array([block << level]))]
    spans: dict[str, list[tuple[int, int]]] = {name: [] for name in domain.attributes}
    for axis, start, shift, length in zip(domain.axes, first, domain.plan.shifts(level), domain.shape, strict=True):
        spans[axis.name].append((start, min(start + (1 << shift), length) - 1))
    names = [_span(name, attribute, spans[name], words) for name, attribute in domain.attributes.items()]
    return ("、" if words.language == "ja" else ", ").join(names)


def _span(name: str, attribute: Attribute, spans: list[tuple[int, int]], words: Words) -> str:
    whole = [(0, length - 1) for length in attribute.lengths]
    if spans == whole and attribute.size > 1:
        return words("trust.all_of", name=name)
    ends = [[low for low, _ in spans], [high for _, high in spans]]
    if isinstance(attribute, Place):
        first, last = (str(codes[0]) for codes in (attribute.names(*map(np.atleast_1d, end)) for end in ends))
        if first == last:
            return words(f"mesh.{attribute.cell_size}", code=first) if isinstance(attribute, Mesh) else first
        return words("mesh.from_to", first=first, last=last)
    if len(spans) == 2:
        (low_row, high_row), (low_column, high_column) = spans
        if ends[0] == ends[1]:
            return words("trust.row_column", row=low_row, column=low_column)
        separator = "、" if words.language == "ja" else ", "
        rows = words("trust.rows", first=low_row, last=high_row)
        return separator.join([rows, words("trust.columns", first=low_column, last=high_column)])
    labels = [str(attribute.labels(np.array(end))[0]) for end in ends]
    if attribute.spatial:
        labels = [f"{name} {labels[0]}", labels[1]] if ends[0] == ends[1] else labels
    return labels[0] if ends[0] == ends[1] else words("trust.span", name=name, first=labels[0], last=labels[1])
