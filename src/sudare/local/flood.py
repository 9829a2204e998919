"""Reports that no population of honest devices could have made: floods of forged ones, as far as laws rule them out.

Among n honest reports a value is supported by at most as many as if all people held it, and by at least as many as if
nobody did, each report being a coin with one of two known chances. A unary report has a known number of ones, whatever
the value is. Forgers who want to move a count far with few reports have to break one of these; forgers who draw their
reports as honest devices do are counted as the people they pretend to be, and no test finds them.
"""

from __future__ import annotations

import math

import numpy as np

from sudare.local.encoding import Encoding
from sudare.local.several import Several
from sudare.local.tally import Tally
from sudare.local.unary import UnaryEncoding
from sudare.measure.science import scipy_of

FORGED = 1e-9
"""Below this chance honest reports are ruled out."""


def honest_chance(tally: Tally) -> float:
    """An upper bound of the chance that honest reports look like these, whatever people's values are.

    >>> from sudare.local import SymmetricUnary
    >>> encoding = SymmetricUnary(size=4, epsilon=1)
    >>> honest = Tally(encoding).add(encoding.randomize([0] * 400, seed=1))
    >>> forged = Tally(encoding).add(np.full((400, 1), 1, dtype=np.uint8))
    >>> honest_chance(honest) > 0.01, honest_chance(forged) < FORGED
    (True, True)
    """
    binom = scipy_of("stats").binom

    encoding, number = tally.encoding, tally.reports
    if not number:
        return 1.0
    if isinstance(encoding, Several):
        return min(1.0, len(encoding.names) * min(honest_chance(tally.part(name)) for name in encoding.names))
    support, (least, most) = np.rint(tally.support), _bounds(encoding)
    tails = np.concatenate([binom.cdf(support, number, least), binom.sf(support - 1, number, most)])
    smallest = float(tails.min()) * len(tails)
    if isinstance(encoding, UnaryEncoding):
        smallest = 2 * min(smallest, _ones(encoding, float(support.sum()), number))
    return min(1.0, smallest)


def _bounds(encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest chance of a report to support each value (or, for numbers, to be each report)."""
    if encoding.chances is not None:
        own, other = encoding.chances
        return np.full(encoding.size, other), np.full(encoding.size, own)
    channel = encoding.channel
    assert channel is not None  # noqa: S101 - numbers come through the square wave
    matrix = channel.back(np.eye(channel.outputs))
    return matrix.min(axis=1), matrix.max(axis=1)


def _ones(encoding: UnaryEncoding, ones: float, number: int) -> float:
    """Bernstein's bound of the chance that the number of ones is as far from its mean."""
    own, other = encoding.chances
    mean = number * (own + (encoding.size - 1) * other)
    variance = number * (own * (1 - own) + (encoding.size - 1) * other * (1 - other))
    away = abs(ones - mean)
    return 2 * math.exp(-(away**2) / (2 * (variance + away / 3))) if away else 1.0
