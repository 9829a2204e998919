"""Spark as the engine: the same verbs over a frame of a cluster.

Spark may compute a task again, and a source may have changed by then. So the rows that are bounded are frozen first, in
files of which Spark commits one attempt each, or, where workers share no folder, by the workers (a local checkpoint):
see docs/explanation/rows-and-people.md. `read_values` freezes nothing: there the bound is the last thing that a task
does before its rows are collected, and Spark collects one attempt of each task.

Spark's error messages can quote a value, so they are never shown: they become an `InputError` that names the source.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain.sql import Call, Columns, Dialect, Kind, SourceColumn
from sudare.engines.bound_sql import values_sql
from sudare.engines.dialect import SPARK, arrow_function, source_sql
from sudare.engines.files import unreadable
from sudare.engines.protocol import Placement, RowBound
from sudare.engines.spark_session import failures, quietly, refuse_early_death, without_pandas_warning
from sudare.engines.spark_sources import Scratch
from sudare.engines.verbs import Engine, cells_sql, columns_of, needed
from sudare.errors import InputError, ParameterError, SudareError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPES: dict[str, tuple[str, Kind]] = {
    "tinyint": ("TINYINT", "whole"),
    "smallint": ("SMALLINT", "whole"),
    "int": ("INTEGER", "whole"),
    "bigint": ("BIGINT", "whole"),
    "float": ("FLOAT", "number"),
    "double": ("DOUBLE", "number"),
    "string": ("VARCHAR", "text"),
    "boolean": ("BOOLEAN", "truth"),
}


@dataclass(frozen=True)
class SparkEngine(Engine):
    """The verbs of `sudare.engines.verbs.Engine` over one frame."""

    frame: DataFrame
    columns: Mapping[str, SourceColumn]
    name: str
    check: Callable[[], None] | None = None
    """Checks the source before each verb."""
    scratch: Path | None = None
    """The folder for frozen rows, see `sudare.engines.scratch`."""

    @classmethod
    def over(
        cls,
        frame: DataFrame,
        name: str = "the Spark frame",
        typed: bool = True,
        check: Callable[[], None] | None = None,
        untyped: Collection[str] = (),
        scratch: Path | None = None,
    ) -> SparkEngine:
        """The engine over a frame, of which only names and types of columns are read; ``untyped`` ones have none."""
        with refusing(name):
            fields = frame.schema.fields
        names = [each.name for each in fields]
        if len(set(names)) < len(names):
            twice = next(each for each in names if names.count(each) > 1)
            raise InputError("two columns of {name} have the same name", value=twice, name=name)
        if not names:
            raise InputError("the source has no columns", value=name)
        columns = {
            each.name: _column(
                each.name, each.dataType.simpleString(), typed and each.name not in untyped, f"column{place}"
            )
            for place, each in enumerate(fields)
        }
        return cls(frame, columns, name, check, scratch)

    @contextmanager
    def counted(
        self, placement: Placement, bound: RowBound | None, scratch: Scratch | None = None
    ) -> Iterator[DataFrame]:
        """The result of `count_rows`, left in Spark: a frame of ``cell`` and ``kept``, valid within the block."""
        with self.opened(needed(columns_of(placement), bound), scratch) as shell:
            yield shell.spark.sql(cells_sql(shell, placement, bound))

    @contextmanager
    def selected(self, columns: Sequence[SourceColumn], bound: RowBound | None) -> Iterator[DataFrame]:
        """The result of `read_values`, left in Spark: a frame of c0, c1, ..., valid within the block."""
        with self.opened(needed(columns, bound)) as shell:
            yield shell.spark.sql(values_sql(columns, bound, shell.dialect, shell.name("source")))

    @contextmanager
    def opened(self, columns: Sequence[SourceColumn], scratch: Scratch | None = None) -> Iterator[SparkShell]:
        """See `Engine`; rows are frozen in ``scratch``, or in a folder of the shell's own."""
        if self.check is not None:
            self.check()
        with refusing(self.name), without_pandas_warning():
            shell = SparkShell(self.frame.sparkSession, scratch, self.scratch)
            try:
                # Renamed by place: Spark takes names that differ in case only for the same.
                source = self.frame.toDF(*(column.sql for column in self.columns.values()))
                shell.show("raw", source)
                shell.view("source", source_sql(columns, shell.name("raw"), shell.dialect))
                yield shell
            except KeyboardInterrupt:
                shell.forget()
                raise
            finally:
                shell.close()


