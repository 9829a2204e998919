"""Which values each report supports, as the channel that exact EM works through.

The likelihood of value v given report u is proportional to 1 + gain z_uv, gain = e**epsilon - 1, with z_uv = 1 where u
supports v. EM needs two products per step: Z theta, and Z transposed times weights. Both are done on packed bits,
eight values at a time: a byte selects one of 256 sums that are known beforehand. Equal reports are merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import expm1

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.local.encoding import Encoding
from sudare.local.layout import Packed
from sudare.local.reports import Reports

_ROWS = 1 << 16
_SAMPLE = 1 << 12
_WORD = 8
_BITS = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.float64)


class Supports:
    """Merged reports of one encoding: ``counts`` (rows,) says how many there are of each.

    Memory: a bit per value and report, once, in columns of bytes, of at most 65,536 reports each.

    >>> from sudare.local import SymmetricUnary
    >>> reports = SymmetricUnary(size=3, epsilon=1).randomize([0] * 500 + [2] * 500, seed=1)
    >>> seen = Supports(reports.encoding, [reports])
    >>> len(seen.counts), float(seen.counts.sum())
    (8, 1000.0)
    """

    def __init__(self, encoding: Encoding, parts: Iterable[Reports]) -> None:
        self.size = encoding.size
        self.gain = expm1(float(encoding.report_epsilon))
        width = -(-self.size // 8)
        counts, self._columns = [np.empty(0)], list[NDArray[np.uint8]]()
        for rows, number in merged((encoding.bitmaps(part.packed) for part in parts), width):
            counts.append(number)
            self._columns += [
                np.ascontiguousarray(rows[start : start + _ROWS].T) for start in range(0, len(rows), _ROWS)
            ]
        self.counts: Floats = np.concatenate(counts)

    def forward(self, law: Floats) -> Floats:
        """(size,) to (rows,): how likely each report is when values follow ``law``, up to a factor of its own."""
        table = _padded(law) @ _BITS.T
        likely = np.empty(len(self.counts))
        start = 0
        for columns in self._columns:
            inner = np.zeros(columns.shape[1])
            for sums, column in zip(table, columns, strict=True):
                inner += sums.take(column)
            likely[start : start + len(inner)] = inner
            start += len(inner)
        likely *= self.gain
        likely += law.sum()
        return likely

    def back(self, score: Floats) -> Floats:
        """(rows,) to (size,): the adjoint of `forward`."""
        table = np.zeros((-(-self.size // 8), 256))
        start = 0
        for columns in self._columns:
            weights = score[start : start + columns.shape[1]]
            for sums, column in zip(table, columns, strict=True):
                sums += np.bincount(column, weights, minlength=256)
            start += len(weights)
        return np.asarray(score.sum() + self.gain * (table @ _BITS).ravel()[: self.size])


def merged(parts: Iterable[Packed], width: int) -> Iterable[tuple[Packed, Floats]]:
    """Bitmaps of ``width`` bytes with how many there are of each; chunks that share next to nothing stay as they are.

    Up to eight bytes, all reports are merged by sorting words. Longer ones seldom repeat: a sample shows whether.
    """
    listed = list(parts)
    if width <= _WORD:
        words = np.concatenate([np.empty(0, dtype="<u8"), *(_words(part) for part in listed)])
        distinct, number = np.unique(words, return_counts=True)
        rows = distinct.astype("<u8").view(np.uint8).reshape(-1, _WORD)[:, :width]
        return [(rows, number.astype(np.float64))]
    sample = np.concatenate([part[:_SAMPLE] for part in listed[:1]])
    if len(np.unique(sample, axis=0)) > 0.9 * len(sample):
        return ((part, np.ones(len(part))) for part in listed)
    rows, number = np.unique(np.concatenate(listed), axis=0, return_counts=True)
    return [(rows, number.astype(np.float64))]


def _words(packed: Packed) -> NDArray[np.uint64]:
    wide = np.zeros((len(packed), _WORD), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view("<u8").ravel()


def _padded(law: Floats) -> Floats:
    wide = np.zeros(-(-len(law) // 8) * 8)
    wide[: len(law)] = law
    return wide.reshape(-1, 8)
