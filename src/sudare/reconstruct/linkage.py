"""Pk-anonymity: how well rows of perturbed values hide whose they are (Igarashi, Chida and Takahashi 2009).

N rows are released in random order, each perturbed on its own so that two values differ in log likelihood by at most
epsilon. An attacker knows all true values, and beforehand finds every assignment of rows to people equally likely.
Exchanging the owners of two rows changes the likelihood by a factor of at most e**(2 epsilon). Of the assignments in
which a row belongs to a person with m rows, each can be exchanged with those of N - m others, and each of these is
reached from m; so the row is that person's with probability at most

    m / (m + (N - m) e**(-2 epsilon)) = 1/k        for        2 epsilon = ln((N - m) / (m (k - 1))),

which for m = 1 is ln((N - 1)/(k - 1)). For Laplace noise of scale phi and values in a range of width W, epsilon is
W/phi, whence phi = 2 W / ln((N - 1)/(k - 1)), the scales that Hasegawa et al. print (errata M6); for several columns
the epsilons add up. This is about linkage only, and weak for many records: with N = 32,561 and k = 2, epsilon is 5.2,
at which a report gives much of a value away.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sudare.errors import Message, ParameterError
from sudare.privacy import positive, whole

_GRAIN = 10**9


def linkage_budget(k: float, records: int, max_rows: int = 1) -> float:
    """ln((N - m)/(m (k - 1))): twice the epsilon that one row may spend.

    >>> round(linkage_budget(2, 32561), 4)
    10.3908
    """
    rows, most = whole(records, "records", least=2), whole(max_rows, "max_rows")
    wanted = float(positive(k, "k"))
    if not 2 <= wanted < rows / most:
        raise ParameterError(
            "k is out of range",
            value=k,
            allowed="2 <= k < {rows:g}, the number of {who}",
            rows=rows / most,
            who=_who(most),
        )
    return math.log((rows - most) / (most * (wanted - 1)))


def _who(max_rows: int) -> Message:
    return Message("records") if max_rows == 1 else Message("records per row that one person may have")


def epsilon_for(k: float, records: int, max_rows: int = 1) -> Fraction:
    """The largest epsilon of a row (with 9 decimals, never rounded up) that keeps linkage at most 1/k."""
    exact = linkage_budget(k, records, max_rows) / 2
    return Fraction(math.floor(exact * _GRAIN * (1 - 1e-12)), _GRAIN)


def scale_for(*, k: float, records: int, width: float, max_rows: int = 1) -> float:
    """The scale of Laplace noise under which no row is linked to a person with probability above 1/k.

    ``width`` is that of the declared bounds, never of the data themselves; ``records`` the number of rows, which is
    public; ``max_rows`` how many of them one person may have.

    >>> round(scale_for(k=2, records=32561, width=73), 2)
    14.05
    """
    return 2 * float(positive(width, "width")) / linkage_budget(k, records, max_rows)


def k_for(*, scale: float, records: int, width: float, max_rows: int = 1) -> float:
    """The inverse of `scale_for`: the k that noise of ``scale`` gives.

    >>> round(k_for(scale=14.0508, records=32561, width=73), 3)
    2.0
    """
    rows, most = whole(records, "records", least=2), whole(max_rows, "max_rows")
    return linked_k(float(positive(width, "width") / positive(scale, "scale")), rows, most)


def linked_k(epsilon: float, records: int, max_rows: int = 1) -> float:
    """The k of ``records`` rows that spent ``epsilon`` each: 1 when nothing is hidden."""
    return 1 + (records - max_rows) / max_rows * math.exp(-2 * epsilon)
