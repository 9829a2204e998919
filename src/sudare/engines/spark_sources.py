"""What Spark reads: files where they are, and tables in memory that are handed over; and `Scratch`, the private
folder in which Spark freezes rows."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.engines.duckdb_sources import ArrowSource, CsvSource, ParquetSource, RecordSource
from sudare.engines.files import scheme_of
from sudare.engines.scratch import PrivateFolder
from sudare.engines.spark_session import spark_session, without_pandas_warning
from sudare.errors import InputError, ParameterError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def frame_of(source: RecordSource, scratch: Path | None = None) -> DataFrame:
    """The rows of a source as a Spark frame."""
    spark = spark_session(scratch)
    if isinstance(source, ParquetSource):
        # File by file, so that both engines read the same ones; partitions are named by folders below the one given.
        # A base path is taken as it is, while the paths of files are patterns.
        source.check()
        base = f"file://{Path(source.name).absolute()}"
        reader = spark.read.option("basePath", base) if source.partitioned else spark.read
        paths = [plain_path(path) for path in source.files]
        frame = reader.parquet(*paths)
        return reader.schema(_with_text(frame.schema, source.untyped)).parquet(*paths) if source.untyped else frame
    if isinstance(source, CsvSource):
        return _csv(spark, source)
    if isinstance(source, ArrowSource):
        import pyarrow

        if isinstance(source.data, pyarrow.Table):
            with without_pandas_warning():
                return spark.createDataFrame(_signed(source.data))
    raise InputError(
        "Spark does not read this",
        value=source.name,
        allowed="Parquet, CSV and TSV files, Spark frames, Arrow tables, pandas and Polars frames",
    )


def frame_at(address: str, scratch: Path | None = None) -> DataFrame:
    """Parquet at an address that only Spark knows, such as hdfs://... or s3a://..."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # py4j ships no types

    spark, scheme = spark_session(scratch), scheme_of(address)
    if (java := getattr(spark, "_jvm", None)) is not None:  # a session over Spark Connect has none
        try:
            java.org.apache.hadoop.fs.FileSystem.getFileSystemClass(scheme, spark._jsc.hadoopConfiguration())
        except Py4JJavaError:
            raise InputError(
                "Spark has no connector for {scheme}:// on its class path",
                hint="Start it with the connector's package, or copy the file to this machine and give its path.",
                scheme=scheme,
            ) from None
    return spark.read.parquet(address)


def _with_text(schema: StructType, names: Collection[str]) -> StructType:
    """The schema with some columns as text: Spark would look for a type that all folders' names have."""
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(each.name, StringType()) if each.name in names else each for each in schema.fields])


def _csv(spark: SparkSession, source: CsvSource) -> DataFrame:
    from pyspark.sql.types import StringType, StructField, StructType

    layout = source.layout
    if not layout.utf8:
        raise InputError(
            "Spark reads no text in this encoding",
            value=layout.encoding,
            allowed="UTF-8",
            hint="Read it with DuckDB, or write it as Parquet first.",
        )
    reader = spark.read.options(
        header=layout.header,
        sep=layout.delimiter,
        quote='"',
        escape='"',
        encoding="UTF-8",
        multiLine=True,  # line by line, Spark would leave lines out that are white throughout
        mode="FAILFAST",
        maxColumns=len(layout.names),
    )
    schema = StructType([StructField(f"c{place}", StringType()) for place in range(len(layout.names))])
    frame = reader.csv(plain_path(source.path), schema=schema)
    return frame.select(*(frame[f"c{place}"].alias(name) for name, place in layout.places.items()))


def plain_path(path: Path | str) -> str:
    """A path with the special characters of Hadoop's patterns escaped."""
    return "file://" + re.sub(r"([*?\[\]{}\\])", r"\\\1", str(Path(path).absolute()))


def _signed(table: pyarrow.Table) -> Any:
    """The table in types that Spark has: no unsigned numbers, no dictionaries, no views, no half floats."""
    import pyarrow
    from pyarrow import types

    signed = {
        pyarrow.uint8(): pyarrow.int16(),
        pyarrow.uint16(): pyarrow.int32(),
        pyarrow.uint32(): pyarrow.int64(),
        pyarrow.uint64(): pyarrow.decimal128(20, 0),
        pyarrow.float16(): pyarrow.float32(),
        pyarrow.string_view(): pyarrow.string(),
        pyarrow.large_string(): pyarrow.string(),
    }
    fields = []
    for field in table.schema:
        plain = field.type.value_type if types.is_dictionary(field.type) else field.type
        fields.append(pyarrow.field(field.name, signed.get(plain, plain)))
    return table.cast(pyarrow.schema(fields))


@dataclass(frozen=True, eq=False)
class Scratch(PrivateFolder):
    """A private folder that all workers reach, for exact counts and noisy cells."""

    @classmethod
    def reachable(cls, folder: str | Path | None, spark: SparkSession) -> Scratch | None:
        """As `under`; None where no folder is named and workers are in other machines, or the driver is."""
        if _is_remote(spark) or (folder is None and not _in_this_machine(spark)):
            return None
        return cls.within(folder)

    @classmethod
    def under(cls, folder: str | Path | None, spark: SparkSession) -> Scratch:
        """A new folder under ``folder``; without it among the temporary files, if all workers are in this machine."""
        if _is_remote(spark):
            raise ParameterError(
                "a session over Spark Connect shares no folder with this program",
                hint='Release here (a recipe without release = "cluster"), or start with spark-submit.',
            )
        if folder is None and not _in_this_machine(spark):
            raise ParameterError(
                "scratch is missing",
                allowed="a folder that every worker reaches under the same path",
                hint="It holds exact counts while the release is made: keep it as private as the data.",
            )
        return cls.within(folder)

    def freeze(self, frame: DataFrame) -> DataFrame:
        """The rows of a frame, computed once and read from files after that.

        Spark commits one attempt of each task that writes, so that a task done twice leaves its rows once.
        """
        path = self.path / f"rows-{len(list(self.path.iterdir())):03d}"
        frame.write.parquet(f"file://{path}")
        return frame.sparkSession.read.schema(frame.schema).parquet(plain_path(path))


def _is_remote(spark: SparkSession) -> bool:
    """Whether the session is one of Spark Connect: its driver is another process, on any machine."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _in_this_machine(spark: SparkSession) -> bool:
    return not _is_remote(spark) and (spark.conf.get("spark.master", "") or "").startswith("local")
