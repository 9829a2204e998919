"""Estimates for numbers sent through the square wave: EM, EM with smoothing, and the unbiased estimate behind both.

Reports follow q = A p, p the shares of the cells. EM is stopped by held-out reports; EMS smooths by (1, 2, 1)/4 after
each step and runs to rest, which suits smooth shapes in fine cells (Li et al. 2020). Both are biased towards smooth
shapes by an amount that nobody knows. What is known is the error of the unbiased estimate, least squares weighted by
1/q (the likeliest p if shares could be negative). Given the people that there are, its covariance is
((A' diag(1/q) A)**-1 - diag(p)) / n; people drawn from p would add (diag(p) - p p') / n. Cells finer than what the
noise lets through have wide intervals, and rightly so.
"""

from __future__ import annotations

import numpy as np

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.estimate.em import Fitted
from sudare.local.em import fit
from sudare.noise.response import Channel


def smoothed(shares: Floats) -> Floats:
    """(1, 2, 1)/4 along the last axis; what would leave at an end stays in its cell.

    >>> smoothed(np.array([0.0, 1.0, 0.0, 0.0])).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    padded = np.concatenate([shares[..., :1], shares, shares[..., -1:]], axis=-1)
    return np.asarray((padded[..., :-2] + 2 * shares + padded[..., 2:]) / 4)


def fit_numbers(sums: Floats, channel: Channel, method: str, stop: str | int) -> Fitted:
    """Shares of the cells from how often each report came, by ``method`` em or ems."""
    cells = channel.inputs
    if method == "ems":
        return fit(sums, channel.forward, channel.back, cells, stop="converged", smooth=smoothed, tolerance=1e-7)
    if stop == "prior":
        raise ParameterError(
            "EM for numbers has no prior", value=stop, allowed="held_out, converged or a number of steps"
        )
    return fit(sums, channel.forward, channel.back, cells, stop=stop)


def unbiased_numbers(sums: Floats, channel: Channel, shares: Floats) -> tuple[Floats, Floats]:
    """Unbiased counts (cells,) and their covariance (cells, cells), given about the right ``shares``."""
    reports = float(sums.sum())
    # back(e_j) is row j of A as it acts on cells: P(report j | cell).
    matrix = channel.back(np.eye(channel.outputs))
    weighted = matrix / channel.forward(shares)[:, None]
    inverse = np.linalg.inv(matrix.T @ weighted)
    counts = inverse @ (weighted.T @ sums)
    return counts, reports * ((inverse + inverse.T) / 2 - np.diag(shares))
