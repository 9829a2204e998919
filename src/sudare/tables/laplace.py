"""Noise in every cell and nothing else: signed, unbiased, and as large as the domain unless it is cut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sudare.arrays import Cells
from sudare.domain import Domain
from sudare.errors import ParameterError
from sudare.noise import measure, noise_variance
from sudare.noise.sparse import DENSE_LIMIT
from sudare.privacy import Budget
from sudare.tables.method import Task, replaced_in_sums
from sudare.tables.threshold import protect_above


@dataclass(frozen=True)
class Laplace:
    """Discrete Laplace noise of scale max_rows/epsilon in every logical cell, empty ones too.

    Sensitivity: a unit has at most max_rows rows and each adds one to one cell, so the vector of all counts
    moves by at most max_rows in L1; noise of scale max_rows/epsilon makes it epsilon-DP. In L2 it moves by at most
    max_rows as well (all rows in one cell), and with a budget of rho the noise is Gaussian. ``cut`` keeps only
    noisy values from ``cut`` on, which is post-processing; they are drawn sparsely, with the same law.

    ``clip`` is Matsumoto et al.'s way to compare it with the others: noisy values clipped at 0 and scaled to the total,
    in integers. It needs the total, public or noisy for 5 % of epsilon, and is `NonnegativeLasso` of strength 0.
    """

    recipe_parameters: ClassVar[tuple[str, ...]] = ("cut",)
    cut: int | None = None
    clip: bool = False

    def __post_init__(self) -> None:
        if self.cut is not None and (type(self.cut) is not int or self.cut < 1):
            raise ParameterError("cut is not a whole number from 1 on", value=self.cut)
        if type(self.clip) is not bool:
            raise ParameterError("clip is neither true nor false", value=self.clip)
        if self.clip and self.cut is not None:
            raise ParameterError("give cut or clip, not both")

    name = "laplace"
    gaussian = True
    replaced = staticmethod(replaced_in_sums)

    @property
    def uses_total(self) -> bool:
        """Only to scale what was clipped."""
        return self.clip

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        return {"cut": self.cut, "clip": self.clip}

    def protect(self, task: Task) -> Cells:
        """Integers, possibly negative; every logical cell unless cut or clipped."""
        size = task.table.domain.size
        if self.cut is None and size > DENSE_LIMIT:
            raise ParameterError(
                "the domain is too large for noise in every cell",
                value=size,
                allowed="at most {dense_limit} cells",
                hint="Give cut=, the value from which on cells are kept, or use another method.",
                dense_limit=DENSE_LIMIT,
            )
        if self.clip:
            return protect_above(task, lambda *_: Fraction(0), "scale")
        noisy = measure(task.sparse(), task.sensitivity, task.budget, task.source, "cells")
        return noisy.above(-(2**62) if self.cut is None else self.cut - 1)

    def block_error(
        self,
        budget: Budget,
        sensitivity: int,
        cells: int,
        domain: Domain | None = None,  # noqa: ARG002 - the Protocol's; noise per cell is alike in every domain
    ) -> float | None:
        """The root of ``cells`` times the variance of the noise; cut or clipped it depends on the data."""
        if self.cut is not None or self.clip:
            return None
        return math.sqrt(cells * noise_variance(sensitivity, budget))
