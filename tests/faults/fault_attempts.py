"""What is fuzzed: for every kind of input a strategy that draws one, and a function that uses it as a user would.

An attempt ends in a result or in a `SudareError` of one line without a private value. Everything else is a find:
another exception, a warning, a value of the private data in a message, or no end within the time allowed.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fault_changes import CANARIES
from fault_commands import commands, use_command
from fault_recipes import certificates, recipes, use_certificate, use_recipe
from fault_records import csv_files, estat_files, parquet_files, use_csv, use_estat, use_parquet
from fault_reports import report_inputs, surveys, use_reports, use_survey
from fault_small_files import hierarchies, ledgers, use_hierarchy, use_ledger
from hypothesis import strategies as st

from sudare.errors import SudareError

OF = 2_000
"""What the shares of all kinds of input add up to."""
LONGEST = 60.0
"""Seconds after which an attempt counts as a hang; most take milliseconds, also on a busy machine."""


def quick_scratch() -> str | None:
    """A folder in memory for what is written and read once: a busy disk takes longer for a folder than an attempt."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - only folders of our own below it


class Hang(BaseException):
    """An attempt did not end; no `Exception`, so that nothing on the way can swallow it."""


@dataclass(frozen=True)
class Attempt:
    """``share``: of `OF` inputs, how many are of this kind."""

    share: int
    inputs: st.SearchStrategy[Any]
    use: Callable[[Any, Path], object]

    def __call__(self, drawn: Any) -> None:
        """Use one input in a fresh folder."""
        with tempfile.TemporaryDirectory(prefix="sudare-fuzz-") as name, _time_limit():
            try:
                self.use(drawn, Path(name))
            except SudareError as refusal:
                check_sentence(str(refusal), name)


def check_sentence(text: str, folder: str = "") -> None:
    """One line, and nothing of the private data in it."""
    said = text.replace(folder, "")
    assert "\n" not in text, text
    assert not any(canary in said for canary in CANARIES), text


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


ATTEMPTS = {
    "recipes": Attempt(320, recipes(), use_recipe),
    "csv": Attempt(60, csv_files(), use_csv),
    "parquet": Attempt(60, parquet_files(), use_parquet),
    "estat": Attempt(240, estat_files(), use_estat),
    "certificates": Attempt(320, certificates(), use_certificate),
    "reports": Attempt(340, report_inputs(), use_reports),
    "hierarchies": Attempt(210, hierarchies(), use_hierarchy),
    "surveys": Attempt(210, surveys(), use_survey),
    "ledgers": Attempt(200, ledgers(), use_ledger),
    "commands": Attempt(40, commands(), use_command),
}
