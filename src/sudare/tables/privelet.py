"""Privelet (Xiao, Wang and Gehrke 2010): noise on all Haar coefficients, then the inverse transform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sudare.arrays import Cells, Floats, Integers
from sudare.domain import Domain
from sudare.errors import ParameterError, did_you_mean, either
from sudare.noise import measure, noise_variance
from sudare.privacy import Budget
from sudare.tables.haar import block_weight, differences_at, inverse, padded_counts, transform
from sudare.tables.method import Task

DECOMPOSITIONS = ("morton", "standard")
SCALES = {"tight": 1, "original": 2}
"""What the noise is multiplied by: Privelet's own scale, 2(1 + log2 n)/epsilon, is twice what is needed."""


@dataclass(frozen=True)
class Privelet:
    """Unbiased floats, negative ones too, in every logical cell: sums of large blocks are good, cells are not.

    ``decomposition="morton"`` transforms the line of cells in index order; ``"standard"`` transforms the rows and
    then the columns of a domain with two axes. ``scale="original"`` doubles the noise, as first published.
    Padding and masked cells are part of the transform as zeros and are dropped from the result, which leaves the
    other cells unbiased.

    Sensitivity: one row moves the root's sum by 1 and one difference per level by 1. On the line each of these
    1 + k levels moves by at most max_rows in L1, and in L2, and gets a share 1/(1 + k) of epsilon or rho. With two axes
    each pair of levels has one coefficient that a row moves by 1: (1 + k1)(1 + k2) parts, treated alike. So a
    coefficient's noise has a scale of (1 + k) max_rows/epsilon, or only a variance of (1 + k) max_rows**2/(2 rho).

    >>> import sudare as sd
    >>> made = sd.release(sd.CountTable.from_array([[0, 9], [40, 1]]), Privelet(), epsilon=1, seed=7)
    >>> made.table.count.dtype
    dtype('float64')
    """

    recipe_parameters: ClassVar[tuple[str, ...]] = ("decomposition", "scale")
    decomposition: str = "morton"
    scale: str = "tight"

    def __post_init__(self) -> None:
        _check("decomposition", self.decomposition, DECOMPOSITIONS)
        _check("scale", self.scale, tuple(SCALES))

    name = "privelet"
    uses_total = False
    gaussian = True

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        return {"decomposition": self.decomposition, "scale": self.scale}

    def protect(self, task: Task) -> Cells:
        """Floats in every logical cell; refuses a padded domain of more than 2**28 cells."""
        domain = task.table.domain
        values = self._line(task) if self.decomposition == "morton" else self._plane(task)
        index = _logical_cells(domain)
        return index, values[index]

    def block_error(self, budget: Budget, sensitivity: int, cells: int, domain: Domain | None = None) -> float | None:
        """The exact RMSE of the sum of an aligned block of ``cells`` cells; needs the domain, without padding.

        With noise of variance s in each coefficient a block of 2**l cells of a line of 2**k has the variance
        s (1 + 2/q**2)/3, q = 2**(k - l); on two axes there is one such factor for each.
        """
        level = cells.bit_length() - 1
        if domain is None or cells != 1 << level or level > domain.bits:
            return None
        if domain.size < 1 << domain.bits:
            return None  # blocks at the rim are parts of blocks of the tree
        widths, levels = self._axes(domain), [level]
        if self.decomposition == "standard":
            levels = list(domain.plan.shifts(level))
        share = budget.split([1] * self._coefficients(domain))[0]
        variance = noise_variance(SCALES[self.scale] * sensitivity, share)
        return math.sqrt(variance * math.prod(map(block_weight, widths, levels)))

    def _axes(self, domain: Domain) -> list[int]:
        """Bits of each line that is transformed."""
        if self.decomposition == "morton":
            return [domain.bits]
        if len(domain.shape) != 2:
            raise ParameterError(
                "the standard decomposition takes a domain with two axes",
                value=len(domain.shape),
                allowed="2",
                hint='Use decomposition="morton".',
            )
        return list(domain.plan.widths)

    def _coefficients(self, domain: Domain) -> int:
        """How many coefficients one row moves by 1 each."""
        return math.prod(1 + width for width in self._axes(domain))

    def _line(self, task: Task) -> Floats:
        """Noisy values of the padded line."""
        bits = task.table.domain.bits
        sensitivity = SCALES[self.scale] * task.sensitivity
        exact = transform(padded_counts(task.table))
        noisy = np.empty_like(exact)
        root, *shares = task.budget.split([1] * self._coefficients(task.table.domain))
        noisy[:1] = measure(exact[:1], sensitivity, root, task.source, "root")
        for level, share in zip(range(bits, 0, -1), shares, strict=True):
            place = differences_at(bits, level)
            noisy[place] = measure(exact[place], sensitivity, share, task.source, f"level {level}")
        return inverse(noisy)

    def _plane(self, task: Task) -> Floats:
        """Noisy values of the padded plane, in index order."""
        domain = task.table.domain
        sensitivity = SCALES[self.scale] * task.sensitivity
        height, width = self._axes(domain)
        shape = 1 << height, 1 << width
        counts = padded_counts(task.table)
        row, column = domain.coordinates(np.arange(len(counts), dtype=np.int64))
        plane = np.empty(shape, dtype=np.int64)
        plane[row, column] = counts
        exact = transform(transform(plane, axis=0), axis=1)
        noisy = np.empty_like(exact)
        shares = iter(task.budget.split([1] * self._coefficients(domain)))
        for down in _parts(height):
            for across in _parts(width):
                part = exact[down, across]
                label = f"rows from {down.start}, columns from {across.start}"
                found = measure(part.reshape(-1), sensitivity, next(shares), task.source, label)
                noisy[down, across] = found.reshape(part.shape)
        return np.asarray(inverse(inverse(noisy, axis=1), axis=0)[row, column])


def _parts(bits: int) -> list[slice]:
    """The root's sum and the differences of each level, where a transform of 2**bits values keeps them."""
    return [slice(0, 1), *(differences_at(bits, level) for level in range(bits, 0, -1))]


def _logical_cells(domain: Domain) -> Integers:
    """Indices of all logical cells, ascending."""
    every = np.arange(domain.size, dtype=np.int64)
    return every if domain.size == 1 << domain.bits else np.sort(domain.cells(every))


def _check(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        hint = did_you_mean(str(value), known)
        raise ParameterError("unknown {name}", value=value, allowed=either(known), hint=hint, name=name)
