"""EM of a mixture from a start to its rest, accelerated, and how likely records are that were held out."""

from __future__ import annotations

from dataclasses import dataclass

from sudare.arrays import Floats
from sudare.estimate import accelerate
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
