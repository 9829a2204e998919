"""What a method in a cluster is given: its task, and `Cut`, where a tree is divided between the driver and the workers;
and the registry of how each method runs there (`in_cluster`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import TypeAlias

from sudare.domain import Domain
from sudare.errors import ParameterError
from sudare.noise import Source
from sudare.privacy import Budget
from sudare.spark.parts import PartFile, ReleaseTarget
from sudare.spark.store import CellStore
from sudare.tables.method import Asked


@dataclass(frozen=True)
class Cut:
    """Subtrees have at most 2**subtree_bits cells, and 2**fewest_bits of them are possible, where the domain allows.

    The driver never handles more than ``driver_nodes`` nodes of a level: in a huge domain it follows those that are
    worth it (by their noisy sums) as far down as that allows, and subtrees then have more cells. A part, which is one
    file and one task, has about ``part_people`` people. All of this follows from the domain and from noisy values:
    never from how many workers there are.
    """

    subtree_bits: int = 20
    fewest_bits: int = 8
    driver_nodes: int = 2**20
    part_people: int = 2**21

    def __post_init__(self) -> None:
        for name in ("subtree_bits", "fewest_bits", "driver_nodes", "part_people"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ParameterError("{name} is not a whole number from 1 on", value=value, name=name)

    def enough(self, bits: int, level: int) -> bool:
        """Whether subtrees of 2**level cells are small and many enough, in a domain of ``bits`` bits."""
        return level <= min(self.subtree_bits, max(0, bits - self.fewest_bits))

    def affordable(self, bits: int, level: int) -> bool:
        """Whether the driver may handle all blocks of 2**level cells."""
        return 1 << (bits - level) <= self.driver_nodes


@dataclass(frozen=True)
class ClusterTask:
    """See `sudare.tables.method.Asked`: everything but the cells."""

    domain: Domain
    total: int
    sensitivity: int
    budget: Budget
    public_total: bool
    source: Source


InCluster: TypeAlias = Callable[[Asked, CellStore, Cut, ReleaseTarget], tuple[PartFile, ...]]
"""A method at work in a cluster: what is asked, where the cells are, how work is cut, where parts go."""


@singledispatch
def in_cluster(method: object) -> InCluster | None:  # noqa: ARG001 - those registered look at it
    """How ``method`` is released in a cluster; None where it cannot be.

    A method from another package registers its way with ``in_cluster.register``.
    """
    return None
