"""Hat functions and categories: shares of people near each knot, whose sensitivity does not grow with their number.

For one number with knots c_1 < ... < c_b the hat l is 1 at c_l, 0 at every other knot and linear between: a record
shares itself out between its two neighbouring knots. A category gives all to itself. A block of two attributes takes
the products. The functions of a block are never negative and add up to one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.reweight.basis import GRID, Adjacency, Basis, Reach, root_above
from sudare.reweight.space import STEPS, Categorical, Codes, Numeric, Space

VARIANCE = 3.0
"""The prior variance of a log ratio at a knot or of a category: ratios within a factor of 30 are ordinary."""
SMOOTHNESS = 1.4
"""The length over which a log ratio is expected to vary, in spreads (median distance / sqrt 2) of the public data."""
_BITS = GRID.bit_length() - 1
_ROWS = 1 << 16


@dataclass(frozen=True)
class HatAxis:
    """One attribute of a block: knots of a number in steps, or how many categories there are."""

    place: int
    knots: tuple[int, ...] | None
    size: int
    spread: float = 1.0

    def shares(self, codes: Codes, whole: int) -> tuple[NDArray[np.int64], Floats]:
        """Two cells (rows, 2) of each record and what each gets of ``whole``: whole numbers that add up to it."""
        code = codes[:, self.place]
        if self.knots is None:
            cell = code.astype(np.int64)
            return np.stack([cell, cell], 1), np.stack([np.full(len(code), float(whole)), np.zeros(len(code))], 1)
        knots = np.array(self.knots, dtype=np.float64)
        left = np.clip(np.searchsorted(knots, code, side="right") - 1, 0, len(knots) - 2)
        right_share = np.rint(whole * ((code - knots[left]) / (knots[left + 1] - knots[left])))
        return np.stack([left, left + 1], 1), np.stack([whole - right_share, right_share], 1)

    def prior(self) -> Floats:
        """The prior correlation of a log ratio at the knots; categories know nothing of each other."""
        if self.knots is None:
            return np.eye(self.size)
        knots = np.array(self.knots, dtype=np.float64)
        distance = (knots[:, None] - knots) / (SMOOTHNESS * self.spread)
        return np.exp(-(distance**2) / 2)


@dataclass(frozen=True)
class Hats(Basis):
    """Blocks of one or more attributes each, the functions of each block adding up to one.

    Sensitivity: a record's steps in a block are whole numbers >= 0 that add up to GRID exactly. Replacing the record
    moves a block by at most 2 GRID in L1 and sqrt(2) GRID in L2 (|a - a'|^2 <= |a|^2 + |a'|^2), adding it by GRID in
    both; blocks add in L1, their squares in L2. Averaging a person's rows stays inside, its rounding adds 1/2 a cell.

    >>> hats = Hats.of(Space.declare([(0, 10)]), np.array([[0.0], [524288.0], [1048576.0]]), knots=5)
    >>> (hats.steps(np.array([[131072.0]])) / GRID).tolist()
    [[0.5, 0.5, 0.0, 0.0, 0.0]]
    """

    blocks: tuple[tuple[HatAxis, ...], ...]

    @classmethod
    def of(cls, space: Space, public: Codes, knots: int = 20, pairs: Sequence[tuple[int, int]] = ()) -> Hats:
        """Knots at the bounds and at quantiles of the public rows, fewer for pairs; an attribute in a pair needs no
        block of its own, since the shares of the pair add up to it."""
        paired = {place for pair in pairs for place in pair}
        alone = [(place,) for place in range(len(space.attributes)) if place not in paired]
        blocks = [*alone, *map(tuple, pairs)]
        axes = [
            tuple(_axis(space, public, place, knots if len(block) == 1 else knots // 2) for place in block)
            for block in blocks
        ]
        return cls(tuple(axes))

    @classmethod
    def at(cls, public: Codes, knots: Codes) -> Hats:
        """Declared knots (in steps) for the one number that there is."""
        inner = np.unique(np.concatenate([[0.0], knots, [float(STEPS)]])).astype(np.int64)
        return cls(((HatAxis(0, tuple(inner.tolist()), len(inner), spread(public[:, 0])),),))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Hats:
        blocks = [
            tuple(
                HatAxis(
                    axis["attribute"],
                    None if axis["knots"] is None else tuple(axis["knots"]),
                    axis["size"],
                    axis["spread"],
                )
                for axis in block
            )
            for block in data["blocks"]
        ]
        return cls(tuple(blocks))

    @cached_property
    def size(self) -> int:
        """The cells of all blocks."""
        return sum(self.sizes)

    @cached_property
    def sizes(self) -> list[int]:
        """How many cells each block has."""
        return [int(np.prod([axis.size for axis in block])) for block in self.blocks]

    def _cells(self, codes: Codes) -> tuple[NDArray[np.int64], Floats]:
        """The cells (rows, k) that each record touches, over all blocks, and its steps in each."""
        cells, steps, start = [], [], 0
        for block, size in zip(self.blocks, self.sizes, strict=True):
            whole = 1 << (_BITS // len(block))
            cell, step = block[0].shares(codes, GRID // whole ** (len(block) - 1))
            for axis in block[1:]:
                more, share = axis.shares(codes, whole)
                cell = (cell[:, :, None] * axis.size + more[:, None, :]).reshape(len(codes), -1)
                step = (step[:, :, None] * share[:, None, :]).reshape(len(codes), -1)
            cells.append(cell + start)
            steps.append(step)
            start += size
        return np.concatenate(cells, axis=1), np.concatenate(steps, axis=1)

    def steps(self, codes: Codes) -> Floats:
        """Shares in steps, dense."""
        cell, step = self._cells(codes)
        dense = np.zeros((len(codes), self.size))
        for column in range(cell.shape[1]):
            # One cell may be listed twice (a category, with nothing the second time): add, do not set.
            dense[np.arange(len(codes)), cell[:, column]] += step[:, column]
        return dense

    def total(self, codes: Codes) -> NDArray[np.int64]:
        """Sums without the dense matrix: partial sums stay below 2**53, so they are exact."""
        total = np.zeros(self.size, dtype=np.int64)
        for first in range(0, len(codes), _ROWS):
            cell, step = self._cells(codes[first : first + _ROWS])
            total += np.bincount(cell.ravel(), step.ravel(), self.size).astype(np.int64)
        return total

    def people(self, noisy: NDArray[np.int64]) -> float:
        """Every block adds up to the number of records; the blocks' mean, at least one."""
        return max(1.0, float(np.sum(noisy, dtype=np.float64)) / (GRID * len(self.blocks)))

    def consistent(self, mean: Floats) -> Floats:
        """The shares of every block add up to one: what is over or short is taken from all alike (least squares)."""
        mean, start = mean.copy(), 0
        for size in self.sizes:
            mean[start : start + size] += (1 - mean[start : start + size].sum()) / size
            start += size
        return mean

    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        blocks = len(self.blocks)
        records = 2 if adjacency == "replace" else 1
        rounding = Fraction(records * self.size, 2) if averaged else Fraction(0)
        return Reach(records * blocks * GRID + rounding, GRID * root_above(Fraction(records * blocks)) + rounding)

    def prior(self, covariance: Floats) -> Floats:  # noqa: ARG002 - the scale of shares is known without data
        """Log ratios that vary smoothly along numbers, by `VARIANCE`.

        A product of 1 + K over the attributes of a block holds what each does alone and what they do together; the
        constant in it is free, since ratios are normalised.
        """
        prior = np.zeros((self.size, self.size))
        start = 0
        for block, size in zip(self.blocks, self.sizes, strict=True):
            part: Floats = np.ones((1, 1))
            for axis in block:
                part = np.asarray(np.kron(part, 1 + axis.prior()), dtype=np.float64)
            prior[start : start + size, start : start + size] = VARIANCE * part
            start += size
        return prior

    def knots(self, place: int) -> Codes:
        """The knots of a number, in steps, where `combination` wants its values."""
        return np.array(next(axis.knots for block in self.blocks for axis in block if axis.place == place), np.float64)

    def combination(self, place: int, values: Floats) -> Floats:
        """The coefficients (size,) of a function of one attribute with these ``values`` at its knots or categories.

        >>> hats = Hats.at(np.array([[0.0], [1.0]]), np.array([524288.0]))
        >>> hats.combination(0, np.array([0.0, 5.0, 10.0])).tolist()
        [0.0, 5.0, 10.0]
        """
        coefficients, start = np.zeros(self.size), 0
        for block, size in zip(self.blocks, self.sizes, strict=True):
            places = [axis.place for axis in block]
            if place in places:
                along = [axis.size if axis.place == place else 1 for axis in block]
                cells = np.broadcast_to(values.reshape(along), [axis.size for axis in block])
                coefficients[start : start + size] = cells.ravel()
                break  # one block is enough: each holds the whole distribution of its attributes
            start += size
        return coefficients

    @cached_property
    def gaps(self) -> Floats:
        """How far (size,) it is from each cell to the next knot on the wider side, in declared ranges; 0 without."""
        found = []
        for block in self.blocks:
            widest = np.zeros((1,) * len(block))
            for along, axis in enumerate(block):
                width = np.diff(np.array(axis.knots or range(0), np.float64), prepend=np.nan, append=np.nan) / STEPS
                own = np.fmax(width[:-1], width[1:]) if axis.knots else np.zeros(axis.size)
                widest = np.maximum(widest, own.reshape([-1 if k == along else 1 for k in range(len(block))]))
            found.append(widest.ravel())
        return np.concatenate(found)

    def to_json(self) -> dict[str, Any]:
        """Knots in steps, by block."""
        return {
            "basis": "hats",
            "blocks": [
                [{"attribute": a.place, "knots": a.knots, "size": a.size, "spread": a.spread} for a in block]
                for block in self.blocks
            ],
        }


