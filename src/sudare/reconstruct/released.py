"""Distributions behind a released file of perturbed records: its noise is read from the certificate beside it."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sudare.errors import (
    InputError,
    MissingFileError,
    OutputError,
    ParameterError,
    SudareError,
    did_you_mean,
    system_reason,
)
from sudare.reconstruct.distribution import distribution
from sudare.reconstruct.histogram import Histogram
from sudare.reconstruct.noises import Noise, RetentionNoise, noise_from_json
from sudare.render.charts import render_png
from sudare.render.curves import bars

CERTIFICATE = "release.json"
BINS = 30


@dataclass(frozen=True)
class Recovered:
    """The distribution of each column, and where tables and pictures of it were written."""

    histograms: dict[str, Histogram]
    files: tuple[Path, ...]

    def rows(self, name: str) -> list[tuple[str, float]]:
        """What each bin of a column is called, and its probability."""
        found = self.histograms[name]
        return list(zip(_labels(found), found.probabilities.tolist(), strict=True))

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        columns = {
            name: {"method": found.method, "bins": [{"bin": label, "probability": p} for label, p in self.rows(name)]}
            for name, found in self.histograms.items()
        }
        return {"columns": columns, "files": [str(path) for path in self.files]}


def recover(
    path: str | Path, *, columns: Sequence[str] = (), bins: int = BINS, folder: Path | None = None
) -> Recovered:
    """Recover the distributions of ``columns`` (all if none is named) of a released file, numbers in so many ``bins``.

    With ``folder``, write a CSV file and a picture of each into it.
    """
    path = Path(path)
    if type(bins) is not int or bins < 1:
        raise ParameterError("bins is not a number of bins", value=bins, allowed="a whole number from 1 on")
    noises = _noises(path)
    for name in columns:
        if name not in noises:
            raise InputError("the release has no such column", value=name, hint=did_you_mean(name, noises))
    from sudare.engines import read

    chosen = list(columns) or list(noises)
    values = read(path).values(chosen)
    histograms = {name: _recovered(values[name], noises[name], bins) for name in chosen}
    made = Recovered(histograms, ())
    return made if folder is None else Recovered(histograms, _written(made, folder))


def _noises(path: Path) -> dict[str, Noise]:
    certificate = path.parent / CERTIFICATE
    try:
        found = path.is_file()
    except OSError:  # a name that is too long
        found = False
    if not found:
        raise MissingFileError("there is no such file", value=str(path), hint="Give the file of a release's records.")
    try:
        stated = json.loads(certificate.read_text(encoding="utf-8-sig"))["perturbation"]["columns"]
        return {str(name): noise_from_json(facts) for name, facts in stated.items()}
    except FileNotFoundError:
        raise InputError("there is no certificate beside the file", value=str(certificate)) from None
    except (SudareError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("the certificate is not one of perturbed records", value=str(certificate)) from None


def _recovered(values: Any, noise: Noise, bins: int) -> Histogram:
    if isinstance(noise, RetentionNoise):
        whole = isinstance(noise.categories[0], int)
        return distribution(np.asarray(values, dtype=np.float64).astype(np.int64) if whole else values, noise)
    if noise.bounds is None:
        raise InputError("the certificate states no bounds")
    return distribution(np.asarray(values, dtype=np.float64), noise, np.linspace(*noise.bounds, bins + 1))


def _labels(found: Histogram) -> list[str]:
    if isinstance(found.edges, tuple):
        return [str(value) for value in found.edges]
    return [f"{low:.6g} to {high:.6g}" for low, high in zip(found.edges[:-1], found.edges[1:], strict=True)]


def _written(made: Recovered, folder: Path) -> tuple[Path, ...]:
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in made.histograms:
            table, picture = folder / f"{name}.csv", folder / f"{name}.png"
            with table.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(("bin", "probability"))
                writer.writerows(made.rows(name))
            picture.write_bytes(_picture(name, made))
            files += [table, picture]
    except OSError as problem:
        raise OutputError(
            "the distribution cannot be written: {reason}", value=str(folder), reason=system_reason(problem)
        ) from None
    return tuple(files)


def _picture(name: str, made: Recovered) -> bytes:
    labels, probabilities = zip(*made.rows(name), strict=True)
    found = made.histograms[name]
    chart = bars(
        labels,
        probabilities,
        label_title=name,
        what="share of the records",
        subtitle=f"by {found.method}, from perturbed records",
        width=720,
    )
    chart["title"]["text"] = f"Recovered distribution of {name}"
    return render_png(chart)
