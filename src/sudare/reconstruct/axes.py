"""One column read on bins of its true value: a known channel from bins to reports, and several of them as a product.

Within a bin the true value counts as uniform. Laplace noise then has a matrix in closed form: the distribution
function of y, averaged over a bin of x, is a difference of G(t) = max(t, 0) + phi exp(-|t|/phi)/2, whose second
derivative is the noise's density. The channel of several columns is the Kronecker product of theirs. It is never
formed: applied axis by axis, a step costs as many operations as there are cells times bins of one axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats, Integers
from sudare.errors import ParameterError
from sudare.measure.science import scipy_of
from sudare.reconstruct.noises import LaplaceNoise, Noise, RetentionNoise, SquareWaveNoise
from sudare.reconstruct.sample import checked_values

ndtr = scipy_of("special").ndtr

LARGEST = 1 << 24
_REACH = 6.0  # scales beyond the bins, after which reports are in one bin
_FINENESS = {1: 16.0, 2: 8.0}  # bins of reports per scale, for one column, for two, and for more:
_COARSE = 4.0


@dataclass(frozen=True)
class ColumnAxis:
    """A column's bins and its channel. ``edges`` (inputs + 1,) of a number, or the ``categories``.

    ``forward`` maps laws of values, on the last axis, to laws of reports; ``back`` is its adjoint. ``place`` tells
    the report of each perturbed value, ``blur`` how far the noise carries (0 for categories).
    """

    inputs: int
    outputs: int
    forward: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    place: Callable[[Any], Integers]
    blur: float
    edges: Floats | None = None
    categories: tuple[Any, ...] | None = None

    def kernel(self, width: float) -> Floats | None:
        """(inputs, inputs): a Gaussian of ``width`` around each bin's middle, cut to the bins; None where it is one
        bin.

        A column whose middle has no neighbour within reach is its bin alone.
        """
        if self.edges is None or self.inputs < 3 or width < 0.5 * float(np.diff(self.edges).min()):
            return None
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        mass = np.diff(ndtr((self.edges[:, None] - middles) / width), axis=0)
        return np.asarray(mass / mass.sum(axis=0))


def axis_of(noise: Noise, edges: ArrayLike | None, columns: int = 1) -> ColumnAxis:
    """The column of ``noise`` on bins between ``edges``; ``columns`` is how many there are in all."""
    if isinstance(noise, RetentionNoise):
        return _retention_axis(noise)
    if edges is None:
        raise ParameterError("a column of numbers needs the edges of its bins")
    checked = checked_edges(edges)
    fineness = _FINENESS.get(columns, _COARSE)
    if isinstance(noise, LaplaceNoise):
        return _laplace_axis(noise.scale, checked, fineness)
    return _square_wave_axis(noise, checked, fineness)


def checked_edges(edges: ArrayLike) -> Floats:
    """Increasing finite edges of at least one bin."""
    try:
        checked = np.asarray(edges, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("edges are not numbers", allowed="an increasing array") from None
    if checked.ndim != 1 or len(checked) < 2 or not np.isfinite(checked).all() or not (np.diff(checked) > 0).all():
        raise ParameterError("edges do not increase", allowed="at least two finite numbers in increasing order")
    return checked


def _laplace_axis(scale: float, edges: Floats, fineness: float) -> ColumnAxis:
    inputs, length = len(edges) - 1, edges[-1] - edges[0]
    wanted = fineness * (length / scale + 2 * _REACH)
    outputs = int(min(max(wanted, 2 * inputs, 32), 4096))
    reports = np.linspace(edges[0] - _REACH * scale, edges[-1] + _REACH * scale, outputs + 1)
    below = np.zeros((outputs + 1, inputs))
    integral = _integral(reports[1:-1, None] - edges, scale)
    below[1:-1] = (integral[:, :-1] - integral[:, 1:]) / np.diff(edges)
    below[-1] = 1.0  # the outer bins of reports have no end
    matrix = np.maximum(np.diff(below, axis=0), 0)

    def place(values: Any) -> Integers:
        column = checked_values(values)[:, 0]
        return np.searchsorted(reports[1:-1], column, side="right").astype(np.int64)

    return ColumnAxis(inputs, outputs, lambda law: law @ matrix.T, lambda score: score @ matrix, place, scale, edges)


def _integral(t: Floats, scale: float) -> Floats:
    """The integral of the noise's distribution function up to t."""
    return np.maximum(t, 0) + 0.5 * scale * np.exp(-np.abs(t) / scale)


