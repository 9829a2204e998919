"""An experiment in units, each kept as soon as it is done: an interrupted run goes on where it stopped.

The result of a unit is pickled into ``parts/`` below the folder, under a name that includes the settings of the run
(data, number of runs, version), so that a result of other settings is never taken for it. Only classes of Sudare,
NumPy and the standard library's values are read back.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.errors import OutputError
from sudare.language.messages import OnProgress, Progress, Stage

_READABLE = {
    "numpy",
    "numpy._core.multiarray",
    "numpy._core.numeric",
    "numpy.core.multiarray",
    "numpy.core.numeric",
    "fractions",
    "decimal",
    "copyreg",
}
_VERSION = 3
"""Raised when an experiment changes, so that kept results of an older one are not used."""


@dataclass(frozen=True)
class Unit:
    """``make`` computes the result called ``name``, which people see as the unit is at work."""

    name: str
    make: Callable[[], Any]


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module not in _READABLE and not module.startswith("sudare."):
            raise pickle.UnpicklingError(module)
        return super().find_class(module, name)


def run_units(folder: Path, units: Sequence[Unit], settings: Mapping[str, Any], progress: OnProgress) -> dict[str, Any]:
    """The results by name, from ``parts/`` where they are kept already. ``settings`` are what they depend on."""
    parts = folder / "parts"
    # Before the experiment and not after it: hours of work shall not end in a folder that cannot be made.
    with OutputError.from_system("the folder cannot be made: {reason}", value=str(folder)):
        parts.mkdir(parents=True, exist_ok=True)
    said = repr((_VERSION, sorted(settings.items())))
    made: dict[str, Any] = {}
    for number, unit in enumerate(units, 1):
        key = hashlib.sha256(f"{said}|{unit.name}".encode()).hexdigest()[:24]
        path = parts / f"{key}.part"
        kept = _kept(path)
        if kept is None:
            progress(Progress(Stage.EXPERIMENT, number, len(units), unit.name))
            kept = (unit.make(),)
            _keep(path, kept)
        made[unit.name] = kept[0]
    return made


def forget_units(folder: Path) -> None:
    """Remove the kept results: the experiment is complete, and its tables and figures are written."""
    shutil.rmtree(folder / "parts", ignore_errors=True)


def _kept(path: Path) -> tuple[Any] | None:
    """What is kept there; nothing where the file is missing, cut off or not ours."""
    try:
        with path.open("rb") as file:
            found = _Reader(file).load()  # the reader refuses all but plain values
    except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError, IndexError, KeyError):
        return None
    return found if isinstance(found, tuple) and len(found) == 1 else None


def _keep(path: Path, result: tuple[Any]) -> None:
    """Written whole or not at all."""
    draft = path.with_suffix(".draft")
    with OutputError.from_system("a result cannot be kept: {reason}", value=str(path)):
        draft.write_bytes(pickle.dumps(result))
        draft.replace(path)
