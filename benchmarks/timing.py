"""Timing that the benchmarks share."""

from __future__ import annotations

import time
from collections.abc import Callable


def best(work: Callable[[], object], runs: int) -> float:
    """Seconds of the fastest run: the others shared the machine with somebody."""
    return _least(work, runs, time.perf_counter)


def core_seconds(work: Callable[[], object], runs: int) -> float:
    """Processor time of all threads of this process in the cheapest run: what is left when a machine is shared.

    For work that does not wait and starts no other process. One core that does nothing else takes as long.
    """
    return _least(work, runs, time.process_time)


def _least(work: Callable[[], object], runs: int, clock: Callable[[], float]) -> float:
    times = []
    for _ in range(runs):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)
