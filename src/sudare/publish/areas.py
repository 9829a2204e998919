"""Area sizes worth a line in a plan or a report, and what they are on the ground."""

from __future__ import annotations

from sudare.domain import Domain, Mesh

_SIDE_KM = {"80km": 80.0, "10km": 10.0, "1km": 1.0, "500m": 0.5, "250m": 0.25, "125m": 0.125}


def shown_levels(domain: Domain) -> list[int]:
    """About six block levels, from single cells to the whole domain."""
    step = max(1, 2 * round(domain.bits / 12))
    return sorted({*range(0, domain.bits + 1, step), domain.bits})


def square_km(domain: Domain, level: int) -> float | None:
    """The area of a block, about; None without one mesh, or where blocks are single categories of a place."""
    meshes = [part for part in domain.attributes.values() if isinstance(part, Mesh)]
    others = domain.bits - sum((length - 1).bit_length() for mesh in meshes for length in mesh.lengths)
    if len(meshes) != 1 or level < others:
        return None
    return float(_SIDE_KM[meshes[0].cell_size] ** 2 * 2.0 ** (level - others))
