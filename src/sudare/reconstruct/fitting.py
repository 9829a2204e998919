"""EM of a mixture from a start to its rest, accelerated, and how likely records are that were held out.

How many components: the number under which records that were held out are likeliest, or an information criterion.

The usual criteria count three freedoms for each further component. Behind noise most of them are hardly visible, and
so BIC and often AIC take too few; what a component is worth on records it has not seen needs no count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from sudare.arrays import Floats
from sudare.measure.em import accelerate, split
from sudare.reconstruct.diagonal import Components, Expected, climb, expect, log_prior, maximise
from sudare.reconstruct.sample import Sample

_ROUND = 60  # plain steps between two looks at what they gained


@dataclass(frozen=True)
class MixtureFit:
    """Where EM ended: components, log likelihood of all records, steps made, whether they had come to rest."""

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


def fit_gradient(sample: Sample, start: Components, *, steps: int, rate: float) -> MixtureFit:
    """The paper's EM: plain steps along the gradient."""
    now = start
    for _ in range(steps):
        now = climb(sample, now, expect(sample, now), rate)
    reached = expect(sample, now).log_likelihood
    return MixtureFit(now, reached, reached, steps, False)


def likelihood(sample: Sample, components: Components) -> float:
    """The log likelihood of all records."""
    return expect(sample, components).log_likelihood


Criterion: TypeAlias = Literal["held_out", "aic", "bic"]
Refit: TypeAlias = Callable[[Sample, Components], MixtureFit]


@dataclass(frozen=True)
class FitCandidate:
    """A fit and its worth: the log likelihood of held-out records, or the criterion with its sign turned."""

    fit: MixtureFit
    worth: float


def freedoms(count: int, attributes: int, *, whole: bool = False) -> int:
    """Free numbers of a mixture: weights, means, and variances or ``whole`` covariances.

    >>> freedoms(3, 1), freedoms(2, 2), freedoms(2, 2, whole=True)
    (8, 9, 11)
    """
    spread = attributes * (attributes + 1) // 2 if whole else attributes
    return count - 1 + count * (attributes + spread)


def judged(
    sample: Sample, fits: Mapping[int, MixtureFit], criterion: Criterion, refit: Refit
) -> dict[int, FitCandidate]:
    """Every fit with its worth.

    "held_out": each record once takes no part in a fit (five folds, which start where the fit to all ended) and is
    then judged by it; the worth is the sum over all records.
    """
    if criterion != "held_out":
        price = 1.0 if criterion == "aic" else 0.5 * np.log(sample.records)
        return {
            count: FitCandidate(fit, fit.log_likelihood - price * freedoms(*fit.components.means.shape))
            for count, fit in fits.items()
        }
    folds = split(sample.counts, np.random.default_rng(0))
    judged = {}
    for count, fit in fits.items():
        worth = 0.0
        for fold in folds:
            rest = sample.counts - fold
            if not fold.any():
                continue
            part = refit(sample.weighted(rest), fit.components) if rest.any() else fit
            worth += likelihood(sample.weighted(fold), part.components)
        judged[count] = FitCandidate(fit, worth)
    return judged


def best(candidates: Mapping[int, FitCandidate]) -> int:
    """The number of components of the worthiest candidate; the smaller of equals."""
    return max(candidates, key=lambda count: (candidates[count].worth, -count))
