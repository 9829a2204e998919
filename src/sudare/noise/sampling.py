"""Which records take part: an exact coin for each, recorded and replayed like noise.

A sample protects as noise does, by what an onlooker cannot know: whether a record was drawn. So its coins belong to the
seam. They are tossed for kinds of records (all records with equal values are one kind, told apart by a key), since
records of one kind are interchangeable; a tape keeps how many of each were kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sudare.arrays import Integers
from sudare.noise.bernoulli import Bernoulli
from sudare.noise.source import Source

_COINS = 2**26


def draw_sample(counts: Integers, rate: Fraction, source: Source) -> Integers:
    """How many records of each kind are drawn: an exact coin for every record.

    >>> draw_sample(np.array([1000, 0, 3]), Fraction(1, 2), Source.from_seed(5)).shape
    (3,)
    """
    coin = Bernoulli(rate)
    ends = np.cumsum(counts)
    heads = np.zeros(len(counts) + 1, dtype=np.int64)  # among all coins up to the end of a kind
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
    # A kind without records ends where the one before it does.
    return np.diff(np.maximum.accumulate(heads))


@dataclass(frozen=True)
class Sampled:
    """One sample on a tape: of ``counts`` records of each kind, told apart by the rows of ``keys``, ``kept`` ones."""

    label: str
    rate: Fraction
    keys: Integers
    counts: Integers
    kept: Integers

    def again(self, keys: Integers, counts: Integers, drawn: bool) -> Integers:
        """How many of a neighbour's records are kept, who has the same coins for the records that both have.

        Of a kind with fewer records now, those that were not kept are gone first; records that are new were all
        ``drawn``, or none of them.

        >>> tape = Sampled("rows", Fraction(1, 2), np.array([[0], [1]]), np.array([3, 2]), np.array([2, 2]))
        >>> tape.again(np.array([[0], [1], [2]]), np.array([2, 1, 1]), drawn=True).tolist()
        [2, 1, 1]
        """
        known = {tuple(key): place for place, key in enumerate(self.keys.tolist())}
        places = [known.get(tuple(key)) for key in keys.tolist()]
        had = np.array([0 if place is None else self.counts[place] for place in places], dtype=np.int64)
        kept = np.array([0 if place is None else self.kept[place] for place in places], dtype=np.int64)
        return np.asarray(np.minimum(kept, counts) + drawn * np.maximum(counts - had, 0))
