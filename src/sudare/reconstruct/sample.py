"""Perturbed values made ready for fitting: each attribute on fine bins, so that the cost hardly depends on their
number.

A bin of width h represents its values by their mean, which is like adding uniform noise of variance h**2/12 that the
model ignores. Of n records the spread of a narrow component is known to about phi**2/sqrt(n), so with 5 n**(1/6)
bins per scale that is a hundredth of what the data can tell. One attribute is then a histogram. For several, bins are
wider (eight per scale), records that agree in all of them are counted, and what costs (densities and moments) is
computed per bin and looked up per combination.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats, Integers
from sudare.errors import ParameterError

MOST_BINS = 1 << 13
_COARSE = 8.0


@dataclass(frozen=True)
class Sample:
    """``counts`` (n,) of rows; row i has the value ``points[j][index[i, j]]`` in attribute j, noise ``scales[j]``."""

    points: tuple[Floats, ...]
    index: Integers
    counts: Floats
    scales: Floats

    @property
    def attributes(self) -> int:
        return len(self.points)

    @property
    def records(self) -> float:
        return float(self.counts.sum())

    @property
    def rows(self) -> Floats:
        """(n, attributes): the values."""
        return np.stack([points[place] for points, place in zip(self.points, self.index.T, strict=True)], axis=1)

    def mean(self) -> Floats:
        weights = self.counts / self.records
        return np.array([weights @ points[place] for points, place in zip(self.points, self.index.T, strict=True)])

    def spread(self) -> Floats:
        """The variance that is left of each attribute without the noise's 2 phi**2; at least (phi/10)**2."""
        weights, centre = self.counts / self.records, self.mean()
        pairs = zip(self.points, self.index.T, centre, strict=True)
        variance = np.array([weights @ (points[place] - middle) ** 2 for points, place, middle in pairs])
        return np.maximum(variance - 2 * self.scales**2, (self.scales / 10) ** 2)

    def weighted(self, counts: Floats) -> Sample:
        """The same rows, met another number of times: a fold, a bootstrap."""
        return replace(self, counts=counts)


def sample_of(values: ArrayLike, scale: ArrayLike) -> Sample:
    """Values (n,) or (n, attributes) with one noise scale for all or one each, checked and binned.

    >>> made = sample_of([1.0, 2.0, 2.0001, 7.0], 1.0)
    >>> made.counts.tolist(), made.points[0].round(3).tolist()
    ([1.0, 2.0, 1.0], [1.0, 2.0, 7.0])
    """
    table = checked_values(values)
    scales = checked_scales(scale, table.shape[1])
    per_scale = 5 * len(table) ** (1 / 6) if len(scales) == 1 else _COARSE
    points, places = zip(
        *(_binned(column, phi / per_scale) for column, phi in zip(table.T, scales, strict=True)), strict=True
    )
    if len(points) == 1:
        counts = np.bincount(places[0], minlength=len(points[0])).astype(np.float64)
        return Sample(points, np.arange(len(points[0]))[:, None], counts, scales)
    rows, met = np.unique(np.stack(places, axis=1), axis=0, return_counts=True)
    return Sample(points, rows, met.astype(np.float64), scales)


def checked_values(values: ArrayLike) -> Floats:
    """Finite numbers as a table (n, attributes)."""
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            "the values are not numbers", allowed="an array (records,) or (records, attributes)"
        ) from None
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not table.size:
        raise ParameterError(
            "the values do not form a table",
            value=table.shape,
            allowed="an array (records,) or (records, attributes)",
        )
    if not np.isfinite(table).all():
        raise ParameterError("some values are missing or not finite", hint="Leave such records out first.")
    return table


def checked_scales(scale: ArrayLike, attributes: int) -> Floats:
    """One positive scale for each attribute."""
    try:
        scales = np.asarray(scale, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("scale is not a number", value=type(scale).__name__) from None
    if scales.shape not in ((), (attributes,)):
        raise ParameterError(
            "scale does not fit the attributes",
            value=scales.shape,
            allowed="one, or {attributes}",
            attributes=attributes,
        )
    if not (np.isfinite(scales) & (scales > 0)).all():
        raise ParameterError("scale is not positive", value=_plain(scales), allowed="a finite number > 0")
    return np.broadcast_to(scales, (attributes,)).astype(np.float64)


def _plain(scales: Floats) -> float | Sequence[float]:
    found: float | list[float] = scales.tolist()
    return found


def _binned(column: Floats, width: float) -> tuple[Floats, Integers]:
    """The mean of each occupied bin, and each value's bin."""
    low = float(column.min())
    width = max(width, (float(column.max()) - low) / MOST_BINS)
    place = np.floor((column - low) / width).astype(np.int64) if width > 0 else np.zeros(len(column), dtype=np.int64)
    occupied, place = np.unique(place, return_inverse=True)
    counts = np.bincount(place, minlength=len(occupied))
    # Sums of differences: the values themselves may be large against their spread.
    return low + np.bincount(place, column - low, minlength=len(occupied)) / counts, place.astype(np.int64)