def spread(codes: Codes, rows: int = 1000) -> float:
    """The median distance between two public values, over sqrt 2, from evenly chosen rows; at least one step."""
    chosen = codes[np.linspace(0, len(codes) - 1, min(rows, len(codes))).astype(np.int64)]
    first, second = np.triu_indices(len(chosen), 1)
    distance = np.abs(chosen[first] - chosen[second])
    typical = float(np.median(distance)) or float(distance.mean())
    return max(typical / math.sqrt(2), 1.0)


def _axis(space: Space, public: Codes, place: int, knots: int) -> HatAxis:
    attribute = space.attributes[place]
    if isinstance(attribute, Categorical):
        return HatAxis(place, None, attribute.size)
    assert isinstance(attribute, Numeric)  # noqa: S101 - the two kinds there are
    if knots < 3:
        raise ParameterError("too few knots for hats", value=knots, allowed="at least 3")
    chosen = _knots(public[:, place], knots)
    return HatAxis(place, tuple(chosen.tolist()), len(chosen), spread(public[:, place]))


def _knots(public: Codes, number: int) -> NDArray[np.int64]:
    """The bounds, and about ``number`` quantiles of the public values; more where these are far apart.

    Few rows are in a wide cell of quantiles, and what they stand for would be measured as one. Knots are free (see
    `Hats`), so that no cell between the least and the largest public value is wider than 2 / ``number`` of the range.
    """
    inner = np.unique(np.rint(np.quantile(public, np.linspace(0, 1, max(number - 2, 2)))))
    parts = np.ceil(np.diff(inner) / (2 * STEPS / number)).astype(np.int64)
    filled = [np.linspace(a, b, k, endpoint=False) for a, b, k in zip(inner[:-1], inner[1:], parts, strict=True)]
    return np.unique(np.rint(np.concatenate([[0.0], *filled, inner[-1:], [float(STEPS)]]))).astype(np.int64)
