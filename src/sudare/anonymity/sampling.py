"""Sampling, and the paper's epsilon of one sample.

Every record is drawn independently with probability beta. A class of which n_t of d_t records were drawn is, after the
removal of one of its records, less or more likely by the factor d_t (1 - beta) / (d_t - n_t); the paper's epsilon of
the class is the absolute logarithm of that. It evaluates one output. It is no guarantee of the algorithm: n_t = d_t,
where it is infinite, always has a positive probability, and the classes may have been chosen by looking at the data.
And it is a function of the private counts d_t, so it must not be published.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sudare.noise import Bernoulli, Source

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_COINS = 2**26


def draw_sample(counts: Ints, sample: Fraction, source: Source) -> Ints:
    """How many records of each tuple are drawn: an exact coin for every record.

    >>> draw_sample(np.array([1000, 0, 3]), Fraction(1, 2), Source.from_seed(5)).shape
    (3,)
    """
    coin = Bernoulli(sample)
    ends = np.cumsum(counts)
    heads = np.zeros(len(counts) + 1, dtype=np.int64)  # among all coins up to the end of a tuple
    before = 0
    for start in range(0, int(ends[-1]) if len(ends) else 0, _COINS):
        stop = min(start + _COINS, int(ends[-1]))
        packed = np.append(coin.packed(source, stop - start), np.uint8(0))
        running = before + np.concatenate([[0], np.cumsum(np.bitwise_count(packed), dtype=np.int64)])
        inside = np.flatnonzero((ends > start) & (ends <= stop))
        byte, bit = np.divmod(ends[inside] - start, 8)
        part = packed[byte] & ((1 << bit) - 1).astype(np.uint8)
        heads[1 + inside] = running[byte] + np.bitwise_count(part)
        before = int(running[-1])
    # An empty tuple ends where the one before it does.
    return np.diff(np.maximum.accumulate(heads))


def class_epsilons(taken: Ints, held: Ints, sample: Fraction) -> Floats:
    """The paper's epsilon of each class: |ln(1 - beta) - ln(1 - n_t / d_t)|; infinite where all were drawn.

    ``taken`` is n_t, the records in the sample, ``held`` d_t, those that there are. A class that vanished from the
    sample, n_t = 0, has -ln(1 - beta).

    >>> class_epsilons(np.array([2, 0, 5]), np.array([10, 4, 5]), Fraction(1, 5)).round(4)
    array([0.    , 0.2231,    inf])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(math.log1p(-float(sample)) - np.log1p(-taken / held)))


def evaluated_epsilon(taken: Ints, held: Ints, sample: Fraction) -> float:
    """The paper's epsilon of a sample: that of its worst class, and at least -ln(1 - beta).

    Adding a record always costs the latter. With the raw rows as classes it is the paper's proposition 1: the epsilon
    of plain sampling, without k-anonymity.

    >>> round(evaluated_epsilon(np.array([30, 12]), np.array([100, 60]), Fraction(1, 5)), 4)
    0.2231
    """
    return max(-math.log1p(-float(sample)), float(class_epsilons(taken, held, sample).max(initial=0.0)))
