"""The Spark session that the work is done in: the one there is, or a local one."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Any

from sudare.engines.scratch import PrivateFolder, before_closing
from sudare.engines.spark_failures import java_process
from sudare.engines.spark_java import java_home
from sudare.errors import InputError, Message, MissingExtraError
from sudare.signals import keeping_interrupts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MEMORY = "4g"
_SETTINGS = {
    "spark_ui_showConsoleProgress": "false",
    "spark_io_encryption_enabled": "true",
    "spark_log_level": "FATAL",
}
_OPTIONS = "SPARK_SUBMIT_OPTS"
_END_SECONDS = 20.0


def spark_session(scratch: Path | None = None, **settings: str) -> SparkSession:
    """The active session; where there is none, a new one with ``settings``, written with "_" for ".".

    On a cluster, start the program with ``spark-submit`` or make the session first: it is then the active one. A
    session of our own runs in this machine on all processors, unless ``PYSPARK_SUBMIT_ARGS`` or Spark's own files say
    otherwise. What it spills lies in ``scratch``, see `sudare.engines.scratch`, and is encrypted, unless Spark's own
    files name another place. Its messages are not shown: they quote values.
    """
    with without_pandas_warning():
        try:
            from pyspark.errors import PySparkException
            from pyspark.sql import SparkSession
        except ImportError:
            raise MissingExtraError.of(Message("Spark"), "spark") from None
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
        for name, value in {**_SETTINGS, **settings}.items():
            builder = builder.config(name.replace("_", "."), value)
        try:
            with _java_within(scratch), keeping_interrupts():
                made = builder.getOrCreate()
            made.sparkContext.setLogLevel("OFF")  # what Spark logs of a failure can quote a value
            return made
        except (PySparkException, OSError):
            raise InputError("Spark does not start", hint="Its own messages above say why.") from None


@contextmanager
def _java_within(scratch: Path | None) -> Iterator[None]:
    """A Java that is started within has its temporary files in a private folder, and ends before this is removed."""
    if java_process() is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        yield
        return
    before, folder = os.environ.get(_OPTIONS), PrivateFolder.within(scratch)
    os.environ[_OPTIONS] = f'{before or ""} -Djava.io.tmpdir="{folder.path}"'.strip()
    before_closing(partial(_end_java, folder))
    try:
        yield
    finally:
        if before is None:
            del os.environ[_OPTIONS]
        else:
            os.environ[_OPTIONS] = before


def _end_java(folder: PrivateFolder) -> None:
    if (java := java_process()) is not None:
        java.terminate()
        try:
            java.wait(_END_SECONDS)
        except TimeoutExpired:
            java.kill()
            java.wait()
    folder.remove()


@contextmanager
def without_pandas_warning() -> Iterator[None]:
    """PySpark warns about pandas 3 wherever Arrow is used, although no pandas frame ever is here.

    And where it encrypts, it leaves the socket of a table that is handed over to the garbage collector.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*fully support pandas.*")
        warnings.filterwarnings("ignore", message="unclosed <socket", category=ResourceWarning)
        yield


def is_spark_frame(source: Any) -> bool:
    """Whether this is a frame of Spark, found out without loading Spark."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(source).__mro__
    )
