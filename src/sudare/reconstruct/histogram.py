"""A reconstructed histogram or cross table: probabilities of bins, what can be read off them, and bootstrap bands.

For the bands, records are drawn again from the given ones, as many, and the distribution is reconstructed from them in
the same way (same smoothing and steps, same number of components). The variation of the answers shows the error due to
noise and sampling. It does not show the bias due to smoothing: an estimate that must not follow the noise cannot follow
a very narrow peak either, and a band around the smoothed peak does not contain it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Floats
from sudare.errors import ParameterError, did_you_mean
from sudare.reconstruct.axes import checked_edges

ANSWERS = ("histogram", "density", "quantiles")


@dataclass(frozen=True)
class Bands:
    """An answer with the interval, entry by entry, in which ``level`` of the redrawn answers lie."""

    value: Floats
    low: Floats
    high: Floats
    level: float


class Answering(ABC):
    """A distribution that answers ("histogram", "density" or "quantiles"), and can be reconstructed from redrawn
    records."""

    @abstractmethod
    def again(self, generator: np.random.Generator) -> Answering:
        """The same estimate from records drawn again from the ones there are."""

    def bands(
        self,
        answer: str = "histogram",
        *arguments: Any,
        level: float = 0.9,
        repetitions: int = 40,
        seed: int = 0,
        **named: Any,
    ) -> Bands:
        """An answer with its bootstrap bands.

        The bands are centred on the answer: from it, the distances of the redrawn answers from their own middle are
        measured, because smoothing moves all of them to one side.
        """
        if answer not in ANSWERS:
            raise ParameterError(
                "unknown kind of answer", value=answer, allowed=ANSWERS, hint=did_you_mean(str(answer), ANSWERS)
            )
        if not 0 < level < 1:
            raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
        if repetitions < 2:
            raise ParameterError("too few repetitions for a band", value=repetitions, allowed="at least 2")
        generator = np.random.default_rng(seed)
        fits = [self, *(self.again(generator) for _ in range(repetitions))]
        value, *drawn = (np.asarray(getattr(fit, answer)(*arguments, **named), dtype=np.float64) for fit in fits)
        low, middle, high = np.quantile(drawn, [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0)
        lower, upper = value + low - middle, value + high - middle
        if answer != "quantiles":
            lower, upper = np.maximum(lower, 0), np.maximum(upper, 0)
        return Bands(value, lower, upper, level)


@dataclass(frozen=True, repr=False)
class Histogram(Answering):
    """``probabilities`` with one axis for each column; ``bins`` are edges of a number, or categories.

    ``log_likelihood`` of all reports, ``steps`` that were made, ``width`` of the smoothing in units of the noise's
    scale, ``method`` in words.
    """

    names: tuple[str, ...]
    probabilities: Floats
    bins: tuple[Any, ...]
    log_likelihood: float = float("nan")
    steps: int = 0
    converged: bool = False
    width: float = 0.0
    method: str = "iterative Bayes"
    redraw: Callable[[np.random.Generator], Histogram] | None = field(default=None, compare=False)

    @property
    def edges(self) -> Any:
        """The bins of the only column, or those of all."""
        return self.bins[0] if len(self.bins) == 1 else self.bins

    def marginal(self, *columns: str) -> Histogram:
        """The distribution of some columns, in the order they are named."""
        places = [self._place(name) for name in columns]
        if not places or len(set(places)) < len(places):
            raise ParameterError("columns are missing or named twice", value=columns)
        others = tuple(set(range(len(self.names))) - set(places))
        table = self.probabilities.sum(axis=others).transpose(np.argsort(np.argsort(places)))
        redraw = None if self.redraw is None else lambda generator: self.again(generator).marginal(*columns)
        bins = tuple(self.bins[place] for place in places)
        return replace(self, names=tuple(columns), probabilities=table, bins=bins, redraw=redraw)

    def histogram(self, edges: ArrayLike | None = None) -> Floats:
        """Probabilities of the bins themselves, or of others of the only column, spread evenly within bins."""
        if edges is None:
            return self.probabilities
        return np.diff(self._below(checked_edges(edges)))

    def density(self, points: ArrayLike) -> Floats:
        """The density of the only column at ``points``; 0 outside of its bins."""
        known = self._numeric()
        place = np.searchsorted(known, np.asarray(points, dtype=np.float64), side="right") - 1
        inside = (place >= 0) & (place < len(self.probabilities))
        heights = self.probabilities / np.diff(known)
        return np.where(inside, heights[np.clip(place, 0, len(heights) - 1)], 0.0)

    def quantiles(self, probabilities: ArrayLike) -> Floats:
        """Values of the only column below which so much lies; linear within a bin."""
        wanted = checked_probabilities(probabilities)
        known = self._numeric()
        below = np.concatenate([[0.0], np.cumsum(self.probabilities)])
        rising = np.concatenate([[True], np.diff(below) > 0])
        return np.asarray(np.interp(wanted, below[rising] / below[-1], known[rising]))

    def sample(self, size: int, *, seed: int | None = None) -> Any:
        """Synthetic records: ``size`` of them, uniform within their bins; by name if there are several columns.

        They are drawn from the reconstruction, which is post-processing: they cost nothing more.
        """
        generator = np.random.default_rng(seed)
        flat = generator.choice(self.probabilities.size, size, p=self.probabilities.ravel())
        drawn: dict[str, NDArray[Any]] = {}
        for name, bins, place in zip(
            self.names, self.bins, np.unravel_index(flat, self.probabilities.shape), strict=True
        ):
            if isinstance(bins, tuple):
                drawn[name] = np.array(bins, dtype=object)[place]
            else:
                drawn[name] = bins[place] + generator.random(size) * np.diff(bins)[place]
        return drawn[self.names[0]] if len(self.names) == 1 else drawn

    def again(self, generator: np.random.Generator) -> Histogram:
        """The same estimate from records drawn again from the ones there are."""
        if self.redraw is None:
            raise ParameterError("this histogram does not know its records, and cannot draw them again")
        return self.redraw(generator)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ParameterError("no such column", value=name, hint=did_you_mean(str(name), self.names))
        return self.names.index(name)

    def _numeric(self) -> Floats:
        if len(self.names) > 1 or isinstance(self.bins[0], tuple):
            raise ParameterError("this answer is for one column of numbers", hint="Take a marginal first.")
        known: Floats = self.bins[0]
        return known

    def _below(self, points: Floats) -> Floats:
        known = self._numeric()
        return np.asarray(np.interp(points, known, np.concatenate([[0.0], np.cumsum(self.probabilities)])))

    def __repr__(self) -> str:
        shape: Sequence[int] = self.probabilities.shape
        return f"Histogram({', '.join(self.names)}: {' x '.join(map(str, shape))} bins)"


def checked_probabilities(probabilities: ArrayLike) -> Floats:
    """Numbers between 0 and 1."""
    wanted = np.asarray(probabilities, dtype=np.float64)
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise ParameterError("a quantile is not between 0 and 1", value=wanted.tolist())
    return wanted
