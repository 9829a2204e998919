"""Distributions behind a released file of perturbed records: its noise is read from the certificate beside it."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import (
    InputError,
    MissingFileError,
    OutputError,
    ParameterError,
    SudareError,
    did_you_mean,
    either,
)
from sudare.parameters import keywords_of
from sudare.reconstruct.distribution import distribution, histogram_of_mixture
from sudare.reconstruct.histogram import Histogram
from sudare.reconstruct.iterative_bayes import iterative_bayes
from sudare.reconstruct.mixture import Mixture
from sudare.reconstruct.noises import LaplaceNoise, Noise, RetentionNoise, noise_from_json
from sudare.render.charts import render_png
from sudare.render.curves import bars

CERTIFICATE = "release.json"
BINS = 30


METHODS = ("auto", "ibt", "mixture")


@dataclass(frozen=True, kw_only=True)
class RecoverParameters:
    """How distributions are recovered.

    ``method``: "auto" (whichever explains the records better), "ibt" or "mixture"; ``components`` of a mixture, or
    "auto"; its ``covariance`` over several columns ("full", "diagonal", "pca"); how it is ``fit``: "exact" EM, or by
    the "gradient" of `Mixture`. ``cross``: pairs of columns whose cross table is wanted. ``clusters``: the likeliest
    component of each record. Fits by gradients and clusters take a mixture.
    """

    method: str = "auto"
    components: int | str = "auto"
    covariance: str = "full"
    fit: str = "exact"
    cross: Sequence[tuple[str, str]] = ()
    clusters: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError("no such method", value=self.method, allowed=either(METHODS))
        if self.clusters and self.method != "mixture":
            raise ParameterError("clusters need the method mixture", value=self.method, allowed="mixture")
        if self.fit != "exact" and self.method != "mixture":
            raise ParameterError("fits by gradients need the method mixture", value=self.method, allowed="mixture")

    @property
    def mixture(self) -> Mixture:
        """Not fitted yet; it refuses what a mixture cannot be."""
        return Mixture(components=self.components, covariance=self.covariance, method=self.fit)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Recovered:
    """The distribution of each column, cross tables of pairs, the component of each record where that was asked for,
    and where tables and pictures of them were written."""

    histograms: dict[str, Histogram]
    files: tuple[Path, ...]
    crossed: dict[tuple[str, str], Floats] = field(default_factory=dict)
    clusters: NDArray[np.int64] | None = None

    def rows(self, name: str) -> list[tuple[str, float]]:
        """What each bin of a column is called, and its probability."""
        found = self.histograms[name]
        return list(zip(labels_of(found), found.probabilities.tolist(), strict=True))

    def to_json(self) -> dict[str, Any]:
        columns = {
            name: {"method": found.method, "bins": [{"bin": label, "probability": p} for label, p in self.rows(name)]}
            for name, found in self.histograms.items()
        }
        crossed = [
            {"columns": list(pair), "probabilities": table.round(6).tolist()} for pair, table in self.crossed.items()
        ]
        counted = None if self.clusters is None else np.bincount(self.clusters).tolist()
        files = [str(path) for path in self.files]
        return {"columns": columns, "cross_tables": crossed, "records_by_component": counted, "files": files}

    def cross_rows(self, pair: tuple[str, str]) -> list[tuple[str, ...]]:
        """A cross table as texts: the bins of the second column first, then a row for each bin of the first."""
        first, second = (labels_of(self.histograms[name]) for name in pair)
        cells = [[f"{share:.4f}" for share in row] for row in self.crossed[pair].tolist()]
        return [(" / ".join(pair), *second), *((label, *row) for label, row in zip(first, cells, strict=True))]


@keywords_of(RecoverParameters)
def recover(
    path: str | Path,
    *,
    parameters: RecoverParameters,
    columns: Sequence[str] = (),
    bins: int = BINS,
    folder: Path | None = None,
) -> Recovered:
    """Recover the distributions of ``columns`` (all if none is named) of a released file; ``bins`` is for numbers.

    With ``folder``, write a CSV file and a picture of each into it. See `RecoverParameters` for how.
    """
    path, chosen_mixture = Path(path), parameters.mixture
    noises = _noises(path)
    paired = [name for pair in parameters.cross for name in pair]
    _refuse(bins, (*columns, *paired), noises)
    from sudare.engines import read

    chosen = list(dict.fromkeys([*columns, *paired])) if columns else list(noises)
    values = read(path).values(chosen)
    histograms = {name: _recovered(values[name], noises[name], bins, parameters) for name in chosen}
    crossed = {}
    for pair in parameters.cross:
        pair_noises = [noises[name] for name in pair]
        edges = [histograms[name].edges for name in pair]
        if parameters.method == "mixture":
            crossed[pair] = _joint(chosen_mixture, values, pair, noises).cross_table(edges)
        else:
            own = {name: _usable(values[name], noises[name]) for name in pair}
            limits = {
                name: None if isinstance(noises[name], RetentionNoise) else histograms[name].edges for name in pair
            }
            crossed[pair] = iterative_bayes(own, dict(zip(pair, pair_noises, strict=True)), limits).probabilities
    clusters = None
    if parameters.clusters:
        numbers = [name for name in chosen if not isinstance(noises[name], RetentionNoise)]
        fitted = _joint(chosen_mixture, values, numbers, noises)
        clusters = fitted.predict(np.stack([np.asarray(values[name], dtype=np.float64) for name in numbers], axis=1))
    made = Recovered(histograms, (), crossed, clusters)
    return made if folder is None else replace(made, files=_written(made, folder))


def recovered(
    values: Mapping[str, Any], noises: Mapping[str, Noise], columns: Sequence[str], bins: int, **how: Any
) -> dict[str, Histogram]:
    """The distributions of ``columns``, or of all, by name; ``how`` is as in `RecoverParameters`."""
    _refuse(bins, columns, noises)
    parameters = RecoverParameters(**how)
    return {name: _recovered(values[name], noises[name], bins, parameters) for name in columns or noises}


def _refuse(bins: int, columns: Sequence[str], noises: Mapping[str, Noise]) -> None:
    if type(bins) is not int or bins < 1:
        raise ParameterError("bins is not a number of bins", value=bins, allowed="a whole number from 1 on")
    for name in columns:
        if name not in noises:
            raise InputError("the release has no such column", value=name, hint=did_you_mean(name, noises))


def _joint(mixture: Mixture, values: Any, names: Sequence[str], noises: dict[str, Noise]) -> Mixture:
    """The mixture fitted to several columns of numbers at once."""
    for name in names:
        if not isinstance(noises[name], LaplaceNoise):
            raise InputError("a mixture takes numbers with Laplace noise", value=name)
    if not names:
        raise InputError("a mixture takes numbers with Laplace noise")
    table = np.stack([np.asarray(values[name], dtype=np.float64) for name in names], axis=1)
    return mixture.fit(table, [noises[name] for name in names])


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


def _usable(values: Any, noise: Noise) -> Any:
    """Numbers as floats, categories as they are declared."""
    if not isinstance(noise, RetentionNoise):
        return np.asarray(values, dtype=np.float64)
    whole = isinstance(noise.categories[0], int)
    return np.asarray(values, dtype=np.float64).astype(np.int64) if whole else values


def _recovered(values: Any, noise: Noise, bins: int, asked: RecoverParameters) -> Histogram:
    own = _usable(values, noise)
    if isinstance(noise, RetentionNoise):
        return iterative_bayes(own, noise) if asked.method == "ibt" else distribution(own, noise)
    if noise.bounds is None:
        raise InputError("the certificate states no bounds")
    edges = np.linspace(*noise.bounds, bins + 1)
    if asked.method == "ibt":
        return iterative_bayes(own, noise, edges)
    if asked.method == "mixture" and isinstance(noise, LaplaceNoise):
        fitted = asked.mixture.fit(own, noise)
        return histogram_of_mixture(fitted, ("x0",), edges)
    return distribution(own, noise, edges)


def labels_of(found: Histogram) -> list[str]:
    """What each bin is called."""
    if isinstance(found.edges, tuple):
        return [str(value) for value in found.edges]
    return [f"{low:.6g} to {high:.6g}" for low, high in zip(found.edges[:-1], found.edges[1:], strict=True)]


def _written(made: Recovered, folder: Path) -> tuple[Path, ...]:
    files = []
    with OutputError.from_system("the distribution cannot be written: {reason}", value=str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        for name in made.histograms:
            table, picture = folder / f"{name}.csv", folder / f"{name}.png"
            with table.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(("bin", "probability"))
                writer.writerows(made.rows(name))
            picture.write_bytes(_picture(name, made))
            files += [table, picture]
        for pair in made.crossed:
            files.append(folder / f"{'_by_'.join(pair)}.csv")
            with files[-1].open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(made.cross_rows(pair))
        if made.clusters is not None:
            files.append(folder / "clusters.csv")
            with files[-1].open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(("row", "component"))
                writer.writerows(enumerate(made.clusters.tolist()))
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
