"""Signals end a run as an exception, and only the command itself speaks of it."""

import logging
import signal

import pytest

from sudare.signals import Ended, ending_in_order, heard


def test_a_library_does_not_log_that_it_was_interrupted(caplog):
    """So did py4j, with a traceback, where a signal came while it waited for Spark."""
    log = logging.getLogger("py4j.clientserver")

    def send():
        try:
            signal.raise_signal(signal.SIGINT)  # to this thread: by its number, any thread may get it, and later
        except KeyboardInterrupt:
            log.exception("Exception while sending command.")
            raise

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # an earlier test may have left it ignored
    try:
        with pytest.raises(Ended), ending_in_order():
            send()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
    assert not caplog.records
    assert heard() == signal.SIGINT
    log.error("afterwards it may speak again")
    assert len(caplog.records) == 1
