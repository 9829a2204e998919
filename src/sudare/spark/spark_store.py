"""Cells in Spark: aggregates of the cluster, and kernels that run on its workers through Arrow.

The rows are frozen in files before any noise is drawn, so that whatever a worker does twice it does on the same rows.
Parts are groups of a cogroup: one side has the jobs, the other the cells below their nodes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.arrays import Integers
from sudare.engines.spark_session import failures, quietly, refuse_early_death, without_pandas_warning
from sudare.engines.spark_sources import Scratch
from sudare.errors import OutputError, SudareError
from sudare.measure.blocks import margin_of
from sudare.spark.store import Jobs, WorkerFunction

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


_CARRIED = "an error of Sudare as JSON: "


@dataclass(frozen=True)
class SparkStore:
    """See `Store`: ``frame`` has index and count, frozen in files of ``scratch``."""

    frame: DataFrame
    scratch: Scratch

    @classmethod
    def freezing(cls, frame: DataFrame, scratch: Scratch) -> SparkStore:
        """A store of the frame's rows, frozen in files; if that fails or is interrupted, the files are removed."""
        try:
            return cls(scratch.freeze(frame), scratch)
        except BaseException:
            scratch.remove()
            raise

    def sums(self, level: int, below: tuple[int, Integers] | None = None) -> tuple[Integers, Integers]:
        import pyarrow as pa
        from pyspark.sql import functions as sql

        frame = self.frame
        with working():
            if below is not None:
                nodes = sql.broadcast(self._small(pa.table({"node": below[1]})))
                frame = frame.join(nodes, sql.shiftright(sql.col("index"), below[0]) == nodes["node"], "left_semi")
            block = sql.shiftright(sql.col("index"), level).alias("block")
            found = frame.groupBy(block).agg(sql.sum("count").cast("bigint").alias("sum")).toArrow()
        return _sorted(found.column("block"), found.column("sum"))

    def margin(self, level: int) -> Integers:
        from pyspark.sql import functions as sql

        kind = sql.col("index").bitwiseAND(sql.lit((1 << level) - 1)).alias("kind")
        with working():
            found = self.frame.groupBy(kind).agg(sql.sum("count").cast("bigint").alias("sum")).toArrow()
        return margin_of(level, found.column("kind").to_numpy(), found.column("sum").to_numpy())

    def histogram(self) -> tuple[Integers, Integers]:
        with working():
            found = self.frame.groupBy("count").count().toDF("value", "times").toArrow()
        return _sorted(found.column("value"), found.column("times"))

    def each(self, jobs: Jobs, kernel: WorkerFunction) -> pa.Table:
        if not len(jobs.node):
            return kernel.gives.empty_table()
        with working():
            return self._answers(jobs, kernel).toArrow()

    def derive(self, jobs: Jobs, kernel: WorkerFunction) -> SparkStore:
        with working():
            return SparkStore.freezing(self._answers(jobs, kernel), self.scratch)

    def discard(self) -> None:
        self.scratch.remove()

    def _answers(self, jobs: Jobs, kernel: WorkerFunction) -> DataFrame:
        import pyarrow as pa
        from pyspark.sql import functions as sql

        node, part = jobs.read
        placed = sql.broadcast(self._small(pa.table({"node": node, "part": part})))
        own = sql.shiftright(self.frame["index"], jobs.level) == placed["node"]
        cells = self.frame.join(placed, own).select("part", "index", "count")
        asked = self._small(jobs.table())
        grouped = asked.groupBy("part").cogroup(cells.groupBy("part"))
        return grouped.applyInArrow(_task(kernel), declared(kernel.gives))

    def _small(self, table: pa.Table) -> DataFrame:
        return self.frame.sparkSession.createDataFrame(table)


def _task(kernel: WorkerFunction) -> Callable[[Any, Any], Any]:
    """What a worker runs for one part: rows come in any order."""

    def task(jobs, cells):  # type: ignore[no-untyped-def]  # PySpark would take hints for a choice of interface
        index, count = (cells.column(name).to_numpy() for name in ("index", "count"))
        order = np.argsort(index, kind="stable")
        with carried():
            return kernel(jobs.sort_by("node"), index[order], count[order])

    return task


def declared(schema: pa.Schema) -> str:
    """An Arrow schema in Spark's words."""
    words = {"int64": "bigint", "double": "double", "string": "string", "binary": "binary", "bool": "boolean"}
    return ", ".join(f"{field.name} {words[str(field.type)]}" for field in schema)


def _sorted(keys: pa.ChunkedArray, values: pa.ChunkedArray) -> tuple[Integers, Integers]:
    key, value = keys.to_numpy(), values.to_numpy()
    order = np.argsort(key, kind="stable")
    return key[order], value[order]


@contextmanager
def carried() -> Iterator[None]:
    """In a worker: send an error of ours to the driver, in the message text that Spark passes on."""
    try:
        yield
    except SudareError as problem:
        raise RuntimeError(f"{_CARRIED}{pickle.dumps(problem).hex()} ") from None


@contextmanager
def working() -> Iterator[None]:
    """Raise errors of ours from the workers again as they were, and any other as a fixed message."""
    try:
        with without_pandas_warning(), quietly():
            yield
    except SudareError:
        raise
    except failures() as error:
        _, found, carried_facts = str(error).partition(_CARRIED)
        if found:
            # As Spark itself reads what its workers send.
            raise pickle.loads(bytes.fromhex(carried_facts.split(maxsplit=1)[0])) from None  # noqa: S301 - see above
        refuse_early_death(error)
        raise OutputError("the work in the cluster failed", hint="The logs of Spark say why.") from None
