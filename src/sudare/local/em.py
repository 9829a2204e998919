"""EM for reports, and how it is kept from fitting the noise.

EM's limit is the likeliest distribution, which is rougher than the truth where reports are few or epsilon is small.
Four ways to stop it:

``"prior"`` (default) runs to rest under a symmetric Dirichlet prior: every value is given A/size people beforehand.
A is read off the reports (empirical Bayes): the unbiased estimates vary among values by tau**2 more than noise alone
would make them, and under the prior shares vary by (1/size)(1 - 1/size)/(A + 1). ``"held_out"`` stops after as many
steps as made reports that were held out likeliest. ``"converged"`` goes to the limit, and a number makes that many
plain steps, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.estimate import accelerate, em
from sudare.estimate.em import Fitted, Stop

Floats: TypeAlias = NDArray[np.float64]
Apply: TypeAlias = Callable[[Floats], Floats]
STOPS = ("prior", "held_out", "converged")
_FLOOR = 1e-15
_LARGEST_PRIOR = 1e6  # people beforehand per report: nothing but the prior is left


def prior_people(shares: Floats, variance: float, reports: int) -> float:
    """A: how many people the prior stands for, given unbiased ``shares`` (size,) of that mean ``variance``.

    >>> prior_people(np.array([0.25, 0.25, 0.25, 0.25]), 1e-4, 1000) == 1e9  # no more than noise: the prior is all
    True
    >>> round(prior_people(np.array([0.7, 0.1, 0.1, 0.1]), 1e-4, 1000), 2)
    1.09
    """
    size = len(shares)
    spread = float(shares.var(ddof=1)) - variance
    most = _LARGEST_PRIOR * reports
    own = (1 - 1 / size) / size
    return most if spread * most <= own else max(own / spread - 1, 0.0)


def fit(
    counts: Floats,
    forward: Apply,
    back: Apply,
    size: int,
    *,
    stop: str | int,
    prior: float = 0.0,
    smooth: Apply | None = None,
    tolerance: float = 1e-8,
) -> Fitted:
    """The distribution (size,) behind ``counts`` of reports, as `sudare.estimate.em`; ``prior`` is A."""
    start = np.full(size, 1 / size)
    if stop != "prior":
        return em(counts, _remembering(forward), back, start, stop=_rule(stop), smooth=smooth, tolerance=tolerance)
    likely = _remembering(forward)
    total, each = float(counts.sum()), prior / size

    def step(point: Floats) -> Floats:
        people = point * back(counts / likely(point))
        # Normalised first: `forward` is known up to a factor.
        people *= total / people.sum()
        return np.asarray((people + each) / (total + prior))

    def score(point: Floats) -> float:
        own = float(counts @ np.log(likely(point)))
        return (own + each * float(np.log(np.maximum(point, _FLOOR)).sum())) / (total + prior)

    found = accelerate(step, start, score, tolerance=tolerance, repair=_onto_simplex)
    return Fitted(found.point, found.steps, found.score, found.converged)


def _rule(stop: str | int) -> Stop:
    rules: dict[str, Stop] = {"held_out": "held_out", "converged": "converged"}
    if not isinstance(stop, str):
        return stop
    if stop not in rules:
        raise ParameterError("no such way to stop EM", value=stop, allowed=", ".join(STOPS) + " or a number of steps")
    return rules[stop]


def _onto_simplex(point: Floats) -> Floats:
    kept = np.maximum(point, _FLOOR)
    return np.asarray(kept / kept.sum())


def _remembering(forward: Apply) -> Apply:
    """``forward`` with its last two answers kept: the safeguard and the next step ask for the same point."""
    known: list[tuple[Floats, Floats]] = []

    def answer(point: Floats) -> Floats:
        for asked, answered in known:
            if asked is point:
                return answered
        answered = forward(point)
        known.append((point, answered))
        del known[:-2]
        return answered

    return answer
