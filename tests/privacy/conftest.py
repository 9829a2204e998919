"""Goodness of fit for the laws of noise.

Every test of a law asks for a p-value above FALSE_ALARM = 1e-7, so a right sampler fails one run in ten
million; its twins with the scale 30 % off must fall below it. Seeds are fixed besides.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-7


def p_value(draws: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray], cells: int = 60) -> float:
    """Chi-square of integer draws against P(Z <= z) = cdf(z), in cells of about equal probability."""
    edges = np.unique(np.quantile(draws, np.linspace(0, 1, cells + 1)[1:-1], method="lower"))
    probability = np.diff(np.concatenate([[0.0], cdf(edges), [1.0]]))
    observed = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=len(edges) + 1)
    expected = probability * len(draws)
    # Pool cells too thin for the chi-square limit.
    thick = expected >= 10
    observed = np.append(observed[thick], observed[~thick].sum())
    expected = np.append(expected[thick], expected[~thick].sum())
    if expected[-1] < 10:
        if observed[-1] > expected[-1] + 60:
            return 0.0
        observed, expected = observed[:-1], expected[:-1]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, max(len(expected) - 1, 1)))


@pytest.fixture
def fits() -> Callable[..., bool]:
    """fits(draws, cdf): whether the draws may come from that law."""
    return lambda draws, cdf, **options: p_value(np.asarray(draws), cdf, **options) > FALSE_ALARM


def laplace_cdf(scale: float) -> Callable[[np.ndarray], np.ndarray]:
    a = np.exp(-1 / scale)
    lower = lambda z: np.exp(np.minimum(z, 0) / scale) / (1 + a)  # noqa: E731 - a formula
    upper = lambda z: 1 - a ** (np.maximum(z, 0) + 1) / (1 + a)  # noqa: E731 - a formula
    return lambda z: np.where(z < 0, lower(z), upper(z))


def gaussian_cdf(sigma: float) -> Callable[[np.ndarray], np.ndarray]:
    reach = int(40 * sigma) + 40
    support = np.arange(-reach, reach + 1)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    cumulative = np.cumsum(weights) / weights.sum()
    return lambda z: cumulative[np.clip(np.asarray(z, dtype=int) + reach, 0, len(cumulative) - 1)]


@pytest.fixture
def laws() -> dict[str, Callable[[float], Callable[[np.ndarray], np.ndarray]]]:
    return {"laplace": laplace_cdf, "gaussian": gaussian_cdf}


def smallest_p(one: np.ndarray, other: np.ndarray, counts: np.ndarray, width: int) -> float:
    """Two samples (runs, cells) of releases of ``counts``: each populated cell in steps of ``width``, the empty ones
    together, how many are positive, and where."""
    empty = np.flatnonzero(counts == 0)
    views = [lambda a, c=c: a[:, c] // width for c in np.flatnonzero(counts)]
    views += [lambda a: a[:, empty].ravel(), lambda a: (a > 0).sum(1), lambda a: np.nonzero(a[:, empty])[1]]
    smallest = 1.0
    for view in views:
        a, b = view(one), view(other)
        most = int(max(a.max(), b.max())) + 1
        table = np.array([np.bincount(a, minlength=most), np.bincount(b, minlength=most)])
        smallest = min(smallest, stats.chi2_contingency(table[:, table.sum(0) >= 20]).pvalue)
    return smallest


@pytest.fixture
def agree() -> Callable[..., bool]:
    """agree(one, other, counts, width): whether two samples of releases may have one law."""
    return lambda *samples: smallest_p(*samples) > FALSE_ALARM
