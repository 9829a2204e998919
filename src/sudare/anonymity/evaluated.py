"""The epsilon that the paper evaluates for one sample, and the outputs that it excludes.

Outputs that the paper's algorithm could not have stopped at: its section 3.2.

The probability of an output counts the samples with these class sizes. But where all classes with some node are large
enough to be divided among its children, a sample with the same sizes may allow to specialise further, and then the
algorithm does not end with this output. The paper sets such outputs aside in its proof, and ignores them in its
experiment. Here one sees how often they occur.

The paper's epsilon of one sample.

Every record is drawn independently with probability beta. A class of which n_t of d_t records were drawn is, after the
removal of one of its records, less or more likely by the factor d_t (1 - beta) / (d_t - n_t); the paper's epsilon of
the class is the absolute logarithm of that. It evaluates one output. It is no guarantee of the algorithm: n_t = d_t,
where it is infinite, always has a positive probability, and the classes may have been chosen by looking at the data.
And it is a function of the private counts d_t, so it must not be published.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sudare.anonymity.hierarchy import Hierarchy
from sudare.arrays import Floats, Integers


def excluded(hierarchies: Sequence[Hierarchy], cells: Integers, sizes: Integers, k: int) -> bool:
    """Whether an output (``cells``: classes x attributes, ``sizes``: their records) is one the paper sets aside.

    That is when, for some node with c children, every class with that node has at least c k records.

    >>> work = Hierarchy.from_nested({"Government": ["State", "Local"], "Private": None})
    >>> government, private = np.array([[1], [4]])
    >>> cells = np.stack([government, private])
    >>> excluded([work], cells, np.array([19, 50]), k=10), excluded([work], cells, np.array([20, 50]), k=10)
    (False, True)
    """
    for place, tree in enumerate(hierarchies):
        for node in np.unique(cells[:, place]):
            children = len(tree.children(int(node)))
            if children and sizes[cells[:, place] == node].min() >= children * k:
                return True
    return False


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
