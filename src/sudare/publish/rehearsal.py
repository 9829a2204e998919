"""`rehearse`: the whole release on synthetic or public data, where truth and release may be compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sudare.publish.job import Job, Rehearsal
from sudare.publish.needs import memory_refused


@memory_refused()
def rehearse(recipe: str | Path, *, seed: int = 0, progress: Callable[[str], None] = lambda _: None) -> Rehearsal:
    """Do what a recipe says on its public data, or on synthetic people, with seeded noise; spends nothing."""
    return Job.ready(recipe).rehearse(seed, progress)
