"""How many components: the number under which records that were held out are likeliest, or an information criterion.

The usual criteria count three freedoms for each further component. Behind noise most of them are hardly visible, and
so BIC and often AIC take too few; what a component is worth on records it has not seen needs no count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from sudare.estimate.em import split
from sudare.reconstruct.diagonal import Components
from sudare.reconstruct.fitting import MixtureFit, likelihood
from sudare.reconstruct.sample import Sample

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
