"""The features of the public rows, chunk by chunk; kept where they are small enough, computed again where not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sudare.arrays import Floats
from sudare.reweight.basis import GRID, Basis
from sudare.reweight.space import Codes

ROWS = 1 << 12
"""Rows at once: a chunk of some hundred features stays in the cache."""
_KEPT = 1 << 25
"""Numbers that are kept: 256 MB."""


@dataclass(frozen=True)
class PublicFeatures:
    """``basis`` at public ``codes`` (rows, attributes); iterating gives (which rows, their features (rows, size))."""

    basis: Basis
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[tuple[slice, Floats]]:
        mixing = self.basis.mixing
        for rows, raw in self._raw():
            yield rows, raw if mixing is None else raw @ mixing.T

    def _raw(self) -> Iterator[tuple[slice, Floats]]:
        """Before mixing, which is cheaper applied to sums than to rows."""
        if len(self.codes) * self.basis.size <= _KEPT:
            yield from self._kept
        else:
            yield from self._chunks()

    @cached_property
    def _kept(self) -> list[tuple[slice, Floats]]:
        return list(self._chunks())

    def _chunks(self) -> Iterator[tuple[slice, Floats]]:
        for first in range(0, len(self.codes), ROWS):
            rows = slice(first, min(first + ROWS, len(self.codes)))
            values = self.basis.steps(self.codes[rows])
            values /= GRID
            yield rows, values

    def projected(self, matrix: Floats) -> Floats:
        """Features times ``matrix`` (size, r): (rows, r)."""
        mixed = matrix if self.basis.mixing is None else self.basis.mixing.T @ matrix
        projected = np.empty((len(self), matrix.shape[1]))
        for rows, raw in self._raw():
            np.matmul(raw, mixed, out=projected[rows])
        return projected

    def weighted_mean(self, shares: Floats) -> Floats:
        """The means (size,) of the features under shares (rows,)."""
        mean = np.zeros(self.basis.size)
        for rows, raw in self._raw():
            mean += shares[rows] @ raw
        return mean if self.basis.mixing is None else self.basis.mixing @ mean

    @cached_property
    def moments(self) -> FeatureMoments:
        """Mean and second moments."""
        mean, second = np.zeros(self.basis.size), np.zeros((self.basis.size, self.basis.size))
        for _, raw in self._raw():
            mean += raw.sum(axis=0)
            second += raw.T @ raw
        if (mixing := self.basis.mixing) is not None:
            mean, second = mixing @ mean, mixing @ second @ mixing.T
        return FeatureMoments(mean / len(self), second / len(self), len(self))


@dataclass(frozen=True)
class FeatureMoments:
    """The mean (size,) and the second moments (size, size) of features over public ``rows``."""

    mean: Floats
    second: Floats
    rows: int

    @property
    def covariance(self) -> Floats:
        """J."""
        return self.second - np.outer(self.mean, self.mean)
