"""Sizes of areas that are worth a line in a report, and what they are on the ground."""

from __future__ import annotations

from dataclasses import dataclass

from sudare.domain import Domain
from sudare.language.catalogue import Words
from sudare.measure.blocks import logical_blocks, square_km

MOST_SIZES = 9


@dataclass(frozen=True)
class AreaSize:
    """Blocks of 2**level neighbours: how many there are, logical cells and square kilometres of one on average.

    ``square_km`` is None where a block is no area (`sudare.measure.blocks.square_km`).
    """

    level: int
    blocks: int
    cells: float
    square_km: float | None

    def text(self, words: Words) -> str:
        """The size as a person says it."""
        if self.square_km is not None:
            return words("area.square_km", square_km=self.square_km)
        return words("area.one_cell") if self.level == 0 else words("area.cells", cells=_whole(self.cells))


def area_sizes(domain: Domain) -> list[AreaSize]:
    """Single cells, then areas about four times as large each, up to the whole; nine at most.

    >>> from sudare.domain import Categories, Mesh
    >>> domain = Domain(mesh=Mesh("500m", rows=(8480, 8496), columns=(6300, 6316)), sex=Categories(["f", "m"]))
    >>> [(size.level, size.cells, size.square_km and round(size.square_km, 1)) for size in area_sizes(domain)][:3]
    [(0, 1.0, None), (1, 2.0, 0.3), (3, 8.0, 1.1)]
    """
    areas = [level for level in range(1, domain.bits) if _is_area(domain, level)] or list(range(2, domain.bits, 2))
    step = -(-len(areas) // (MOST_SIZES - 2)) if areas else 1
    levels = sorted({0, *areas[::step], domain.bits})
    blocks = [logical_blocks(domain, level) for level in levels]
    return [
        AreaSize(level, number, domain.size / number, square_km(domain, level))
        for level, number in zip(levels, blocks, strict=True)
    ]


def _is_area(domain: Domain, level: int) -> bool:
    """Whether blocks of this level are squares of places with everything else whole; or any, without places."""
    spatial: list[tuple[int, int]] = []
    other: list[tuple[int, int]] = []
    for shift, length, axis in zip(domain.plan.shifts(level), domain.shape, domain.axes, strict=True):
        attribute = domain.attributes[axis.name]
        (spatial if attribute.spatial else other).append((shift, (length - 1).bit_length()))
    if not spatial:
        return level % 2 == 0
    whole = all(shift == width for shift, width in other)
    # A longer axis is cut more often at first: then a square is what the shorter ones allow.
    square = len({min(shift, width) for shift, width in spatial}) == 1
    return whole and (square or all(shift == width for shift, width in spatial))


def _whole(cells: float) -> float | int:
    return int(cells) if cells == int(cells) else cells
