"""`rehearse`: the whole release on synthetic or public data, where truth and release may be compared."""

from __future__ import annotations

from pathlib import Path

from sudare.publish.job import Job, Rehearsal
from sudare.publish.needs import memory_refused
from sudare.words import OnProgress, unheard


@memory_refused()
def rehearse(recipe: str | Path, *, seed: int = 0, progress: OnProgress = unheard) -> Rehearsal:
    """Do what a recipe says on its public data, or on synthetic people, with seeded noise; spends nothing."""
    return Job.ready(recipe).rehearse(seed, progress)
