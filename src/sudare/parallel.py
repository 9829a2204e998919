"""Independent pieces of work side by side, in threads: NumPy lets go of the interpreter's lock in long loops."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

_here = threading.local()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def each(work: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """What ``work`` makes of each item, in their order, whatever the number of cores.

    So it must not draw from a stream that several items share. Work inside other work is done one after the other.

    >>> each(lambda number: number**2, range(4))
    [0, 1, 4, 9]
    """
    items = list(items)
    workers = 1 if getattr(_here, "busy", False) else min(cores(), len(items))
    if workers <= 1:
        return [work(item) for item in items]

    def alone(item: Item) -> Made:
        _here.busy = True
        return work(item)

    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(alone, items))