@dataclass(frozen=True)
class SparkShell:
    """See `Shell`: views of a session that others use too, so that their names are random."""

    spark: SparkSession
    scratch: Scratch | None = None
    """The folder for frozen rows; without it, the shell makes one in ``place``."""
    place: Path | None = None
    dialect: Dialect = SPARK
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    shown: list[str] = field(default_factory=list)
    kept: list[DataFrame] = field(default_factory=list)
    folders: list[Scratch] = field(default_factory=list)

    def name(self, view: str) -> str:
        return f"sudare_{self.token}_{view}"

    def show(self, view: str, frame: DataFrame) -> None:
        frame.createOrReplaceTempView(self.name(view))
        self.shown.append(self.name(view))

    def register(self, view: str, table: Columns) -> None:
        import pyarrow
        from pyspark.sql.functions import broadcast

        self.show(view, broadcast(self.spark.createDataFrame(pyarrow.table(table))))

    def define(self, name: str, call: Call) -> None:
        from pyspark.sql.pandas import functions

        vectorised: Any = functions.arrow_udf  # its types know no function of several columns
        self.spark.udf.register(self.name(name), vectorised(arrow_function(call), "bigint"))

    def view(self, view: str, sql: str, *, few: bool = False) -> None:
        from pyspark.sql.functions import broadcast

        frame = self.spark.sql(sql)
        self.show(view, broadcast(frame) if few else frame)

    def freeze(self, view: str, sql: str) -> None:
        """See `Shell`: in files, or held by the workers where they share no folder."""
        frame, scratch = self.spark.sql(sql), self.scratch
        if scratch is None and (scratch := Scratch.reachable(self.place, self.spark)) is not None:
            self.folders.append(scratch)
        self.show(view, frame.localCheckpoint() if scratch is None else scratch.freeze(frame))

    def keep(self, view: str, sql: str) -> None:
        frame = self.spark.sql(sql).persist()
        self.kept.append(frame)
        self.show(view, frame)

    def ask(self, sql: str) -> Columns:
        found = self.spark.sql(sql).toArrow()
        return {name: _numpy(column) for name, column in zip(found.column_names, found.columns, strict=True)}

    def forget(self) -> None:
        """Leave views and persisted frames to the end of the session: the connection still waits for an answer."""
        self.kept.clear()
        self.shown.clear()

    def close(self) -> None:
        """Remove the files, then the persisted frames and the views."""
        for folder in self.folders:
            folder.remove()
        for frame in self.kept:
            frame.unpersist()
        for view in self.shown:
            self.spark.catalog.dropTempView(view)


def _numpy(column: Any) -> NDArray[Any]:
    """A column of Arrow as `Columns` have it."""
    if column.null_count and str(column.type) not in ("float", "double"):
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]
    return np.asarray(column.to_numpy())


@contextmanager
def refusing(name: str) -> Iterator[None]:
    """Turn errors of Spark into an `InputError` that repeats nothing of them."""
    try:
        with quietly():
            yield
    except SudareError:
        raise
    except failures() as error:
        refuse_early_death(error)
        text = str(error)
        if "OutOfMemory" in text or "No space left" in text:
            raise InputError(
                "the records do not fit into Spark's memory and temporary space",
                value=name,
                hint="Name a folder on a larger disk: scratch under [data] in the recipe, or SUDARE_SCRATCH.",
            ) from None
        raise unreadable(name) from None


def _column(name: str, declared: str, typed: bool, sql: str) -> SourceColumn:
    if declared.startswith("decimal"):
        kind: Kind = "whole" if declared.endswith(",0)") else "number"
        return SourceColumn(name, declared.upper(), kind, sql)
    known, kind = _TYPES.get(declared.partition("(")[0].replace("varchar", "string"), (declared.upper(), "other"))
    return SourceColumn(name, known.partition("<")[0], kind if typed else "untyped", sql)


def spark_engine_of(records: object) -> SparkEngine:
    """The engine of records in Spark; refuses others."""
    engine = getattr(records, "engine", None)
    if not isinstance(engine, SparkEngine):
        raise ParameterError(
            "these records are not in Spark", hint='Use read(..., engine="spark") or give a Spark frame to read.'
        )
    return engine
