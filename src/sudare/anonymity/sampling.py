"""The paper's epsilon of one sample.

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

from sudare.arrays import Floats, Integers


def class_epsilons(taken: Integers, held: Integers, sample: Fraction) -> Floats:
    """The paper's epsilon of each class: |ln(1 - beta) - ln(1 - n_t / d_t)|; infinite where all were drawn.

    ``taken`` is n_t, the records in the sample, ``held`` d_t, those that there are. A class that vanished from the
    sample, n_t = 0, has -ln(1 - beta).

    >>> class_epsilons(np.array([2, 0, 5]), np.array([10, 4, 5]), Fraction(1, 5)).round(4)
    array([0.    , 0.2231,    inf])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(math.log1p(-float(sample)) - np.log1p(-taken / held)))


def evaluated_epsilon(taken: Integers, held: Integers, sample: Fraction) -> float:
    """The paper's epsilon of a sample: that of its worst class, and at least -ln(1 - beta).

    Adding a record always costs the latter. With the raw rows as classes it is the paper's proposition 1: the epsilon
    of plain sampling, without k-anonymity.

    >>> round(evaluated_epsilon(np.array([30, 12]), np.array([100, 60]), Fraction(1, 5)), 4)
    0.2231
    """
    return max(-math.log1p(-float(sample)), float(class_epsilons(taken, held, sample).max(initial=0.0)))
