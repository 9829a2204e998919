"""What a run shows to who can watch the machine: its time and its memory. Measured and stated; nothing bounds them.

Runs of neighbours take turns, so that nothing else that the machine does falls on one of them alone. Beside the median
stands how often a run of the neighbour was slower than the run before it: one half means that the clock tells nothing.
"""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

from sudare.audit.cases import PRIVATE, table_case
from sudare.audit.finding import Watched
from sudare.audit.neighbours import ODD, Row, World, frame, ordinary
from sudare.noise import Source
from sudare.publish.job import Job
from sudare.publish.kind import Kind


def watched() -> World:
    """A data set, and others with one person more: ordinary, alone in a cell, with many rows; and with many people."""
    people = ordinary(200, 6)
    many: list[Row] = [(9009, place % 16 + 0.5, "f") for place in range(20_000)]
    return {
        "200 people": people,
        "one person more": [*people, (9014, 2.5, "f")],
        "a person alone in a cell": [*people, *ODD["a person alone in a cell"]],
        "a person with 20,000 rows": [*people, *many],
        "20,000 people": ordinary(20_000, 6),
    }


def timings(folder: Path, times: int) -> dict[str, Watched]:
    """Processor seconds and memory of a release, from the file to the files, for each data set.

    Memory is the peak of Python's objects and NumPy's arrays; the engine keeps its own, which is not in it.
    """
    import pyarrow.parquet as pq

    (folder / "timed.toml").write_text(table_case("tree", "epsilon = 1", 1).text(), encoding="utf-8", newline="\n")
    job = Job.open(folder / "timed.toml").kind
    world = watched()
    paths = {name: folder / f"watched {place}.parquet" for place, name in enumerate(world)}
    for name, path in paths.items():
        pq.write_table(frame(world[name]), path)
    taken = np.array([[_seconds(job, folder, path) for path in paths.values()] for _ in range(times)])
    found = {}
    for place, (name, path) in enumerate(paths.items()):
        tracemalloc.start()
        _seconds(job, folder, path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        slower = float(np.mean(taken[:, place] > taken[:, 0])) if place else None
        low, middle, high = np.quantile(taken[:, place], [0.1, 0.5, 0.9]).tolist()
        found[name] = Watched((low, middle, high), peak / 2**20, times, slower)
    return found


def _seconds(job: Kind[Any, Any], folder: Path, path: Path) -> float:
    (folder / PRIVATE).write_bytes(path.read_bytes())
    # Of the processor: what else the machine does is not in it, so that this is more than a clock on the wall tells.
    start, source = time.process_time(), Source.system()
    job.write(job.protect(job.gather(source), source), folder)
    return time.process_time() - start
