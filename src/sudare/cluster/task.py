"""What is asked of a release in a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from sudare.domain import Domain
from sudare.noise import Source
from sudare.privacy import Budget


@dataclass(frozen=True)
class ClusterTask:
    """See `sudare.tables.method.Asked`: everything but the cells."""

    domain: Domain
    total: int
    sensitivity: int
    budget: Budget
    public_total: bool
    source: Source
