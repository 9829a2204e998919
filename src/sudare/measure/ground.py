"""What blocks of a domain are on the ground, and the smallest of them that may be published."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sudare.domain import Domain, Mesh
from sudare.measure.blocks import logical_blocks

GOOD = 0.1
"""The relative error up to which a number is called publishable."""


def square_km(domain: Domain, level: int) -> float | None:
    """The area on the ground of a block of 2**level cells: the mean over all blocks that have a cell.

    None where a block is no area: without exactly one place, which must be a mesh, and where a block holds only a part
    of the people of a place. As exact as `Mesh.square_km`.

    >>> from sudare.domain import Categories
    >>> domain = Domain(mesh=Mesh("1km", codes=["5339"]), sex=Categories(["f", "m"]))
    >>> square_km(domain, 0), round(square_km(domain, 1), 3), round(square_km(domain, domain.bits))
    (None, 1.046, 6697)
    """
    places = [attribute for attribute in domain.attributes.values() if attribute.spatial]
    if len(places) != 1 or not isinstance(places[0], Mesh):
        return None
    for shift, length, axis in zip(domain.plan.shifts(level), domain.shape, domain.axes, strict=True):
        if not domain.attributes[axis.name].spatial and shift < (length - 1).bit_length():
            return None
    return places[0].square_km / logical_blocks(domain, level)


def smallest_publishable(
    cells: Sequence[float], relative: Sequence[float], good: float = GOOD
) -> tuple[int, float] | None:
    """The size of area from which on the relative error stays at most ``good``; None where no size has it.

    ``cells`` of an area, ascending, and the ``relative`` error there. Returns the first of these sizes, by position,
    and the cells at which the error passes ``good``: between two sizes on a straight line in logarithms, to three
    digits.

    >>> smallest_publishable([1, 100], [1.0, 0.01])
    (1, 10.0)
    """
    first = len(relative)
    while first and relative[first - 1] <= good:
        first -= 1
    if first == len(relative):
        return None
    if first == 0 or relative[first] <= 0:
        return first, float(cells[first])
    before, after = math.log(relative[first - 1]), math.log(relative[first])
    share = (before - math.log(good)) / (before - after)
    between = math.exp((1 - share) * math.log(cells[first - 1]) + share * math.log(cells[first]))
    return first, float(f"{between:.3g}")
