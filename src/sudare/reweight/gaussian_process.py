"""Noise in the shape of the kernel, whose size does not depend on how many centres there are.

(Hall, Rinaldo and Wasserman 2013.) h is the mean embedding of the private records read at the centres, and two records
are at most sqrt(2) apart in the kernel's own space. What is measured is M h with M about L^-1, K_cc + jitter I = L L':
white Gaussian noise there is noise N(0, sigma^2 (K_cc + jitter I)) on h.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sudare.arrays import Floats
from sudare.reweight.basis import GRID, Adjacency, Reach, above, root_above
from sudare.reweight.hats import VARIANCE
from sudare.reweight.kernel import ROUNDING, Kernel
from sudare.reweight.space import Codes

JITTER = 1e-6
"""Keeps L invertible where centres are close; directions of K_cc below it are lost in its noise, never left without."""
_BITS = 30
_EPSILON = 2.0**-53


@dataclass(frozen=True)
class GaussianProcess:
    """A kernel whose mean is measured in whitened coordinates, with a matrix of whole numbers W, M = W / 2**30.

    Sensitivity: with T f = (f(c_l))_l, T T' = K_cc, a record moves M k(x) = M T k_x by |M T| |k_x - k_x'| with
    |M T|^2 = |M K_cc M'| <= 1 + eta (computed, rounding bounded) and |k_x - k_x'|^2 = 2 - 2 K(x, x') <= 2; adding one,
    |k_x| = 1. Rounding k to steps adds |M| sqrt(size) 0.51 a record, rounding W total / 2**30 another sqrt(size) / 2.
    """

    kernel: Kernel

    @property
    def size(self) -> int:
        """The number of centres."""
        return self.kernel.size

    @property
    def nonnegative(self) -> bool:
        """Whitened coordinates take either sign."""
        return False

    @cached_property
    def whole_matrix(self) -> NDArray[np.int64]:
        """W, lower triangular; its entries are below 2**42."""
        lower = np.linalg.cholesky(self.kernel.between_centres + JITTER * np.eye(self.size))
        inverse = solve_triangular(lower, np.eye(self.size), lower=True)
        return np.asarray(np.rint(inverse * 2.0**_BITS), dtype=np.int64)

    @cached_property
    def mixing(self) -> Floats:
        """M."""
        return self.whole_matrix / 2.0**_BITS

    @cached_property
    def _norms(self) -> tuple[float, float]:
        """Upper bounds of |M K_cc M'| and |M|^2, with the rounding of the products."""
        matrix, centres = self.mixing, self.kernel.between_centres
        product = matrix @ centres @ matrix.T
        # A product of three matrices of this size is off by at most this, entry by entry (Higham 2002, section 3.5);
        # the factor leaves room for the exponentials in K_cc and for the eigenvalue.
        error = (2 * self.size + 16) * _EPSILON * (np.abs(matrix) @ centres @ np.abs(matrix).T)
        slack = float(np.linalg.norm(error)) + 1e-13 * self.size**2
        squared = float(np.linalg.eigvalsh(matrix @ matrix.T)[-1]) * (1 + 1e-6)
        return float(np.linalg.eigvalsh((product + product.T) / 2)[-1]) + slack, squared

    def steps(self, codes: Codes) -> Floats:
        """Of the kernel."""
        return self.kernel.steps(codes)

    def total(self, codes: Codes) -> NDArray[np.int64]:
        """Of the kernel."""
        return self.kernel.total(codes)

    def measured(self, total: NDArray[np.int64]) -> NDArray[np.int64]:
        """W total / 2**30, in exact arithmetic, rounded once."""
        products = self.whole_matrix.astype(object) @ total.astype(object)
        half = 1 << (_BITS - 1)
        return np.array([(int(product) + half) >> _BITS for product in products], dtype=np.int64)

    def people(self, noisy: NDArray[np.int64]) -> float | None:  # noqa: ARG002 - as the protocol has it
        """Not shown."""
        return None

    def consistent(self, mean: Floats) -> Floats:
        """Nothing is known."""
        return mean

    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        """See the class; in L1 by Cauchy and Schwarz."""
        records = 2 if adjacency == "replace" else 1
        embedded, matrix = self._norms
        size = Fraction(self.size)
        l2 = GRID * root_above(records * above(max(embedded, 1e-3)))
        l2 += records * root_above(size) * root_above(above(matrix)) * (ROUNDING + Fraction(int(averaged), 2))
        l2 += records * root_above(size) / 2
        return Reach(l2 * root_above(size), l2)

    def prior(self, covariance: Floats) -> Floats:  # noqa: ARG002 - the scale is the kernel's
        """A log ratio that is a Gaussian process with this very kernel: white in whitened coordinates."""
        return VARIANCE * np.eye(self.size)

    def to_json(self) -> dict[str, Any]:
        """The kernel, and that its mean is measured in whitened coordinates."""
        return {**self.kernel.to_json(), "basis": "gaussian process", "jitter": JITTER}
