"""The folder of a reproduction: its tables as CSV, its figures as PNG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from sudare.charts import Spec, render_png
from sudare.errors import OutputError, system_reason
from sudare.papers.sheet import Sheet
from sudare.words import OnProgress, Progress, Stage


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
