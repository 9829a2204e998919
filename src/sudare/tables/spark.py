"""Tables in a cluster: counted there (`count`), released there and written as files (`release`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.domain import CountTable, Domain
from sudare.domain.ids import MissingUnit
from sudare.domain.table import LARGEST_TOTAL
from sudare.engines import Records
from sudare.engines.records import indices_of
from sudare.engines.spark_engine import spark_engine_of
from sudare.engines.spark_sources import Scratch
from sudare.errors import InputError, Message, ParameterError, TableError, either
from sudare.noise import Source, metered
from sudare.privacy import Budget, Guarantee, Number, Unit
from sudare.privacy.guarantee import warn_of
from sudare.spark.parts import Describe, PartFile, ReleaseTarget, empty_folder
from sudare.spark.spark_store import SparkStore, carried
from sudare.spark.store import CellStore
from sudare.tables import Method, Tree, spark_threshold, spark_top_down, spark_tree  # noqa: F401 - they register methods
from sudare.tables.method import cost_of_replacing
from sudare.tables.release import TOTALS, budget_of, promise, require_noise
from sudare.tables.spark_task import ClusterTask, Cut, InCluster, in_cluster

if TYPE_CHECKING:
    import pyarrow as pa


def count(
    records: Records,
    domain: Domain,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    unit: str | None = None,
    max_rows: int = 1,
    outside: str = "error",
    key: bytes | None = None,
    missing_unit: str | MissingUnit = "error",
    *,
    scratch: str | Path | None = None,
) -> ClusterTable:
    """`Records.count` for tables that one machine cannot hold: the same cells and counts, left in Spark.

    ``scratch`` is a folder that all workers reach under the same path. The counts are written there once, and read
    from there in every pass over them; they are removed with the table. The rows that they are made of are there while
    they are counted.
    """
    engine = spark_engine_of(records)
    asked = records.question(domain, columns, unit, max_rows, outside, key, missing_unit)
    folder, looked = (Scratch.under(scratch, engine.frame.sparkSession) for _ in range(2))
    with looked, engine.counted(asked.placement, asked.bound, looked) as cells:
        store = SparkStore.freezing(cells.mapInArrow(_indexed(domain), "index bigint, count bigint"), folder)
    try:
        records.state.refuse_changed()
    except InputError:
        store.discard()
        raise
    return ClusterTable(domain, asked.unit, store)


def _indexed(domain: Domain) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Cells by their keys to cells by their indices, batch by batch."""

    def batches(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in rows:
            with carried():
                index = indices_of(domain, batch.column("cell").to_numpy())
            yield pa.RecordBatch.from_arrays([pa.array(index), batch.column("kept")], ["index", "count"])

    return batches


METHODS = Message("tree, top_down, simplex, negative_l2, nonnegative_lasso, laplace with cut or clip")


@dataclass(frozen=True)
class ClusterTable:
    """A private table whose cells are in a store; nothing of them is in this process."""

    domain: Domain
    unit: Unit
    store: CellStore

    def discard(self) -> None:
        """Remove the exact counts from where they are: nothing can be released any more."""
        self.store.discard()

    def __repr__(self) -> str:
        return f"ClusterTable over {self.domain.describe()}, unit: {self.unit}"


@dataclass(frozen=True)
class ClusterRelease:
    """A protected table in files: `parts` lists them, in the order of their cells."""

    domain: Domain
    guarantee: Guarantee
    method: Method
    budget: Budget
    folder: Path
    parts: tuple[PartFile, ...]

    @property
    def nonzero_cells(self) -> int:
        """Cells that are listed."""
        return sum(part.rows for part in self.parts)

    @property
    def total(self) -> int:
        """The sum of all released counts."""
        return sum(part.total for part in self.parts)

    @property
    def summary(self) -> dict[str, Any]:
        """Facts from the released files alone."""
        return {
            "kind": "table",
            "method": self.method.name,
            "parameters": self.method.parameters,
            "cells": self.domain.size,
            "nonzero_cells": self.nonzero_cells,
            "total": self.total,
            "smallest": 0,
            "integers": True,
        }

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The released rows, piece by piece."""
        import pyarrow.parquet as pq

        for part in self.parts:
            yield from pq.ParquetFile(self.folder / part.name).iter_batches(columns=columns)

    def table(self) -> CountTable:
        """All of it in memory, where it fits."""
        import pyarrow as pa

        schema = pa.schema([("index", pa.int64()), ("count", pa.int64())])
        whole = pa.Table.from_batches(self.batches(["index", "count"]), schema)
        return CountTable.released(self.domain, *(whole.column(name).to_numpy() for name in ("index", "count")))


def release(
    table: ClusterTable,
    folder: str | Path,
    method: Method | None = None,
    epsilon: Number | None = None,
    *,
    total: str = "noisy",
    rho: Number | None = None,
    delta: Number | None = None,
    seed: int | None = None,
    source: Source | None = None,
    describe: Describe | None = None,
    cut: Cut | None = None,
) -> ClusterRelease:
    """Protect a table in a cluster and write it into ``folder``, which all workers must reach; never collected.

    In distribution it is `sudare.release` with the same arguments. ``describe`` says what is written for released
    cells (index and count by default). With a ``seed`` the same bytes come out whatever the number of workers and
    partitions; such a release promises nothing and says so. The measurements must cost exactly epsilon: workers check
    it for their parts, the driver for the plan.
    """
    if total not in TOTALS:
        raise ParameterError("unknown way to treat the total", value=total, allowed=either(TOTALS))
    if not isinstance(table, ClusterTable):
        raise ParameterError(
            "this is not a table in a cluster", value=type(table).__name__, hint="sudare.tables.spark.count"
        )
    source = Source.chosen(source, seed)
    method = Tree() if method is None else method
    run = require_method(method)
    budget = budget_of(epsilon, rho, delta)
    require_noise(method, budget)
    target = empty_folder(Path(folder))
    public_total = total == "public" and method.uses_total
    task = ClusterTask(table.domain, _total(table), table.unit.max_rows, budget, public_total, source)
    output = ReleaseTarget(table.domain, str(target), describe or index_and_count)
    with metered() as meter:
        parts = run(task, table.store, cut or Cut(), output)
    meter.check(budget)
    replaced = cost_of_replacing(method, table.domain, budget)
    guarantee = promise(table.unit, budget, replaced, delta, public_total=public_total)
    if source.seeded:
        guarantee = guarantee.without_protection()
    warn_of(guarantee, task.total if public_total else None)
    return ClusterRelease(table.domain, guarantee.unbooked(), method, budget, target, parts)


def index_and_count(table: CountTable) -> pa.Table:
    """The two columns that say all."""
    import pyarrow as pa

    return pa.table({"index": table.index, "count": table.count})


def require_method(method: object) -> InCluster:
    """How a method runs in a cluster; refuses one that has no way to."""
    if (found := in_cluster(method)) is not None:
        return found
    raise ParameterError(
        "this method does not run in a cluster", value=getattr(method, "name", type(method).__name__), allowed=METHODS
    )


def _total(table: ClusterTable) -> int:
    """The exact total: the sum of the one block that is the whole domain."""
    _, sums = table.store.sums(table.domain.bits)
    total = int(sums.sum())
    if not 0 <= total <= LARGEST_TOTAL:
        raise TableError("the counts are too large", allowed="a total of at most 2**62")
    return total
