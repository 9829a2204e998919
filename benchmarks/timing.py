"""Timing that the benchmarks share."""

from __future__ import annotations

import time
from collections.abc import Callable


def best(work: Callable[[], object], runs: int) -> float:
    """Seconds of the fastest run: the others shared the machine with somebody."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
