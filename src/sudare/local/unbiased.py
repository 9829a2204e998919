"""The unbiased estimate: how far it may be off, and which counts are compatible with it.

A report supports its own value with chance p and another with chance q, so with ``people`` (size,) among n reports
the support of value v has mean n q + people_v (p - q), and (support - n q)/(p - q) is unbiased. It may be negative, and
need not add up to n. Given the people, reports are independent, so its variance is exactly

    n a + b people_v,  a = q (1 - q)/(p - q)**2,  b = (1 - p - q)/(p - q).
"""

from __future__ import annotations

import numpy as np

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.local.encoding import Encoding


def chances_of(encoding: Encoding) -> tuple[float, float]:
    """p and q; refuses the square wave, which has no such numbers."""
    if encoding.chances is None:
        raise ParameterError(
            "this encoding has no unbiased estimate", value=encoding.name, allowed="method em or ems", hint="Use em."
        )
    return encoding.chances


def noise_terms(encoding: Encoding) -> tuple[float, float]:
    """a and b of the variance n a + b people.

    >>> from sudare.local import SymmetricUnary
    >>> [round(term, 4) for term in noise_terms(SymmetricUnary(size=23, epsilon=1))]
    [3.9177, 0.0]
    """
    own, other = chances_of(encoding)
    return other * (1 - other) / (own - other) ** 2, (1 - own - other) / (own - other)


def unbiased_counts(encoding: Encoding, support: Floats, reports: int) -> Floats:
    """People per value (size,) from how many reports support each."""
    own, other = chances_of(encoding)
    return np.asarray((support - reports * other) / (own - other))


def standard_error(encoding: Encoding, people: Floats, reports: int) -> Floats:
    """Of the unbiased counts, if there are ``people`` per value."""
    constant, slope = noise_terms(encoding)
    return np.sqrt(np.maximum(reports * constant + slope * np.clip(people, 0, reports), 0))


def interval(encoding: Encoding, counts: Floats, reports: int, reach: float) -> tuple[Floats, Floats]:
    """All numbers of people from which unbiased ``counts`` are at most ``reach`` standard errors away.

    The standard error is the one of those numbers, not of the estimate (Wilson's interval), so that it holds for few
    people too. Cut to 0..reports, which loses nothing.
    """
    constant, slope = noise_terms(encoding)
    middle = counts + reach**2 * slope / 2
    half = reach * np.sqrt(np.maximum(reports * constant + slope * counts + (reach * slope / 2) ** 2, 0))
    return np.clip(middle - half, 0, reports), np.clip(middle + half, 0, reports)


def covariance(encoding: Encoding, people: Floats, reports: int) -> Floats:
    """Of the unbiased counts (size, size), if there are ``people`` per value; refuses where it is not known."""
    own, other = chances_of(encoding)
    people = np.clip(people, 0, reports)
    matrix = encoding.support_covariance(people)
    if matrix is None:
        raise ParameterError(
            "the covariance of this encoding is not known",
            value=encoding.name,
            hint="Standard errors are; values share hash buckets in ways that three of them are not independent in.",
        )
    matrix = matrix / (own - other) ** 2
    np.fill_diagonal(matrix, standard_error(encoding, people, reports) ** 2)
    return np.asarray(matrix)
