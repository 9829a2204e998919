"""A table of a paper with our numbers in it: printed, written as CSV, and given to machines.

The folder of a reproduction: its tables as CSV, its figures as PNG.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sudare.errors import OutputError, ParameterError, system_reason
from sudare.language.messages import OnProgress, Progress, Stage
from sudare.render.charts import Spec, render_png


def make_folder(folder: Path) -> None:
    """Before the experiment and not after it: hours of work shall not end in a folder that cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise OutputError(
            "the folder cannot be made: {reason}", value=str(folder), reason=system_reason(problem)
        ) from None


def write_files(
    folder: Path, sheets: Iterable[Sheet], figures: Mapping[str, Spec], progress: OnProgress
) -> tuple[Path, ...]:
    """All of them, tables first; what was written."""
    files = [sheet.write(folder) for sheet in sheets]
    for name, spec in figures.items():
        progress(Progress(Stage.DRAWING))
        path = folder / f"{name}.png"
        try:
            path.write_bytes(render_png(spec))
        except OSError as problem:
            raise OutputError(
                "a figure cannot be written: {reason}", value=str(path), reason=system_reason(problem)
            ) from None
        files.append(path)
    return tuple(files)


Entry: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Sheet:
    """``rows`` under a ``header``; ``name`` is its file's, ``title`` for people. None and NaN are empty.

    >>> Sheet("t", "A table", ("method", "error"), (("Tree", 12345.678), ("none", None))).text_rows
    [('Tree', '12,345.7'), ('none', '')]
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.header) for row in self.rows):
            raise ParameterError("a row of a sheet has another length than its header", value=self.name)

    @property
    def text_rows(self) -> list[tuple[str, ...]]:
        """The rows as a person reads them."""
        return [tuple(map(_text, row)) for row in self.rows]

    def write(self, folder: Path) -> Path:
        """Write ``name``.csv with all digits into ``folder``."""
        path = folder / f"{self.name}.csv"
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(self.header)
                writer.writerows([["" if _is_empty(entry) else entry for entry in row] for row in self.rows])
        except OSError as problem:
            raise OutputError(
                "a table cannot be written: {reason}", value=str(path), reason=system_reason(problem)
            ) from None
        return path

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: one object per row."""
        return {
            "name": self.name,
            "title": self.title,
            "rows": [
                {name: None if _is_empty(entry) else entry for name, entry in zip(self.header, row, strict=True)}
                for row in self.rows
            ],
        }


def _is_empty(entry: Entry) -> bool:
    return entry is None or (isinstance(entry, float) and math.isnan(entry))


def _text(entry: Entry) -> str:
    if _is_empty(entry):
        return ""
    if isinstance(entry, float):
        size = abs(entry)
        return f"{entry:,.1f}" if size >= 1000 else f"{entry:.2f}" if size >= 10 else f"{entry:.4g}"
    return f"{entry:,}" if isinstance(entry, int) else str(entry)
