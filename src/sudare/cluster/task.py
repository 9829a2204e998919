"""What is asked of a release in a cluster, and how a method says what it does there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import TypeAlias

from sudare.cluster.cut import Cut
from sudare.cluster.parts import PartFile, ReleaseTarget
from sudare.cluster.store import CellStore
from sudare.domain import Domain
from sudare.noise import Source
from sudare.privacy import Budget
from sudare.tables.method import Asked


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
