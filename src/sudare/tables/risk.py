"""Unbiased estimates of the squared error of cells above a threshold, fitted to a total, for every threshold.

The estimate of a noisy cell z is b = (z - t)/gamma above the threshold t and 0 below; gamma = sum max(z - t, 0)/total
(fit "scale"), or b = z + d above it with one d for all (fit "shift"). With discrete Laplace noise X of ratio a and an
independent copy X', for every f

    E[X f(v + X)] = a/(1-a)^2 E[f(v + X + X' + 1) - f(v + X + X' - 1)]

(both sides have the transform 2i a sin(s) (1-a)^2 / (1 - 2a cos(s) + a^2)^2 for f(x) = exp(isx)), so that

    E(b - v)^2 = E[(b - z)^2 + 2a/(1-a)^2 (b(z + X' + 1) - b(z + X' - 1))] - 2a/(1-a)^2:

an unbiased estimate of the error from noisy values alone. Of X' only expectations enter: it turns "above t" into the
probability to be above t after fresh noise.

For Gaussian noise with P(x) in proportion to exp(-x**2/2v), A(x) = sum of y P(y) over y >= x, and every f,

    E[X f(v + X)] = sum A(x) (f(v + x) - f(v + x - 1))

(summation by parts). A(x) adds up to the variance, and is v times the density half a step before x, up to terms of
1/v: so it is the variance times a weighted sum of the six nearest P. Expectations over the noise may then be replaced
by what is seen of the noisy values: how many cells lie at the threshold, and above it. The weights are exact for
polynomials up to the fifth degree, which a Gaussian is near enough from a sigma of 1 on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.noise import Added, AddedGaussian, AddedLaplace

_WEIGHTS = ((0, 37 / 60), (1, -8 / 60), (2, 1 / 60))
"""Of the two values next to a half step, of the next two, and of the two after these."""


def lift_of_each(step: Integers, whole: Floats | int) -> Floats:
    """Twice the share of each cell of noisy value ``step`` that counts as above the whole threshold ``whole``."""
    first = np.asarray(whole) + 1
    return np.asarray(
        2 * sum(weight * ((step >= first + off) + (step >= first - off - 1.0)) for off, weight in _WEIGHTS)
    )


def lifts(step: Integers, weight: Floats, whole: Floats, unseen: float, level: int, deviation: float) -> Floats:
    """`lift_of_each` summed over all cells, for every one of ``whole``.

    ``step``, ascending, and ``whole`` are relative to ``level``. ``unseen`` cells are not above it: empty ones, of
    which as many lie on the last values before it as noise alone would put there.
    """
    above = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
    hidden = unseen * _below(level, deviation)

    def from_(first: Floats) -> Floats:
        """Cells with a value of at least ``first``."""
        down = np.clip(-first, -1, len(hidden) - 1).astype(np.int64)  # how many values below the level are counted
        return np.asarray(above[np.searchsorted(step, first, side="left")] + np.append(hidden, 0.0)[down])

    first = whole + 1
    return np.asarray(2 * sum(part * (from_(first + off) + from_(first - off - 1.0)) for off, part in _WEIGHTS))


def _below(level: int, deviation: float) -> Floats:
    """P(Z >= level - j given Z <= level), j = 0 to 3, for noise Z alone."""
    far = math.ceil(40 * deviation) + 4
    start = min(level, far)
    value = np.arange(start, start - 4, -1, dtype=np.float64)
    # Only what lies within far of 0 has any weight; a level above that hides nobody near it.
    support = np.arange(-far, start + 1, dtype=np.float64)
    if level > far:
        return np.zeros(4)
    lowest = (support**2).min() if len(support) else start**2
    whole = np.exp((lowest - support**2) / (2 * deviation**2)).sum() if len(support) else 1.0
    return np.cumsum(np.exp((lowest - value**2) / (2 * deviation**2))) / max(whole, 1e-300)


@dataclass(frozen=True)
class Visible:
    """All that the choice of a strength may use: noisy values and declared facts, never a count.

    ``index`` and ``value`` (k,) are the cells with noisy values above the whole number ``level``, of ``size`` cells
    in all; ``lowest`` is the threshold of strength 0, the lowest that may be chosen; ``scale`` is the noise's, where it
    is ``gaussian`` its standard deviation. Where there are too many cells to list, ``index`` is empty and ``value`` has
    each distinct value once, ascending, with the number of its cells in ``times``.
    """

    index: Integers
    value: Integers
    level: int
    size: int
    total: int
    scale: Fraction
    lowest: Fraction
    fit: str
    times: Integers | None = None
    gaussian: bool = False

    @property
    def law(self) -> Added:
        """The noise of a cell."""
        return AddedGaussian(self.scale**2) if self.gaussian else AddedLaplace(self.scale)

    def distinct(self) -> tuple[Integers, Integers]:
        """The distinct values relative to ``level``, ascending, and how many cells have each."""
        step = self.value - self.level
        return distinct(step) if self.times is None else (step, self.times)


@dataclass(frozen=True)
class FittedThresholds:
    """Per threshold (t,): ``cells`` above it, and what moves each: b = z + ``stretch`` (z - t) + ``shift``.

    ``excess`` is sum (z - t) and ``distance`` sum (b - z)^2 over these cells; where there are none, NaN.
    """

    position: Integers
    cells: Floats
    excess: Floats
    stretch: Floats
    shift: Floats
    distance: Floats


def distinct(values: Integers) -> tuple[Integers, Integers]:
    """The distinct values, ascending, and how often each occurs; by counting where they lie close together.

    >>> [array.tolist() for array in distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 2]]
    """
    if not len(values):
        return values, values
    low = int(values.min())
    if int(values.max()) - low > 4 * len(values) + 65_536:
        found, times = np.unique(values, return_counts=True)
        return found, times.astype(np.int64)
    times = np.bincount(values - low)
    found = np.flatnonzero(times)
    return found + low, times[found]


def estimated_loss(visible: Visible, threshold: Floats) -> Floats:
    """The unbiased estimate of sum (b - v)^2 for each threshold (t,), up to a constant; infinite without cells.

    ``threshold`` is relative to ``visible.level``. Cells that are not visible are taken for empty ones whose noise
    is not above the level.
    """
    step, times = visible.distinct()
    weight = times.astype(np.float64)
    made = _fitted(visible, step, weight, threshold)
    scale = float(visible.scale)
    hidden = visible.size - int(times.sum())
    whole = np.floor(threshold)
    if visible.gaussian:
        lift, next_lift = (lifts(step, weight, own, hidden, visible.level, scale) for own in (whole, whole + 1))
        drop = lift - next_lift
    else:
        unseen = hidden * _unseen_lift(visible.level, scale)
        lift, touch = _lifted(step, weight, whole, scale, unseen)
        next_lift, next_touch = _lifted(step, weight, whole + 1, scale, unseen)
        drop = (touch + next_touch) * math.tanh(1 / scale / 2)
    # Those not above the threshold are released as 0: (b - z)^2 = z^2.
    below = np.concatenate([[0.0], np.cumsum(weight * (step + float(visible.level)) ** 2)])[made.position]
    response = _response(visible, made, threshold, lift, next_lift, drop)
    return _or_infinite(made.distance + below + response)


def gain_spread(visible: Visible, threshold: float, other: float) -> float:
    """The standard deviation, estimated, of the difference of the estimated losses of two thresholds."""
    step, times = visible.distinct()
    difference = _of_each(visible, step, times, threshold) - _of_each(visible, step, times, other)
    return float(np.sqrt(times @ difference**2))


def _of_each(visible: Visible, step: Integers, times: Integers, threshold: float) -> Floats:
    """What a cell of each distinct value adds to the estimated loss."""
    made = _fitted(visible, step, times.astype(np.float64), np.array([threshold]))
    moved = np.where(step > threshold, made.stretch * (step - threshold) + made.shift, -(step + float(visible.level)))
    lift, next_lift = (_lift_of_each(visible, step, math.floor(threshold) + above) for above in (0, 1))
    return moved**2 + _response(visible, made, np.array([threshold]), lift, next_lift, lift - next_lift)


def _lift_of_each(visible: Visible, step: Integers, whole: int) -> Floats:
    if visible.gaussian:
        return lift_of_each(step, whole)
    near = np.exp(-np.abs(step - whole) / float(visible.scale))
    return np.where(step > whole, 2 - near, near)


def _response(
    visible: Visible, made: FittedThresholds, threshold: Floats, lift: Floats, next_lift: Floats, drop: Floats
) -> Floats:
    """2a/(1-a)^2 E[b(z + X' + 1) - b(z + X' - 1)], or the like for Gaussian noise, of each cell or summed.

    ``lift`` and ``next_lift`` are those of the whole numbers below and above the threshold (`_lifted`), ``drop`` their
    difference. The share (k-1)/k of k cells above the threshold accounts for a cell's own part in the total.
    """
    whole = np.floor(threshold)
    own = (made.cells - 1) / made.cells
    if visible.fit == "scale":
        # Between whole thresholds max(z - t, 0) is linear in t for whole z.
        change = own * (1 + made.stretch) * (lift + (threshold - whole) * (next_lift - lift))
    else:
        jump = visible.level + whole + 1 + made.shift
        change = own * next_lift + jump * drop
    return np.asarray(visible.law.spread * change)


def true_loss(visible: Visible, truth: Integers, threshold: Floats) -> Floats:
    """sum (b - v)^2 itself for each threshold (t,), up to a constant; ``truth`` (k,) are the counts of ``value``.

    Only for tables that are public.
    """
    order = np.argsort(visible.value, kind="stable")
    step = visible.value[order] - visible.level
    count = truth[order].astype(np.float64)
    noise = (visible.value[order] - truth[order]).astype(np.float64)
    made = _fitted(visible, step, np.ones(len(step)), threshold)
    noise_sum, noise_square, noise_step = (_suffix(part, made.position) for part in (noise, noise**2, noise * step))
    along = made.stretch * (noise_step - threshold * noise_sum) + made.shift * noise_sum
    below = np.concatenate([[0.0], np.cumsum(count**2)])[made.position]
    return _or_infinite(made.distance + 2 * along + noise_square + below)


def _fitted(visible: Visible, step: Integers, weight: Floats, threshold: Floats) -> FittedThresholds:
    position = np.searchsorted(step, threshold, side="right")
    height = step.astype(np.float64)
    cells, first, second = (_suffix(part, position) for part in (weight, weight * height, weight * height**2))
    cells[cells == 0] = np.nan
    excess = first - cells * threshold
    square = second - 2 * threshold * first + cells * threshold**2
    if visible.fit == "scale":
        with np.errstate(divide="ignore"):  # an excess below the last bit of the sum
            stretch, shift = visible.total / excess - 1, -(threshold + visible.level)
    else:
        stretch, shift = np.zeros_like(threshold), (visible.total - first) / cells - visible.level
    distance = stretch**2 * square + 2 * stretch * shift * excess + cells * shift**2
    return FittedThresholds(position, cells, excess, stretch, shift, distance)


def _suffix(parts: Floats, position: Integers) -> Floats:
    """Sums of ``parts`` from each position to the end."""
    return np.append(np.cumsum(parts[::-1])[::-1], 0.0)[position]


def _lifted(step: Integers, weight: Floats, whole: Floats, scale: float, unseen: float) -> tuple[Floats, Floats]:
    """For whole thresholds L: sum P(z + X' > L) + P(z + X' >= L), and sum a^|L - z|; over all cells.

    The first is a^(L-z) for z <= L, else 2 - a^(z-L). Sums of exponentials are kept as logarithms: the values may be
    thousands of scales apart.
    """
    position = np.searchsorted(step, whole, side="right")
    height = step / scale
    up = np.append(-np.inf, np.logaddexp.accumulate(np.log(weight) + height))[position]
    down = np.append(np.logaddexp.accumulate((np.log(weight) - height)[::-1])[::-1], -np.inf)[position]
    below = np.exp(up - whole / scale) + unseen * np.exp(-whole / scale)
    above = np.exp(down + whole / scale)
    return below + 2 * _suffix(weight, position) - above, below + above


def _unseen_lift(level: int, scale: float) -> float:
    """E[a^(level - Z) given Z <= level] for noise Z alone."""
    a, minus = math.exp(-1 / scale), -math.expm1(-1 / scale)
    if level < 0:
        return 1 / (1 + a)
    inside = math.exp(-level / scale) * (minus * (level + 1) + a**2 / (1 + a)) / (1 + a)
    return inside / (1 - math.exp(-(level + 1) / scale) / (1 + a))


def _or_infinite(loss: Floats) -> Floats:
    return np.where(np.isfinite(loss), loss, np.inf)
