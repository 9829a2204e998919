"""Reports of devices that lie in Spark: tallied where they are, estimated here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.engines.read import is_spark_frame
from sudare.errors import InputError, ParameterError
from sudare.local.encoding import Encoding
from sudare.local.layout import Packed
from sudare.local.tally import Tally
from sudare.spark.spark_store import carried, working

if TYPE_CHECKING:
    import pyarrow as pa

_REPORTS = -1
"""The place at which the number of reports stands among the sums."""


def tally(frame: Any, encoding: Encoding, column: str = "report", *, seeded: bool = False) -> Tally:
    """The sums over all reports of a Spark frame, one report (bytes) a row: all that `sudare.local.estimate` needs.

    Reports are epsilon-LDP already, so adding them up is post-processing.
    Workers send sums, never reports. EM over single unary, hashed or subset reports does need them: use "simplex".
    """
    from pyspark.sql import functions as sql

    if not is_spark_frame(frame):
        raise ParameterError("these reports are not in Spark", value=type(frame).__name__, allowed="a Spark frame")
    with working():
        kinds = dict(frame.dtypes)
        if kinds.get(column) != "binary":
            found = kinds.get(column, "no such column")
            raise InputError(
                "the column of reports is not one of bytes", value=found, allowed="{column}: binary", column=column
            )
        sums = frame.select(column).mapInArrow(_sums(encoding), "place bigint, sum bigint")
        added = sums.groupBy("place").agg(sql.sum("sum").cast("bigint").alias("sum")).toArrow()
    made = Tally(encoding)
    made.seeded, made.unbooked = seeded, True
    for place, total in zip(*(added.column(name).to_numpy() for name in ("place", "sum")), strict=True):
        if place == _REPORTS:
            made.reports = int(total)
        else:
            made.sums[place] = total
    return made


def _sums(encoding: Encoding) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Batches of reports to the sums that are not 0."""

    def batches(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        own = Tally(encoding)
        with carried():
            for batch in rows:
                own.add(_packed(batch.column(0), encoding.report_bytes))
        place = np.flatnonzero(own.sums)
        places, sums = np.append(place, _REPORTS), np.append(own.sums[place], own.reports)
        yield pa.RecordBatch.from_arrays([pa.array(places), pa.array(sums)], ["place", "sum"])

    return batches


def _packed(reports: pa.Array, length: int) -> Packed:
    """Reports (n,) as bytes (n, length)."""
    import pyarrow as pa

    try:
        fixed = reports.cast(pa.binary(length))
    except pa.ArrowInvalid:  # it quotes the length of what it found
        fixed = None
    if fixed is None or fixed.null_count:
        raise InputError("a report is missing or has the wrong length", allowed="{length} bytes", length=length)
    whole = np.frombuffer(fixed.buffers()[1] or b"", dtype=np.uint8)
    return whole[fixed.offset * length :][: len(fixed) * length].reshape(-1, length)
