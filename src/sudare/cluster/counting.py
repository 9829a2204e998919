"""`count` in a cluster: bounded counts that stay there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.cluster.release import ClusterTable
from sudare.cluster.spark_store import SparkStore, carried
from sudare.domain import Domain
from sudare.domain.ids import MissingUnit
from sudare.engines import Records
from sudare.engines.records import indices_of
from sudare.engines.spark_engine import SparkEngine
from sudare.engines.spark_scratch import Scratch
from sudare.errors import InputError, ParameterError

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


def spark_engine_of(records: Records) -> SparkEngine:
    """The engine of records in Spark; refuses others."""
    engine = getattr(records, "engine", None)
    if not isinstance(engine, SparkEngine):
        raise ParameterError(
            "these records are not in Spark", hint='Use read(..., engine="spark") or give a Spark frame to read.'
        )
    return engine


def _indexed(domain: Domain) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Cells by their keys to cells by their indices, batch by batch."""

    def batches(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in rows:
            with carried():
                index = indices_of(domain, batch.column("cell").to_numpy())
            yield pa.RecordBatch.from_arrays([pa.array(index), batch.column("kept")], ["index", "count"])

    return batches
