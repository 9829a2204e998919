"""A global recoding: one node for every leaf, the same in all records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity.hierarchy import Hierarchy
from sudare.arrays import Integers

Levels = tuple[int, ...]


@dataclass(frozen=True)
class Generalisation:
    """``cuts``: for each attribute the node that stands for each leaf; the nodes are a cut through the tree.

    ``levels`` where every attribute is at one level of its hierarchy (full-domain recoding), else None.
    """

    cuts: tuple[Integers, ...]
    levels: Levels | None = None

    @classmethod
    def at(cls, hierarchies: Sequence[Hierarchy], levels: Sequence[int]) -> Generalisation:
        """Every attribute at one level.

        >>> Generalisation.at([Hierarchy.from_nested(["f", "m"])], [1]).cuts
        (array([0, 0]),)
        """
        cuts = tuple(tree.level(level) for tree, level in zip(hierarchies, levels, strict=True))
        return cls(cuts, tuple(levels))

    def cells(self, codes: NDArray[np.int32]) -> Integers:
        """The cell of each tuple in each attribute."""
        return np.stack([cut[codes[:, place]] for place, cut in enumerate(self.cuts)], axis=1)
