"""A recipe's text as the studio sees it: whether it is valid, the error if it is not, and its parts as plain JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from threading import Lock
from time import monotonic
from typing import Any

from sudare.errors import SudareError
from sudare.language.catalogue import Words
from sudare.registry import KINDS
from sudare.studio.editing import contents_of
from sudare.studio.models import ErrorParts
from sudare.studio.refusals import RequestError, error_parts
from sudare.studio.workspace import Workspace
from sudare.workflow.job import Job

FRESH = 1.0
"""Seconds for which a verdict is given again: a recipe also names files, which may come and go."""


@dataclass(frozen=True)
class RecipeReading:
    """A text read as a recipe; ``job`` is None where it is none, and ``problem`` then says why."""

    contents: dict[str, Any] | None
    job: Job | None
    problem: SudareError | None

    @property
    def valid(self) -> bool:
        """Whether plan, rehearse and publish would accept it."""
        return self.job is not None

    @property
    def kind(self) -> str:
        """The kind that the text names; a table where it names none that there is."""
        found = (self.contents or {}).get("kind", "table")
        return found if isinstance(found, str) and found in KINDS else "table"

    @property
    def recipe(self) -> dict[str, Any] | None:
        """What the text says, for a page."""
        return None if self.contents is None else plain(self.contents)

    @property
    def effective(self) -> dict[str, Any] | None:
        """What it says together with all that it leaves to defaults."""
        return None if self.job is None else plain(self.job.recipe.model_dump(by_alias=True))

    def required(self) -> Job:
        """The job; refuses while the text is no valid recipe."""
        if self.job is None:
            raise RequestError(422, "the recipe is not valid yet", hint=self.problem)
        return self.job


class RecipeReader:
    """Reads texts as recipes of a workspace, and remembers the last verdicts for a moment."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = Lock()
        self._known: dict[str, tuple[float, RecipeReading]] = {}

    def read(self, text: str) -> RecipeReading:
        """``text`` read as a recipe: valid, or with the reason why not."""
        with self._lock:
            self._known = {key: known for key, known in self._known.items() if monotonic() - known[0] < FRESH}
            if text in self._known:
                return self._known[text][1]
        found = self._read(text)
        with self._lock:
            self._known[text] = monotonic(), found
        return found

    def _read(self, text: str) -> RecipeReading:
        try:
            contents = contents_of(text)
        except SudareError as problem:
            return RecipeReading(None, None, problem)
        try:
            return RecipeReading(contents, self._workspace.job(text), None)
        except SudareError as problem:
            return RecipeReading(contents, None, problem)
        # A page must stand whatever is typed into it, such as a domain that no machine can hold.
        except Exception as problem:
            return RecipeReading(
                contents, None, SudareError("the recipe cannot be built: {type}", type=type(problem).__name__)
            )


def plain(value: Any) -> Any:
    """A value of a recipe as JSON has it: no dates, no infinities.

    >>> plain({"epsilon": Decimal("0.5"), "day": date(2024, 2, 29), "edges": (0, math.inf)})
    {'epsilon': 0.5, 'day': '2024-02-29', 'edges': [0, 'inf']}
    """
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**63:
        return str(value)
    return value


def problem_parts(reading: RecipeReading, words: Words) -> ErrorParts | None:
    """What is wrong with it, for a page."""
    return None if reading.problem is None else error_parts(reading.problem, words)
