"""How far long work is: a stage and, where it is counted, which one of how many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from sudare.words.catalogue import ENGLISH, Words


class Stage(StrEnum):
    """What is being done."""

    READING = "reading"
    SPENDING = "spending"
    PROTECTING = "protecting"
    WRITING = "writing"
    DRAWING = "drawing"
    DRAWING_REPORT = "report"
    DRAWING_INTERNAL_REPORT = "internal_report"
    INVENTING = "inventing"
    TRIAL = "trial"
    PLANNING = "planning"
    VERIFYING = "verifying"
    COMPARING = "comparing"
    EXPERIMENT = "experiment"
    FINDING = "finding"


@dataclass(frozen=True)
class Progress:
    """``stage`` is at work now: number ``done`` of ``total`` where there are several; ``detail`` names on what.

    >>> str(Progress(Stage.TRIAL, 3, 5)), Progress(Stage.TRIAL, 3, 5).text(Words("ja"))
    ('Trial: 3 of 5', '試行：3 / 5')
    """

    stage: Stage
    done: int = 0
    total: int | None = None
    detail: str = ""

    def text(self, words: Words) -> str:
        """In words."""
        said = words(f"stage.{self.stage}", **({"detail": self.detail} if self.detail else {}))
        return said if self.total is None else words("stage.counted", stage=said, done=self.done, total=self.total)

    def __str__(self) -> str:
        return self.text(ENGLISH)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"stage": str(self.stage), "done": self.done, "total": self.total, "detail": self.detail}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Progress:
        """The inverse of `to_json`."""
        return cls(**{**data, "stage": Stage(data["stage"])})


OnProgress: TypeAlias = Callable[[Progress], None]
"""Who is told how far the work is."""


def unheard(_: Progress) -> None:
    """Tell nobody."""
