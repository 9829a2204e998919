"""Files of a moment, in which Spark keeps rows as it saw them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.engines.scratch import PrivateFolder
from sudare.engines.spark_sources import plain_path
from sudare.errors import ParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, eq=False)
class Scratch(PrivateFolder):
    """A private folder that all workers reach, for exact counts and noisy cells."""

    @classmethod
    def reachable(cls, folder: str | Path | None, spark: SparkSession) -> Scratch | None:
        """As `under`; None where no folder is named and workers are in other machines."""
        if folder is None and not _in_this_machine(spark):
            return None
        return cls.within(folder)

    @classmethod
    def under(cls, folder: str | Path | None, spark: SparkSession) -> Scratch:
        """A new folder under ``folder``; without it among the temporary files, if all workers are in this machine."""
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


def _in_this_machine(spark: SparkSession) -> bool:
    return (spark.conf.get("spark.master", "") or "").startswith("local")
