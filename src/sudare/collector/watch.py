"""Notices when the survey's file is changed under a running collector."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from sudare.collector.refusals import RequestError
from sudare.collector.survey import Survey
from sudare.collector.survey_file import load
from sudare.errors import SudareError, together

_LOOK_EVERY = 1.0  # seconds


class Watch:
    """Compares the file at ``path`` with the ``survey`` that was read from it at the start.

    Devices would still be asked the old question, and their reports counted for it, while the steward believes that
    the new one is asked. So a changed question, list of answers or encoding stops the collection until the collector
    is started anew; a changed token or rate waits for that quietly, and a file that cannot be read (an editor is
    at work) changes nothing.
    """

    def __init__(self, path: Path, survey: Survey, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._survey, self._clock = path, survey, clock
        self._seen = self._signature()
        self._next = clock() + _LOOK_EVERY
        self._changed: list[str] = []

    def check(self) -> None:
        """`RequestError` while the file says something else than what is being asked."""
        if self._clock() >= self._next:
            self._next = self._clock() + _LOOK_EVERY
            signature = self._signature()
            if signature is not None and signature != self._seen:
                self._look(signature)
        if self._changed:
            raise RequestError(
                503,
                "the survey was changed while the collector runs: {changed}",
                hint="Start the collector again with a storage of its own, or take back the change.",
                changed=together(self._changed),
            )

    def _look(self, signature: tuple[int, ...]) -> None:
        try:
            now = load(self._path).identity
        except SudareError:
            return
        before = self._survey.identity
        self._changed = sorted(key for key in before if now[key] != before[key])
        self._seen = signature

    def _signature(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
