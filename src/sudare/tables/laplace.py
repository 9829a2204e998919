"""Noise in every cell and nothing else: signed, unbiased, and as large as the domain unless it is cut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sudare.errors import ParameterError
from sudare.noise import measure
from sudare.noise.sparse import DENSE_LIMIT
from sudare.privacy import Budget
from sudare.tables.method import Cells, Task


@dataclass(frozen=True)
class Laplace:
    """Discrete Laplace noise of scale max_rows/epsilon in every logical cell, empty ones too.

    Sensitivity: a unit has at most max_rows rows and each adds one to one cell, so the vector of all counts
    moves by at most max_rows in L1; noise of scale max_rows/epsilon makes it epsilon-DP. ``cut`` keeps only
    noisy values from ``cut`` on, which is post-processing; they are drawn sparsely, with the same law.
    """

    cut: int | None = None

    def __post_init__(self) -> None:
        if self.cut is not None and (type(self.cut) is not int or self.cut < 1):
            raise ParameterError("cut is not a whole number from 1 on", value=self.cut)

    name = "laplace"
    uses_total = False

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        return {"cut": self.cut}

    def protect(self, task: Task) -> Cells:
        """Integers, possibly negative; every logical cell unless cut."""
        size = task.table.domain.size
        if self.cut is None and size > DENSE_LIMIT:
            raise ParameterError(
                "the domain is too large for noise in every cell",
                value=size,
                allowed=f"at most {DENSE_LIMIT} cells",
                hint="Give cut=, the value from which on cells are kept, or use another method.",
            )
        noisy = measure(task.sparse(), task.sensitivity, task.budget, task.source, "cells")
        return noisy.above(-(2**62) if self.cut is None else self.cut - 1)

    def block_error(self, budget: Budget, sensitivity: int, cells: int) -> float | None:
        """Sqrt(cells * 2 a/(1-a)**2), a = exp(-epsilon/max_rows); with a cut it depends on the data."""
        if self.cut is not None or budget.epsilon is None:
            return None
        step = float(budget.epsilon / sensitivity)
        return math.sqrt(cells * 2 * math.exp(-step)) / -math.expm1(-step)
