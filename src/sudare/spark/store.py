"""Where the cells of a table are kept when one machine cannot hold them, and the operations on them.

A store holds rows (index, count), in Spark (`sudare.spark.spark_store`). The release methods see nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.errors import AccountingError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Jobs:
    """Work on nodes of one level, each in a part: jobs of a part are done together, in the order of their nodes.

    ``node`` ascends and numbers blocks of 2**level cells. ``further`` columns say what is to be done with each, and
    ``reading`` which jobs need the cells below their nodes. Jobs of the same part stand beside each other, so parts
    are ranges of cells.
    """

    level: int
    part: Integers
    node: Integers
    further: Mapping[str, Any] = field(default_factory=dict)
    reading: NDArray[np.bool_] | None = None

    @property
    def read(self) -> tuple[Integers, Integers]:
        """The nodes whose cells are needed, and their parts."""
        if self.reading is None:
            return self.node, self.part
        return self.node[self.reading], self.part[self.reading]

    def table(self) -> pa.Table:
        import pyarrow as pa

        return pa.table({"part": self.part, "node": self.node, **self.further})


class WorkerFunction(Protocol):
    """What a worker does with one part: it gets the part's jobs and the cells below their nodes, by ascending index.

    It must be a function of these alone (and of its own public fields and key): workers may do a part twice.
    """

    @property
    def gives(self) -> pa.Schema:
        """The columns of the answer."""

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> pa.Table:
        """The answer for one part."""


class CellStore(Protocol):
    """The cells of a table, in a cluster or in this process."""

    def sums(self, level: int, below: tuple[int, Integers] | None = None) -> tuple[Integers, Integers]:
        """Blocks of 2**level cells that hold a row, ascending, and their exact sums.

        With ``below``, a level and some of its nodes, only blocks within these.
        """

    def margin(self, level: int) -> Integers:
        """Exact sums (2**level,) of cells by where they lie in their block of 2**level."""

    def histogram(self) -> tuple[Integers, Integers]:
        """The counts that occur, ascending, and how many cells have each."""

    def each(self, jobs: Jobs, kernel: WorkerFunction) -> pa.Table:
        """Do all jobs, by part; the answers, together, in the order of parts."""

    def derive(self, jobs: Jobs, kernel: WorkerFunction) -> CellStore:
        """Do all jobs with a kernel that gives ``index`` and ``count``, and hold the answers where they are."""

    def discard(self) -> None:
        """Remove what is held on disks."""


def slices(jobs: pa.Table, level: int, index: Integers) -> list[slice]:
    """Where the cells of each job lie among those of its part."""
    node = jobs.column("node").to_numpy()
    starts, ends = np.searchsorted(index, node << level), np.searchsorted(index, (node + 1) << level)
    return [slice(start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def in_parts(people: NDArray[Any], size: float) -> Integers:
    """Part numbers, from 0 on without gaps, that group neighbours with about ``size`` people together.

    >>> in_parts(np.array([5, 5, 1, 30, 2, 3]), 10).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    before = np.cumsum(people) - people
    bucket = (before // size).astype(np.int64)
    return np.asarray(np.cumsum(np.diff(bucket, prepend=bucket[:1]) > 0), dtype=np.int64)


def answers_by_node(found: pa.Table, node: Integers) -> dict[str, Any]:
    """The columns of answers in the order of ``node``, of which each must have been answered once."""
    given = found.column("node").to_numpy()
    order = np.argsort(given, kind="stable")
    if not np.array_equal(given[order], node):
        raise AccountingError("the workers did not answer for each part exactly once")
    return {name: found.column(name).take(order) for name in found.column_names}
