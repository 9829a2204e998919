"""Releases that are broken on purpose, each by a mistake that was made somewhere: the audit must find them all.

They are written as their authors would have: they meter what they say they cost, and look sound at a glance.
"""

from fractions import Fraction

import numpy as np

from sudare.audit.sampling import published
from sudare.local import SymmetricUnary
from sudare.noise import Source, measure, refine
from sudare.privacy import Budget


class Twin:
    """What a method must have; the mistake is in ``protect``."""

    uses_total = False
    parameters = {}  # noqa: RUF012 - nothing changes it

    @property
    def name(self):
        return type(self).__name__

    def block_error(self, budget, sensitivity, cells, domain=None):
        return None

    @staticmethod
    def dense(task):
        exact = np.zeros(task.domain.size, dtype=np.int64)
        exact[task.table.index] = task.table.count
        return exact

    @staticmethod
    def listed(values):
        index = np.flatnonzero(values)
        return index, values[index]


class HalfTheSensitivity(Twin):
    """The rows of a person are forgotten by half."""

    def protect(self, task):
        half = Fraction(task.sensitivity, 2)
        return self.listed(measure(self.dense(task), half, task.budget, task.source, "cells"))


class NoiseLeftOutOfTheTotal(Twin):
    """The cells are noisy, but the last one is set so that the exact total comes out."""

    def protect(self, task):
        noisy = measure(self.dense(task), task.sensitivity, task.budget, task.source, "cells")
        noisy = noisy.copy()
        noisy[-1] += task.total - noisy.sum()
        return self.listed(noisy)


class MeasuredAnew(Twin):
    """A value that was measured is measured anew at the scale of a refinement, and only the refinement is paid."""

    def protect(self, task):
        first, more = task.budget.split([1, 1])
        exact = self.dense(task)
        measure(exact, task.sensitivity, first, task.source, "cells")
        return self.listed(measure(exact, Fraction(task.sensitivity, 2), more, task.source, "finer"))


class RefinesOthers(Twin):
    """What is refined are other noisy values than those that were measured."""

    def protect(self, task):
        first, more = task.budget.split([1, 1])
        exact = self.dense(task)
        coarse = measure(exact, task.sensitivity, first, task.source, "cells")
        return self.listed(refine(exact, coarse[::-1], task.sensitivity, first, more, task.source, "finer", of="cells"))


class AsksByTheTruth(Twin):
    """Whether a second look is taken depends on the exact total."""

    def protect(self, task):
        first, more = task.budget.split([1, 1])
        exact = self.dense(task)
        noisy = measure(exact, task.sensitivity, first, task.source, "cells")
        label = "again" if task.total else "once more"
        return self.listed(noisy + measure(exact, task.sensitivity, more, task.source, label) // 2)


class DomainReadOffTheData(Twin):
    """Only cells with people in them get noise and are published."""

    def protect(self, task):
        noisy = measure(self.dense(task), task.sensitivity, task.budget, task.source, "cells")
        return task.table.index, noisy[task.table.index]


class FloatNoise(Twin):
    """Laplace noise in floating point, whose digits depend on what it is added to."""

    def protect(self, task):
        exact = self.dense(task)
        measure(exact[:0], task.sensitivity, task.budget, task.source, "cells")
        generator = np.random.default_rng(task.source.child("floats").integer(128))
        scale = task.sensitivity / float(task.budget.amount)
        return self.listed(exact + generator.laplace(0.0, scale, len(exact)))


class UnpaidTuning(Twin):
    """How coarsely to round is tuned on the private table, and nobody pays for it."""

    def protect(self, task):
        step = 5 if len(task.table) > 2 else 1
        noisy = measure(self.dense(task), task.sensitivity, task.budget, task.source, "cells")
        return self.listed(noisy // step * step)


class SharesFromTheTrueTotal(Twin):
    """Few people get less of the budget for the cells: but how many they are is private."""

    def protect(self, task):
        share = Fraction(1, 20) if task.total < 4 else Fraction(19, 20)
        cells, rest = task.budget.split([share, 1 - share])
        measure(np.array([task.total]), task.sensitivity, rest, task.source, "total")
        return self.listed(measure(self.dense(task), task.sensitivity, cells, task.source, "cells"))


class ReusedNoise(Twin):
    """One draw for all cells: their differences are exact."""

    def protect(self, task):
        exact = self.dense(task)
        noise = measure(np.zeros(1, dtype=np.int64), task.sensitivity, task.budget, task.source, "cells")
        return self.listed(exact + noise)


class SupremumOfTheKernel:
    """A sum of kernels in -1 to 1: replacing a record moves it by 2 = sup |k(x) - k(x')|, not by sup |k(x)| = 1."""

    grid = 1000

    def measured(self, values, source, copies=1):
        exact = np.full(copies, round(float(np.sum(np.cos(values))) * self.grid), dtype=np.int64)
        return measure(exact, self.grid, Budget(epsilon=Fraction(1)), source, "kernels")

    def run(self, values, source):
        return {"sum": self.measured(values, source).tobytes()}

    def draw(self, values, trials):
        # Steps of half the grid, so that equal outcomes come often enough to be counted.
        return self.measured(values, Source.system(), trials)[:, None] // (self.grid // 2)


def with_the_suppressed_count(counts, k):
    """A sample that also says how many records it left out."""
    return published(counts, k), int(counts.sum())


class LastBitUntouched(SymmetricUnary):
    """The loop over bits ends one too early."""

    def draw(self, values, source):
        packed = super().draw(values, source)
        bit = np.uint8(1 << ((self.size - 1) % 8))
        packed[:, -1] &= ~bit
        packed[:, -1] |= np.where(values == self.size - 1, bit, 0).astype(np.uint8)
        return packed


class ValueBesideTheReport(SymmetricUnary):
    """A report that is sound, in a file that is sorted by the true value."""

    def randomize(self, values, *, source=None, seed=None):
        made = super().randomize(values, source=source, seed=seed)
        return type(made)(self, made.packed[np.argsort(values, kind="stable")], made.seeded)
