"""The Spark session that the work is done in: the one there is, or a local one."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sudare.engines.spark_java import java_home
from sudare.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MEMORY = "4g"


def spark_session(**settings: str) -> SparkSession:
    """The active session; where there is none, a new one with ``settings``, written with "_" for ".".

    On a cluster, start the program with ``spark-submit`` or make the session first: it is then the active one. A
    session of our own runs in this machine on all processors, unless ``PYSPARK_SUBMIT_ARGS`` or Spark's own files say
    otherwise.
    """
    with without_pandas_warning():
        try:
            from pyspark.errors import PySparkException
            from pyspark.sql import SparkSession
        except ImportError:
            raise MissingExtraError.of("Spark", "spark") from None
        active = SparkSession.getActiveSession()
        if active is not None:
            return active
        home = java_home()
        if home is not None:
            os.environ["JAVA_HOME"] = str(home)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.appName("sudare")
        if "PYSPARK_SUBMIT_ARGS" not in os.environ:
            builder = builder.config("spark.driver.memory", _MEMORY)
        for name, value in {"spark_ui_showConsoleProgress": "false", **settings}.items():
            builder = builder.config(name.replace("_", "."), value)
        try:
            made = builder.getOrCreate()
            made.sparkContext.setLogLevel("OFF")  # what Spark logs of a failure can quote a value
            return made
        except (PySparkException, OSError):
            raise InputError("Spark does not start", hint="Its own messages above say why.") from None


@contextmanager
def without_pandas_warning() -> Iterator[None]:
    """PySpark warns about pandas 3 wherever Arrow is used, although no pandas frame ever is here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*fully support pandas.*")
        yield


def is_spark_frame(source: Any) -> bool:
    """Whether this is a frame of Spark, found out without loading Spark."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(source).__mro__
    )
