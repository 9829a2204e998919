"""The intervals of weighted answers as they were: they trusted the fitted means, and forgot what the weights miss."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

import sudare.reweight as reweight


def before(made: reweight.Weighting, functions: np.ndarray, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    """From where to where (q,) for the means of functions (rows, q), for a tilt."""
    model, shares = made.model, made.normalised()
    features = made.features.projected(model.directions)
    features -= shares @ features
    value, effective = shares @ functions, 1 / float((shares**2).sum())
    spread = (features * shares[:, None]).T @ features + np.eye(features.shape[1]) * (0.2 / effective)
    slope = np.linalg.solve(spread, features.T @ (shares[:, None] * (functions - value)))
    pull = shares * (features * np.linalg.solve(spread, features.T).T).sum(axis=1)
    own = (functions - value - features @ slope) / (1 - np.minimum(pull, 0.5))[:, None]
    variance = np.einsum("iq,ij,jq->q", slope, model.error, slope) + (shares**2) @ own**2
    half = np.abs(model.shift @ slope) + stdtrit(max(effective - 1, 1), 0.5 + level / 2) * np.sqrt(variance)
    return value - half, value + half
