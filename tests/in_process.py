"""A store of cells in this process, with which Spark is compared: byte for byte the same under one seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.arrays import Integers
from sudare.measure.blocks import margin_of
from sudare.spark.store import Jobs, WorkerFunction

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class InProcessStore:
    """See `sudare.spark.store.CellStore`."""

    index: Integers
    count: Integers

    def sums(self, level: int, below: tuple[int, Integers] | None = None) -> tuple[Integers, Integers]:
        index, count = self.index, self.count
        if below is not None:
            kept = np.isin(index >> below[0], below[1])
            index, count = index[kept], count[kept]
        block = index >> level
        first = np.flatnonzero(np.diff(block, prepend=-1))
        return block[first], np.add.reduceat(count, first) if len(first) else count

    def margin(self, level: int) -> Integers:
        return margin_of(level, self.index, self.count)

    def histogram(self) -> tuple[Integers, Integers]:
        values, times = np.unique(self.count, return_counts=True)
        return values, times.astype(np.int64)

    def each(self, jobs: Jobs, kernel: WorkerFunction) -> pa.Table:
        import pyarrow as pa

        table, (node, part) = jobs.table(), jobs.read
        own = self.index >> jobs.level
        place = np.searchsorted(node, own)
        read = np.flatnonzero(np.append(node, -1)[place] == own)
        parts = part[place[read]]  # ascending, as cells, nodes and parts all do
        answers = [kernel.gives.empty_table()]
        for number in np.unique(jobs.part).tolist():
            start, end = np.searchsorted(jobs.part, [number, number + 1]).tolist()
            cells = read[slice(*np.searchsorted(parts, [number, number + 1]))]
            answers.append(kernel(table.slice(start, end - start), self.index[cells], self.count[cells]))
        return pa.concat_tables(answers)

    def derive(self, jobs: Jobs, kernel: WorkerFunction) -> InProcessStore:
        found = self.each(jobs, kernel)
        index = found.column("index").to_numpy()
        order = np.argsort(index, kind="stable")
        return InProcessStore(index[order], found.column("count").to_numpy()[order])

    def discard(self) -> None:
        """See `CellStore`: there is nothing."""
