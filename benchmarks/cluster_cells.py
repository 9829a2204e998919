"""Populated cells from 1e6 to 1e8, released by `Tree` in Spark on this machine alone, beside one process.

The cells lie in Parquet files, as `sudare.tables.spark.count` leaves them; Spark is local[2] with a JVM of 4 GB. The
table is that of `tree_speed`, in 16 regions that are copies of one. One process does 1e6 and 1e7 for comparison; 1e8
would need 20 GB there. Memory is the sum of the peaks of the JVM and of all Python processes. The start of Spark is
apart.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sudare as sd
from family import family_core_seconds, family_megabytes
from part import run_part
from row import Row
from sudare.tables.synthetic import synthetic_table

REGIONS, REGION_BITS, PEOPLE_PER_CELL, EPSILON = 16, 33, 100, 0.1
DOMAIN = sd.Domain(cell=sd.Grid(2**15, 2**14), kind=sd.Categories(list(range(256))))
REGION = sd.Domain(cell=sd.Grid(2**13, 2**12), kind=sd.Categories(list(range(256))))
POPULATED = (10**6, 10**7, 10**8)
ONE_PROCESS = 10**7


def regions(populated: int) -> tuple[np.ndarray, np.ndarray]:
    """Index and count of one region's cells."""
    own = populated // REGIONS
    table = synthetic_table(REGION, PEOPLE_PER_CELL * own, seed=1, populated_share=own / REGION.size)
    return table.index, table.count


def write_cells(folder: Path, populated: int) -> None:
    """One file a region."""
    folder.mkdir()
    index, count = regions(populated)
    for number in range(REGIONS):
        cells = pa.table({"index": index + (number << REGION_BITS), "count": count})
        pq.write_table(cells, folder / f"cells-{number:02d}.parquet", row_group_size=1 << 20)


def in_spark(folder: Path, populated: int) -> Iterator[Row]:
    from sudare.engines.spark_session import spark_session
    from sudare.spark.spark_store import Scratch, SparkStore
    from sudare.tables import spark as cluster

    spark = spark_session(
        spark_master="local[2]",
        spark_driver_memory="4g",
        spark_ui_enabled="false",
        spark_sql_shuffle_partitions="64",
    )
    spark.sparkContext.setLogLevel("ERROR")
    cells = folder / f"cells-{populated}"
    write_cells(cells, populated)
    gc.collect()
    store = SparkStore(spark.read.parquet(str(cells)), Scratch.within(folder))
    table = cluster.ClusterTable(DOMAIN, sd.privacy.Unit(), store)
    start, spent = time.perf_counter(), family_core_seconds()
    made = cluster.release(table, folder / f"released-{populated}", sd.Tree(), EPSILON)
    seconds, spent = time.perf_counter() - start, family_core_seconds() - spent
    case = f"{populated:,} populated of 2**37 cells, epsilon {EPSILON}"
    note = f"{made.nonzero_cells:,} cells released in {len(made.parts):,} files"
    yield Row("Tree in Spark", spent, "CPU s", None, note, case, series="Tree in Spark, local[2]", at=populated)
    yield Row("Tree in Spark, by the clock", seconds, "s", None, "on a machine that others used too", case)
    peak = family_megabytes()
    if peak is not None:
        name = "memory, JVM and Python"
        yield Row(name, peak, "MB", None, "of this size and the smaller", case, series=name, at=populated)


def in_one_process(populated: int) -> Row:
    own, count = regions(populated)
    index = np.concatenate([own + (number << REGION_BITS) for number in range(REGIONS)])
    table = sd.CountTable(DOMAIN, index, np.tile(count, REGIONS))
    start = time.process_time()
    made = sd.release(table, sd.Tree(), epsilon=EPSILON)
    seconds = time.process_time() - start
    case = f"{populated:,} populated of 2**37 cells, epsilon {EPSILON}"
    return Row("Tree in one process", seconds, "CPU s", "Tree in Spark", f"{len(made.table):,} cells released", case)


def rows(quick: bool) -> Iterator[Row]:
    """Ascending, Spark first: its memory is not that of our own process then."""
    sizes = (10**5,) if quick else POPULATED
    with tempfile.TemporaryDirectory(prefix="sudare-cells-") as name:
        for populated in sizes:
            yield from in_spark(Path(name), populated)
    for populated in sizes:
        if populated <= ONE_PROCESS:
            yield in_one_process(populated)


if __name__ == "__main__":
    run_part(rows)