def _square_wave_axis(noise: SquareWaveNoise, edges: Floats, fineness: float) -> ColumnAxis:
    law, (low, high) = noise.law, noise.bounds
    cells = np.linspace(low, high, law.cells + 1)
    overlap = np.minimum(edges[1:, None], cells[1:]) - np.maximum(edges[:-1, None], cells[:-1])
    shares = np.maximum(overlap, 0)
    if not (shares.sum(axis=1) > 0).all():
        raise ParameterError(
            "a bin lies outside the declared bounds", allowed="edges from {low:g} to {high:g}", low=low, high=high
        )
    shares /= shares.sum(axis=1, keepdims=True)
    blur = (law.reach + 0.5) * noise.step
    # Bins of reports are a fraction of the window in which reports are likely, or single cells where that is coarser.
    group = max(1, int(2 * blur / noise.step / fineness))
    starts = np.arange(0, law.outputs, group)

    def back(score: Floats) -> Floats:
        return np.asarray(law.back(np.repeat(score, group, axis=-1)[..., : law.outputs]) @ shares.T)

    def place(values: Any) -> Integers:
        column = checked_values(values)[:, 0]
        report = np.rint((column - low) / noise.step - 0.5).astype(np.int64) + law.reach
        if not 0 <= report.min() <= report.max() < law.outputs:
            raise ParameterError("a value is not one that this square wave can report")
        return report // group

    return ColumnAxis(
        len(edges) - 1,
        len(starts),
        lambda p: np.asarray(np.add.reduceat(law.forward(p @ shares), starts, axis=-1)),
        back,
        place,
        blur,
        edges,
    )


def _retention_axis(noise: RetentionNoise) -> ColumnAxis:
    def place(values: Any) -> Integers:
        places = noise.places(values)
        if len(places) and places.min() < 0:
            raise ParameterError("a value is not one of the declared categories")
        return places

    law = noise.law
    return ColumnAxis(law.size, law.size, law.forward, law.back, place, 0.0, categories=noise.categories)


@dataclass(frozen=True)
class Product:
    """The channel of several columns: distributions are arrays with one axis each."""

    axes: tuple[ColumnAxis, ...]

    def __post_init__(self) -> None:
        if max(math.prod(self.shape), math.prod(self.reports)) > LARGEST:
            raise ParameterError(
                "the cross table is too large",
                value=self.shape,
                allowed="at most {largest:,} cells of values and of reports",
                hint="Take fewer columns or wider bins.",
                largest=LARGEST,
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.inputs for axis in self.axes)

    @property
    def reports(self) -> tuple[int, ...]:
        return tuple(axis.outputs for axis in self.axes)

    def forward(self, law: Floats) -> Floats:
        """The law of reports (reports of each column) when values follow ``law`` (bins of each column)."""
        return along(law, [axis.forward for axis in self.axes])

    def back(self, score: Floats) -> Floats:
        """For each cell of values, the mean ``score`` of its reports."""
        return along(score, [axis.back for axis in self.axes])

    def counts(self, columns: Sequence[Any]) -> Floats:
        places = [axis.place(column) for axis, column in zip(self.axes, columns, strict=True)]
        if len({len(place) for place in places}) > 1:
            raise ParameterError("columns are of different lengths")
        flat = np.ravel_multi_index(tuple(places), self.reports)
        return np.bincount(flat, minlength=math.prod(self.reports)).reshape(self.reports).astype(np.float64)


def along(array: Floats, maps: Sequence[Callable[[Floats], Floats] | None]) -> Floats:
    """Apply a linear map of the last axis to each axis in turn; None leaves an axis as it is."""
    for place, apply in enumerate(maps):
        if apply is not None:
            array = np.moveaxis(apply(np.moveaxis(array, place, -1)), -1, place)
    return array
