"""Where EM starts: from the likeliest sum of equal narrow Gaussians, merged step by step to fewer and wider ones.

The weights of Gaussians of width phi/5 on a fine line of centres have a concave likelihood, so that EM finds the best
of all such sums from anywhere (a sieve: Geman and Hwang 1982). Its handful of centres that carry weight are then
merged, each time the two neighbours that lose least, which gives a start for every number of components; no start is
random and none depends on another. Several attributes have no such line; there, starts are drawn from the records.
"""

from __future__ import annotations

import numpy as np

from sudare.measure import em
from sudare.reconstruct.diagonal import PRIOR, RESOLUTION, Components
from sudare.reconstruct.fitting import fit_exact
from sudare.reconstruct.moments import moments
from sudare.reconstruct.sample import Sample

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
    """A start for several attributes: means far apart (k-means++), drawn together as noise drew them apart."""
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
