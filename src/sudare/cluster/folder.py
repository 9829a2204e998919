"""The folder that a release in a cluster is written into."""

from __future__ import annotations

from pathlib import Path

from sudare.errors import OutputError, system_reason


def empty_folder(folder: Path) -> Path:
    """The folder for the parts: made where it is not there, refused where something is in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise OutputError("the output folder is not empty", value=str(folder), hint="Name another one.")
    except OSError as problem:
        raise OutputError(
            "the output folder cannot be made: {reason}", value=str(folder), reason=system_reason(problem)
        ) from None
    return folder.absolute()
