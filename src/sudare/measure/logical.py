"""How many blocks of a domain hold at least one logical cell: the number that errors are averaged over.

A block of 2**level cells in index order is a box: along each axis it is an aligned run of coordinates. So the
blocks that are neither padding nor masked are counted attribute by attribute and multiplied.
"""

from __future__ import annotations

import math

import numpy as np

from sudare.domain import Domain
from sudare.domain.attribute import Attribute


def logical_blocks(domain: Domain, level: int) -> int:
    """Blocks of 2**level cells in index order with at least one logical cell, an exact integer."""
    # The last cell of the first block sits at the far corner of its box: 2**shift - 1 along each axis.
    corner = domain.coordinates(np.array([(1 << level) - 1], dtype=np.int64))
    shifts = [int(coordinate[0]).bit_length() for coordinate in corner]
    number = 1
    for attribute in domain.attributes.values():
        own, shifts = shifts[: len(attribute.lengths)], shifts[len(attribute.lengths) :]
        number *= logical_boxes(attribute, own)
    return number


def logical_boxes(attribute: Attribute, shifts: list[int]) -> int:
    """Aligned boxes of 2**shift coordinates per axis in which the attribute has a cell.

    Boxes are halved from the whole down; one that is empty or entirely allowed is settled without looking
    inside, so the work follows the outline of the mask and not its area.
    """
    if not any(shifts):
        return attribute.size
    sizes = [max(shift, (length - 1).bit_length()) for shift, length in zip(shifts, attribute.lengths, strict=True)]
    prefixes = [np.zeros(1, dtype=np.int64) for _ in sizes]
    number = 0
    while len(prefixes[0]):
        cells = attribute.block_counts(tuple(sizes), *prefixes)
        whole = cells == 1 << sum(sizes)
        smaller = [size - shift for size, shift in zip(sizes, shifts, strict=True)]
        if not any(smaller):
            return number + int(np.count_nonzero(cells))
        number += int(np.count_nonzero(whole)) * math.prod(1 << steps for steps in smaller)
        open_boxes = (cells > 0) & ~whole
        prefixes = [prefix[open_boxes] for prefix in prefixes]
        axis = int(np.argmax(smaller))
        sizes[axis] -= 1
        prefixes = [
            np.concatenate([prefix << 1, (prefix << 1) + 1]) if position == axis else np.tile(prefix, 2)
            for position, prefix in enumerate(prefixes)
        ]
    return number
