"""EM for reports, and how it is kept from fitting the noise.

EM's limit is the likeliest distribution, which is rougher than the truth where reports are few or epsilon is small.
Four ways to stop it:

``"prior"`` (default) runs to rest under a symmetric Dirichlet prior: every value is given A/size people beforehand.
A is read off the reports (empirical Bayes): the unbiased shares vary among values by more than noise alone would make
them, and under the prior shares vary by (1/size)(1 - 1/size)/(A + 1). ``"held_out"`` stops after as many steps as made
reports that were held out likeliest. ``"converged"`` goes to the limit, and a number makes that many plain steps, as
the paper does. The last three start with equal shares, on which they depend; the prior has one maximum, and starts
near it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.estimate import accelerate, em, project_rows
from sudare.estimate.em import Fitted, Stop

Apply: TypeAlias = Callable[[Floats], Floats]
STOPS = ("prior", "held_out", "converged")
_FLOOR = 1e-15
_ROUND = 24
_NOTHING = 0.05
"""A round of steps that raises the log likelihood of all reports by less than this tells nothing any more."""
_LARGEST_PRIOR = 1e6  # people beforehand per report: nothing but the prior is left


@dataclass(frozen=True)
class Prior:
    """A symmetric Dirichlet prior that stands for so many ``people``, and about where it leads: ``start`` (size,)."""

    people: float
    start: Floats

    @classmethod
    def of(cls, unbiased: Floats, variance: float, reports: int) -> Prior:
        """From unbiased shares (size,) of that mean ``variance`` by noise.

        >>> Prior.of(np.array([0.25, 0.25, 0.25, 0.25]), 1e-4, 1000).people == 1e9  # noise alone: the prior is all
        True
        >>> round(Prior.of(np.array([0.7, 0.1, 0.1, 0.1]), 1e-4, 1000).people, 2)
        1.09
        """
        size = len(unbiased)
        own, most = (1 - 1 / size) / size, _LARGEST_PRIOR * reports
        spread = max(float(unbiased.var(ddof=1)) - variance, own / (most + 1))
        # Where the posterior mean would be if all were Gaussian, but for a little that keeps every share positive.
        weight = 0.99 * spread / (spread + variance)
        nearest = project_rows(unbiased[None], np.ones(1))[0]
        return cls(min(max(own / spread - 1, 0.0), most), (1 - weight) / size + weight * nearest)


def fit(
    counts: Floats,
    forward: Apply,
    back: Apply,
    size: int,
    *,
    stop: str | int,
    prior: Prior | None = None,
    smooth: Apply | None = None,
    tolerance: float = 1e-8,
) -> Fitted:
    """The distribution (size,) behind ``counts`` of reports, as `sudare.estimate.em`, or under ``prior``."""
    if prior is None or stop != "prior":
        start = np.full(size, 1 / size)
        return em(counts, _remembering(forward), back, start, stop=_rule(stop), smooth=smooth, tolerance=tolerance)
    likely = _remembering(forward)
    total, each = float(counts.sum()), prior.people / size

    def step(point: Floats) -> Floats:
        people = point * back(counts / likely(point))
        # Normalised first: `forward` is known up to a factor.
        people *= total / people.sum()
        return np.asarray((people + each) / (total + prior.people))

    def score(point: Floats) -> float:
        own = float(counts @ np.log(likely(point)))
        return (own + each * float(np.log(np.maximum(point, _FLOOR)).sum())) / (total + prior.people)

    point, best, made = prior.start, score(prior.start), 0
    while True:
        found = accelerate(step, point, score, tolerance=tolerance, steps=_ROUND, repair=_onto_simplex)
        point, made, gained = found.point, made + found.steps, (found.score - best) * (total + prior.people)
        best = found.score
        if found.converged or gained < _NOTHING:
            return Fitted(point, made, best, True)


def _rule(stop: str | int) -> Stop:
    rules: dict[str, Stop] = {"held_out": "held_out", "converged": "converged"}
    if not isinstance(stop, str):
        return stop
    if stop not in rules:
        raise ParameterError(
            "no such way to stop EM", value=stop, allowed="{stops} or a number of steps", stops=", ".join(STOPS)
        )
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
