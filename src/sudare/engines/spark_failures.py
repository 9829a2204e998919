"""What fails in Spark: found out by types and processes, and told without a word of Spark's, which can quote values."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sudare.errors import InputError

_TALKERS = (None, "DataFrameQueryContextLogger", "py4j.clientserver", "py4j.java_gateway")
"""Loggers of PySpark, which also uses the root, that print an error as it is, and what becomes of a connection."""
_ENDED_WORKER = "java.io.EOFException"
"""Spark reads on where a worker of its own was to answer, and finds the end."""


def failures() -> tuple[type[Exception], ...]:
    """What Spark raises; a Java process that is gone refuses connections."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types
    from pyspark.errors import PySparkException

    return (PySparkException, Py4JError, ConnectionError)


@contextmanager
def quietly() -> Iterator[None]:
    """Without what PySpark logs."""
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
    """The process that this one started Spark's Java in; None where there is none."""
    from pyspark import SparkContext

    return getattr(SparkContext._gateway, "proc", None)


def refuse_early_death(error: Exception) -> None:
    """Raise an `InputError` if a process of Spark has ended before its work was done."""
    from py4j.protocol import Py4JNetworkError

    java = java_process()
    if isinstance(error, ConnectionError | Py4JNetworkError) or (java is not None and java.poll() is not None):
        raise InputError(
            "Spark's Java process ended before its work was done",
            hint="Mostly it is for lack of memory: lower spark.driver.memory, or take a machine with more of it.",
        ) from None
    if _ENDED_WORKER in _causes(error):
        raise InputError(
            "a Python worker of Spark ended before its work was done",
            hint="Mostly it is for lack of memory: run fewer tasks at once, or give the workers more of it.",
        ) from None


def _causes(error: Exception) -> list[str]:
    """The Java classes of an error and of what caused it."""
    found: list[str] = []
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and len(found) < 100:
        found.append(cause.getClass().getName())
        cause = cause.getCause()
    return found
