"""How well draws fit a law: exact tests, so that the stated chance of a false alarm is true far out in the tail.

Of every cell, and of all cells up to it, the number of draws is binomial. The smallest of all these tail probabilities,
multiplied by their number (Bonferroni), is a p-value without any approximation. That of a sum of squares would be
approximate where it matters here, at 1e-9.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sudare.arrays import Floats
from sudare.audit.distinguish import FALSE_ALARM
from sudare.audit.finding import Finding, said

OFF = (Fraction(7, 10), Fraction(13, 10))
"""Factors of the scale that a test must see."""


@dataclass(frozen=True)
class LawFit:
    """How well draws fit: the p-value of the law, and of the laws that are 30 % off."""

    draws: int
    right: float
    wrong: tuple[float, ...]

    @property
    def passed(self) -> bool:
        """Whether the right law fits and the wrong ones do not."""
        return self.right > FALSE_ALARM and all(one < FALSE_ALARM for one in self.wrong)


def tails(hits: NDArray[np.generic], trials: int, chance: Floats | float) -> Floats:
    """The smaller tail of each binomial count, of those at and beyond it."""
    counts = np.asarray(hits, dtype=np.float64)
    return np.asarray(np.minimum(stats.binom.cdf(counts, trials, chance), stats.binom.sf(counts - 1, trials, chance)))


def p_value(hits: NDArray[np.generic], trials: int, chance: Floats | float) -> float:
    """Whether several counts are binomial with their chances, two-sided: the smallest tail times their number.

    >>> p_value(np.array([510, 480]), 1000, 0.5) > 0.2, p_value(np.array([510, 900]), 1000, 0.5) < 1e-100
    (True, True)
    """
    found = tails(hits, trials, chance)
    return float(min(1.0, 2 * found.size * found.min()))


def fit(observed: NDArray[np.generic], law: Floats) -> float:
    """The p-value of counts under a law over the same cells: of every cell, and of all cells up to it.

    >>> fit(np.array([500, 500]), np.array([0.5, 0.5]))
    1.0
    >>> fit(np.array([900, 100]), np.array([0.5, 0.5])) < 1e-100
    True
    """
    counts = np.asarray(observed, dtype=np.int64)
    if counts[law <= 0].any():
        return 0.0
    running, up_to = np.cumsum(counts)[:-1], np.minimum(np.cumsum(law)[:-1], 1.0)
    return p_value(np.concatenate([counts, running]), int(counts.sum()), np.concatenate([law, up_to]))


def law_finding(name: str, found: LawFit) -> Finding:
    """A fit as a finding."""
    seen = said("seen_fit", right=f"{found.right:.2g}", wrong=", ".join(f"{one:.1g}" for one in found.wrong))
    allowed = said("allowed_fit", limit=f"{FALSE_ALARM:g}")
    return Finding("laws", name, found.passed, found.draws, seen, allowed, FALSE_ALARM)
