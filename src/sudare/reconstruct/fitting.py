"""EM of a mixture from a start to convergence, accelerated, and the choice of the number of components.

The number is the one under which held-out records are likeliest. The usual information criteria count three parameters
for each further component. Behind noise most of them are hardly visible, so that BIC and often AIC take too few
components; the likelihood of held-out records needs no such count.

EM starts from the likeliest sum of equal narrow Gaussians, merged step by step to fewer and wider ones. The weights of
Gaussians of width phi/5 on a fine line of centres have a concave likelihood, so that EM finds the best of all such sums
from anywhere (a sieve: Geman and Hwang 1982). Its handful of centres that carry weight are then merged, each time the
two neighbours that lose least, which gives a start for every number of components; no start is random and none depends
on another. Several attributes have no such line; there, starts are drawn from the records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sudare.arrays import Floats
from sudare.measure import em
from sudare.measure.em import accelerate, split
from sudare.reconstruct.diagonal import (
    PRIOR,
    RESOLUTION,
    Components,
    Expected,
    climb,
    expect,
    log_prior,
    maximise,
    moments,
)
from sudare.reconstruct.sample import Sample

_ROUND = 60  # plain steps after which the gain is checked


@dataclass(frozen=True)
class MixtureFit:
    """Where EM ended: components, log likelihood of all records, steps made, and whether it converged."""

    components: Components
    log_likelihood: float
    score: float
    steps: int
    converged: bool


def fit_exact(sample: Sample, start: Components, *, steps: int, gain: float, prior: float) -> MixtureFit:
    """Exact EM (SQUAREM on log weights, means and log variances) until 60 steps gain less than ``gain`` in all.

    ``gain`` is in units of log likelihood, of all records together: what is worth less than that, the data cannot
    tell.
    """
    scales = sample.scales
    seen: dict[bytes, Expected] = {}

    def known(vector: Floats) -> tuple[Components, Expected]:
        """The expectation step, kept for the one call that follows with the same point."""
        now, key = Components.unpacked(vector, scales), vector.tobytes()
        if key not in seen:
            if len(seen) > 1:
                seen.pop(next(iter(seen)))
            seen[key] = expect(sample, now)
        return now, seen[key]

    def step(vector: Floats) -> Floats:
        now, expected = known(vector)
        return maximise(sample, now, expected, prior).packed(scales)

    def score(vector: Floats) -> float:
        now, expected = known(vector)
        return expected.log_likelihood + log_prior(now, scales, prior)

    vector = start.packed(scales)
    made, reached, resting = 0, score(vector), False
    while made < steps and not resting:
        found = accelerate(step, vector, score, tolerance=1e-9, steps=min(_ROUND, steps - made))
        made += found.steps
        resting = found.converged or found.score - reached < gain
        vector, reached = found.point, found.score
    now, expected = known(vector)
    return MixtureFit(now, expected.log_likelihood, reached, made, resting)


def fit_gradient(sample: Sample, start: Components, *, steps: int, rate: float, gain: float = 0.001) -> MixtureFit:
    """Algorithm 1 of Hasegawa et al.: steps along the summed gradient until one changes the log likelihood by less than
    ``gain``, or until ``steps`` are made.

    A step of ``rate`` times a sum grows with the number of records (errata M7): from some 100,000 on, the paper's rate
    of 0.001 throws the means from side to side and the rule never stops it. ``rate / sample.records`` makes it a mean.
    """
    now, known = start, expect(sample, start)
    for made in range(1, steps + 1):
        before = known.log_likelihood
        now = climb(sample, now, known, rate)
        known = expect(sample, now)
        if abs(known.log_likelihood - before) < gain:
            return MixtureFit(now, known.log_likelihood, known.log_likelihood, made, True)
    return MixtureFit(now, known.log_likelihood, known.log_likelihood, steps, False)


def likelihood(sample: Sample, components: Components) -> float:
    """The log likelihood of all records."""
    return expect(sample, components).log_likelihood


Refit: TypeAlias = Callable[[Sample, Components], MixtureFit]


@dataclass(frozen=True)
class FitCandidate:
    """A fit and its worth: the log likelihood of held-out records."""

    fit: MixtureFit
    worth: float


def judged(sample: Sample, fit: MixtureFit, refit: Refit) -> FitCandidate:
    """A fit with its worth: each record once takes no part in a fit (five folds, which start where the fit to all
    ended) and is then judged by it; the worth is the sum over all records."""
    worth = 0.0
    for fold in split(sample.counts, np.random.default_rng(0)):
        rest = sample.counts - fold
        if not fold.any():
            continue
        part = refit(sample.weighted(rest), fit.components) if rest.any() else fit
        worth += likelihood(sample.weighted(fold), part.components)
    return FitCandidate(fit, worth)


def best(candidates: Mapping[int, FitCandidate]) -> int:
    """The number of components of the worthiest candidate; the smaller of equals."""
    return max(candidates, key=lambda count: (candidates[count].worth, -count))


_CENTRES = 240
_LEAST = 1e-4  # a centre with less weight than this is empty
_STEPS = 400
_RESTARTS, _FIRST_STEPS = 4, 40


def sieve(sample: Sample) -> Components:
    """The likeliest sum of Gaussians of one width (phi/5, or wider where the line is long), one attribute."""
    points, scale = sample.points[0], sample.scales[0]
    centre, reach = sample.mean()[0], 6 * np.sqrt(sample.spread()[0])
    low, high = max(points.min(), centre - reach), min(points.max(), centre + reach)
    width = max(RESOLUTION * scale, (high - low) / (_CENTRES / 2))
    centres = np.linspace(low, high, max(2, min(_CENTRES, round(2 * (high - low) / width) + 1)))
    log_density = moments(points[:, None], centres, width**2, scale).log_density
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    even = np.full(len(centres), 1 / len(centres))
    fitted = em(
        sample.counts,
        lambda weights: density @ weights,
        lambda ratios: density.T @ ratios,
        even,
        stop="converged",
        tolerance=1e-5,
        steps=_STEPS,
    )
    used = fitted.probabilities > _LEAST
    weights = fitted.probabilities[used] / fitted.probabilities[used].sum()
    return Components(weights, centres[used][:, None], np.full((len(weights), 1), width**2))


def merged(many: Components, most: int) -> dict[int, Components]:
    """Mixtures of 1 to ``most`` components, by merging neighbours of a one-dimensional mixture; moments are kept.

    The pair that goes next is the one whose merging raises the bound of Runnalls (2007) on the relative entropy
    least.

    >>> three = Components(np.full(3, 1 / 3), np.array([[0.0], [1.0], [9.0]]), np.ones((3, 1)))
    >>> merged(three, 2)[2].means.round(2).ravel().tolist()
    [0.5, 9.0]
    """
    weights, means, variances = many.weights.copy(), many.means[:, 0].copy(), many.variances[:, 0].copy()
    found: dict[int, Components] = {}
    while True:
        if len(weights) <= most:
            # Copies: the arrays are merged further in place.
            found[len(weights)] = Components(weights / weights.sum(), means[:, None].copy(), variances[:, None].copy())
        if len(weights) == 1:
            break
        both = weights[:-1] + weights[1:]
        middle = (weights[:-1] * means[:-1] + weights[1:] * means[1:]) / both
        wide = (
            weights[:-1] * (variances[:-1] + (means[:-1] - middle) ** 2)
            + weights[1:] * (variances[1:] + (means[1:] - middle) ** 2)
        ) / both
        loss = both * np.log(wide) - weights[:-1] * np.log(variances[:-1]) - weights[1:] * np.log(variances[1:])
        left = int(loss.argmin())
        weights[left], means[left], variances[left] = both[left], middle[left], wide[left]
        weights, means, variances = (np.delete(each, left + 1) for each in (weights, means, variances))
    # Fewer centres than asked for: the widest is halved.
    for count in range(len(found) + 1, most + 1):
        found[count] = _halved(found[count - 1])
    return found


def _halved(few: Components) -> Components:
    """One more component: the one with the largest spread in two."""
    place = int((few.weights * few.variances[:, 0]).argmax())
    shift = np.sqrt(few.variances[place]) / 2
    weights = np.append(few.weights, few.weights[place] / 2)
    weights[place] /= 2
    means = np.concatenate([few.means, [few.means[place] + shift]])
    means[place] -= shift
    variances = np.concatenate([few.variances, [few.variances[place] * 0.75]])
    variances[place] *= 0.75
    return Components(weights, means, variances).sorted()


def drawn(sample: Sample, count: int, generator: np.random.Generator) -> Components:
    """A start for several attributes: means far apart (k-means++), shrunk towards the centre by the noise's share."""
    centre, spread = sample.mean(), sample.spread()
    shrink = np.sqrt(spread / (spread + 2 * sample.scales**2))
    rows = sample.rows
    scaled = (rows - centre) / np.sqrt(spread)
    chances = sample.counts / sample.counts.sum()
    chosen = [int(generator.choice(len(rows), p=chances))]
    nearest = np.full(len(rows), np.inf)
    for _ in range(count - 1):
        nearest = np.minimum(nearest, ((scaled - scaled[chosen[-1]]) ** 2).sum(axis=1))
        pull = nearest * sample.counts
        chosen.append(int(generator.choice(len(rows), p=pull / pull.sum() if pull.any() else chances)))
    means = centre + shrink * (rows[chosen] - centre)
    variances = np.tile(spread / count ** (2 / sample.attributes), (count, 1))
    return Components(np.full(count, 1 / count), means, variances)


def random_start(sample: Sample, count: int, generator: np.random.Generator) -> Components:
    """A random start, of which Hasegawa et al. print no more than that: equal weights, means at random records,
    deviations as large as the noise lets them be."""
    rows = generator.choice(len(sample.counts), count, p=sample.counts / sample.records)
    return Components(np.full(count, 1 / count), sample.rows[rows], np.tile(sample.spread(), (count, 1)))


class Starts:
    """Starts for any number of components of one ``sample``; several attributes draw theirs from ``seed``."""

    def __init__(self, sample: Sample, seed: int) -> None:
        self._sample, self._seed = sample, seed
        self._sieve = sieve(sample) if sample.attributes == 1 else None

    def of(self, count: int) -> Components:
        """The one start of a single attribute; of several, the best of a few after its first steps."""
        if self._sieve is not None:
            return merged(self._sieve, count)[count]
        generator = np.random.default_rng([self._seed, count])
        tried = [
            fit_exact(self._sample, drawn(self._sample, count, generator), steps=_FIRST_STEPS, gain=0.1, prior=PRIOR)
            for _ in range(_RESTARTS if count > 1 else 1)
        ]
        return max(tried, key=lambda fit: fit.score).components
