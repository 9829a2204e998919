"""Top-down refinement (Terada et al. 2015): noise in the Haar tree, and a way down on which no sum is negative."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.arrays import Cells, Integers
from sudare.domain import Domain
from sudare.errors import ParameterError
from sudare.noise import Source, measure, secret
from sudare.privacy import Budget
from sudare.tables.descent import Leaves, Visited, coins, lone_halves
from sudare.tables.haar import differences_at, left_halves, padded_counts, transform
from sudare.tables.method import Asked, Task

_WHOLE = 2**62  # as a difference: more than any sum, so that it is clipped to all of it


@dataclass(frozen=True)
class TopDown:
    """Top-down refinement, sparse (T2, the default) or ``serial`` (T1, dense, for checking): one law (errata T1).

    The root's sum is measured and clipped at 0; then, level by level, the difference of the two halves of every
    node with a sum above 0 is measured, clipped to what keeps both halves non-negative, and splits the sum in
    integers. So every block sum is the sum of its cells, and what is 0 is never looked into: the cost is
    O(m+ log n) for m+ released cells, whatever the size n of the domain.

    Sensitivity: one row moves the root's sum by 1 and at each level one difference by 1, so each of the 1 + k
    measurements (k bits of the padded index) moves by at most max_rows in L1 when a unit comes or goes; each
    gets epsilon/(1 + k), which composes to epsilon. Which nodes are measured follows from noisy values. With a
    public total the root is not measured and each level gets epsilon/k. A half without logical cells is known
    to be 0: its sibling takes all, and nothing is measured.

    Its error is at most the largest noise on a cell's path. The paper's theorem 3, never worse than Privelet, does not
    hold for concentrated tables (errata T4).

    >>> import sudare as sd
    >>> table = sd.CountTable.from_array([0, 0, 90, 0, 120, 0, 0, 30])
    >>> made = sd.release(table, TopDown(), epsilon=1, total="public", seed=7)
    >>> made.table.total, bool((made.table.count > 0).all())
    (240, True)
    """

    serial: bool = False

    def __post_init__(self) -> None:
        if type(self.serial) is not bool:
            raise ParameterError("serial is neither true nor false", value=self.serial)

    name = "top_down"
    uses_total = True
    gaussian = True

    def replaced(self, domain: Domain) -> Fraction:
        """How many times rho it costs to replace a row, the total being public: 2 + 2/k, k levels of differences.

        Differences have signs, so it is more than for sums. Two rows share their nodes, and their signs, down to the
        level at which they part; nothing changes there. Where they part, one difference moves by 2, which costs
        4 rho/k; below, two of each level by 1 each, which cost 2 rho/k. The worst is to part at the root:
        (4 + 2 (k - 1))/k. With m rows a unit: the square root of this cost is a norm of the change, and m replaced
        rows are at most m times as far, which the noise is scaled for.
        """
        return 2 + Fraction(2, max(1, domain.bits))

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        return {"serial": self.serial}

    def protect(self, task: Task) -> Cells:
        """Integers > 0; cells at 0 are not listed."""
        total, shares = measured_root(task)
        generator = np.random.default_rng(secret(task.source, "rounding"))
        return (_serial if self.serial else _sparse)(task, total, shares, generator)

    def block_error(self, budget: Budget, sensitivity: int, cells: int, domain: Domain | None = None) -> float | None:
        """It depends on the data."""


def measured_root(task: Asked) -> tuple[Integers, tuple[Budget, ...]]:
    """The refined sum of the root (1,), and what each level may cost, root to leaves."""
    exact = np.array([task.total], dtype=np.int64)
    bits = task.domain.bits
    if not task.public_total:
        root, *levels = task.budget.split([1] * (1 + bits))
        return np.maximum(measure(exact, task.sensitivity, root, task.source, "root"), 0), tuple(levels)
    if bits == 0:
        # One cell, whose count is the public total: nothing is left to measure, but the promise is as asked.
        measure(exact[:0], task.sensitivity, task.budget, task.source, "nothing")
        return exact, ()
    return exact, task.budget.split([1] * bits)


@dataclass(frozen=True)
class Refinement:
    """What a way down needs to know, all of it public: ``shares`` lists what each level may cost, root to leaves."""

    domain: Domain
    shares: tuple[Budget, ...]
    sensitivity: int

    def below(
        self, visited: Visited, levels: range, leaves: Leaves, source: Source, generator: np.random.Generator
    ) -> Visited:
        """T2: the nodes with a sum above 0 at the end of ``levels``, which are split one after the other.

        ``visited`` are nodes of the first of these levels with a sum above 0. The ``leaves`` are populated blocks of
        the level at which the way down ends (cells at level 0), all of them below nodes of the first.
        """
        end = levels.stop
        populated = leaves.under(visited.node, levels.start - end)
        for level in levels:
            share = self.shares[self.domain.bits - level]
            exact = np.zeros(len(visited.node), dtype=np.int64)
            exact[populated.place], halves = leaves.halve(populated, level - end)
            lone = lone_halves(self.domain, visited.node, level)
            if lone is None or not lone.any():
                noisy = measure(exact, self.sensitivity, share, source, f"level {level}")
            else:
                noisy = lone * np.int64(_WHOLE)
                two = np.flatnonzero(lone == 0)
                noisy[two] = measure(exact[two], self.sensitivity, share, source, f"level {level}")
            visited, standing = visited.halve(noisy, generator, halves.place)
            populated = halves.at(standing)
        return visited


def _sparse(task: Task, total: Integers, shares: tuple[Budget, ...], generator: np.random.Generator) -> Cells:
    """T2: only nodes with a refined sum above 0 are visited."""
    bits = task.domain.bits
    leaves = Leaves(task.table.index, task.table.count.astype(np.int64, copy=False), bits)
    root = Visited(np.zeros(np.count_nonzero(total), dtype=np.int64), total[total > 0])
    found = Refinement(task.domain, shares, task.sensitivity).below(
        root, range(bits, 0, -1), leaves, task.source, generator
    )
    return found.node, found.total


def _serial(task: Task, total: Integers, shares: tuple[Budget, ...], generator: np.random.Generator) -> Cells:
    """T1: noise on every node of the padded tree, whether or not anything of it is left to split."""
    domain = task.table.domain
    coefficients = transform(padded_counts(task.table))
    sums = total
    for level, share in zip(range(domain.bits, 0, -1), shares, strict=True):
        exact = coefficients[differences_at(domain.bits, level)]
        noisy = measure(exact, task.sensitivity, share, task.source, f"level {level}")
        lone = lone_halves(domain, np.arange(len(sums), dtype=np.int64), level)
        if lone is not None:
            noisy = np.where(lone == 0, noisy, lone * np.int64(_WHOLE))
        left = left_halves(sums, noisy, coins(generator, len(sums)))
        sums = np.column_stack([left, sums - left]).reshape(-1)
    index = np.flatnonzero(sums)
    return index, sums[index]
