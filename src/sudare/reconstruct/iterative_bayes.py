"""Iterative Bayes (IBT, Agrawal et al. 2005): the distribution of binned values behind perturbed ones.

EM of a histogram, or of a cross table of several columns, through the known channel of the noise. Run to convergence,
as in Hasegawa et al., it fits the noise of 1,000 records. By default the result is the smoothest distribution that the
records do not contradict (`Bar`): sums of Gaussians a fifth as wide as the noise, a tenth, a twentieth, and single
bins, each started from the uniform distribution, until the first that is plausible. Smoothing is part of the model, and
not a step after each step as in EMS (Silverman et al. 1990), so that the likelihood grows at every step.

How plausible a distribution must be is measured on held-out reports. No distribution makes the reports likelier than
the one EM converges to. The log likelihood of the true distribution is lower, by half the number of degrees of freedom
that were fitted to noise. That number shows when reports are held out: fitted to the others, EM makes them less likely
than it did when it saw them, by twice the distance of the truth from the maximum (this is Akaike's argument, with the
correction measured instead of counted). So the smoothest distribution that is about as likely as the truth is as good
as the data can tell. The truth lies below the maximum by half the loss, on average; a quarter of it, `SHARE`, was
within half a point of L1 accuracy of the best on random mixtures (one to six Gaussians anywhere) of 1,000 and 10,000
records. Less fits noise again, and more blurs.

Held-out likelihood alone would stop too early: it measures how well reports are predicted, where detail hardly matters,
and not how well the values behind them are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from sudare.arrays import Floats
from sudare.measure import em
from sudare.measure.em import split
from sudare.reconstruct.axes import Product, along, axis_of
from sudare.reconstruct.histogram import Histogram
from sudare.reconstruct.noises import PerturbedColumns, columns_of

Apply = Callable[[Floats], Floats]

SHARE = 0.25
_BAR_STEPS, _FOLD_STEPS, _REPEATS = 900, 150, 4
_TINY = 1e-300


@dataclass(frozen=True)
class Bar:
    """The highest log likelihood of all reports, and what held-out reports lost of it."""

    top: float
    loss: float

    @property
    def height(self) -> float:
        """The log likelihood from which on a distribution is plausible."""
        return self.top - SHARE * self.loss


def bar_of(counts: Floats, forward: Apply, back: Apply, generator: np.random.Generator) -> Bar:
    """The bar for distributions of the shape of ``back(counts)``, from four times five folds."""
    even = np.ones_like(back(counts))
    even /= even.sum()

    def fitted(part: Floats, start: Floats, steps: int) -> Floats:
        return em(part, forward, back, start, stop="converged", tolerance=1e-7, steps=steps).probabilities

    best = fitted(counts, even, _BAR_STEPS)
    top = log_likelihood(counts, forward(best))
    # A fold starts near the fit to all, so that few steps do; not at it, since EM never leaves a probability of 0.
    near = 0.8 * best + 0.2 * even
    held = 0.0
    for fold in (part for _ in range(_REPEATS) for part in split(counts, generator)):
        rest = counts - fold
        held += log_likelihood(fold, forward(fitted(rest, near, _FOLD_STEPS) if rest.any() else best))
    return Bar(top, max(top - held / _REPEATS, 0.0))


def log_likelihood(counts: Floats, law: Floats) -> float:
    """Of all reports, when they follow ``law``."""
    return float((counts * np.log(np.maximum(law, _TINY))).sum())


Stop: TypeAlias = Literal["held_out", "converged"] | int

WIDTHS = (0.2, 0.1, 0.05, 0.0)
_STEPS = 20_000
_PATIENCE = 200  # steps before EM may be found at rest: it often hesitates first


@dataclass(frozen=True)
class Smoothed:
    """A channel whose values are sums of Gaussians as wide as ``width`` noises; bins alone for 0."""

    product: Product
    width: float

    def __post_init__(self) -> None:
        kernels = [axis.kernel(self.width * axis.blur) if self.width else None for axis in self.product.axes]
        spread = [None if kernel is None else partial(_apply, np.ascontiguousarray(kernel.T)) for kernel in kernels]
        gather = [None if kernel is None else partial(_apply, kernel) for kernel in kernels]
        object.__setattr__(self, "_spread", spread)
        object.__setattr__(self, "_gather", gather)

    def spread(self, weights: Floats) -> Floats:
        """The distribution with these weights of Gaussians."""
        return along(weights, self.__dict__["_spread"])

    def forward(self, weights: Floats) -> Floats:
        return self.product.forward(self.spread(weights))

    def back(self, score: Floats) -> Floats:
        return along(self.product.back(score), self.__dict__["_gather"])


def _apply(matrix: Floats, array: Floats) -> Floats:
    return np.asarray(array @ matrix)


def iterative_bayes(values: Any, scale: Any, edges: Any = None, *, stop: Stop = "held_out") -> Histogram:
    """The distribution of the true values over bins, from perturbed ones.

    One column: ``values`` (n,), ``scale`` a number (of Laplace noise) or a noise of `perturb`, ``edges`` of the bins
    (none for categories). Several: a table (n, columns) or a mapping from names to columns, with a list or a mapping of
    scales and of edges. ``stop``: "held_out" (default), "converged" as in Hasegawa et al., or a number of plain steps.

    >>> rng = np.random.default_rng(1)
    >>> true = np.where(rng.random(20_000) < 0.3, 0, 5) + 5 * rng.random(20_000)
    >>> found = iterative_bayes(true + rng.laplace(0, 1.0, 20_000), 1.0, np.arange(0, 11, 5))
    >>> found.probabilities.round(2).tolist()
    [0.3, 0.7]
    """
    columns = columns_of(values, scale, edges)
    product = Product(
        tuple(axis_of(n, e, len(columns.noises)) for n, e in zip(columns.noises, columns.edges, strict=True))
    )
    return reconstructed(columns, product, product.counts(columns.values), stop)


def reconstructed(
    columns: PerturbedColumns, product: Product, counts: Floats, stop: Stop, width: float = 0.0
) -> Histogram:
    """The histogram behind ``counts`` of reports; of Gaussians of this ``width`` where it is not chosen."""
    if stop == "held_out":
        bar = bar_of(counts, product.forward, product.back, np.random.default_rng(0))
        found, width, steps, converged = smoothest(product, counts, bar)
    else:
        channel = Smoothed(product, width)
        fitted = em(counts, channel.forward, channel.back, even(product.shape), stop=stop, steps=_STEPS)
        found, steps, converged = channel.spread(fitted.probabilities), fitted.steps, fitted.converged

    def redraw(generator: np.random.Generator) -> Histogram:
        total = int(counts.sum())
        drawn = generator.multinomial(total, (counts / counts.sum()).ravel()).reshape(counts.shape).astype(np.float64)
        # The number of steps is that of the estimate: the bands are about the records, not about the rule.
        again: Stop = "converged" if stop == "converged" else max(steps, 1)
        return reconstructed(columns, product, drawn, again, width)

    return Histogram(
        columns.names,
        found / found.sum(),
        tuple(axis.edges if axis.edges is not None else axis.categories for axis in product.axes),
        log_likelihood(counts, product.forward(found)),
        steps,
        converged,
        width,
        redraw=redraw,
    )


def smoothest(product: Product, counts: Floats, bar: Bar) -> tuple[Floats, float, int, bool]:
    """The first plausible distribution on the way of EM, with the widest Gaussians that reach the bar at all.

    Returns it with its width, the number of steps made with that width, and whether EM converged below the bar.
    """
    shares = counts / counts.sum()
    for width in WIDTHS:
        channel = Smoothed(product, width)
        weights, before = even(product.shape), -np.inf
        for made in range(_STEPS):
            law = np.maximum(channel.forward(weights), _TINY)
            reached = log_likelihood(counts, law)
            gain, missing = reached - before, bar.height - reached
            # Single bins reach every bar in the end. A sum of Gaussians may not: when twice as many steps again, at
            # the present gain, would not do, narrower ones are tried.
            resting = width > 0 and missing > 0 and made > _PATIENCE and gain * made * 2 < missing
            if missing <= 0 or resting:
                break
            weights = weights * channel.back(shares / law)
            weights /= weights.sum()
            before = reached
        if missing <= 0:
            break
    return channel.spread(weights), width, made, resting


def even(shape: tuple[int, ...]) -> Floats:
    """The uniform distribution over cells of this shape."""
    return np.full(shape, 1 / np.prod(shape))
