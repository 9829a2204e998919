"""Gaussian kernels at public centres: k_l(x) = exp(-|x - c_l|^2 / (2 width^2)), exactly repeatable, with proved bounds.

Distances are between points of the public grid (`Space.embed`): numbers in steps of their declared range, two
different categories one range apart. Squared distances are whole numbers below 2**53, so that the matrix product that
computes them is exact in any order of summation, and a record has the same features in every chunk.

Suprema over the declared box are bounded, never sampled: the box is cut into small ones, on each of which a kernel lies
between its values at the farthest and the nearest point (`Kernel.interval`); the largest bound holds for the whole.

`GaussianProcess` measures the same kernels with noise in their own shape, whose size does not depend on how many
centres there are (Hall, Rinaldo and Wasserman 2013). h is the mean embedding of the private records read at the
centres, and two records are at most sqrt(2) apart in the kernel's own space. What is measured is M h with M about L^-1,
K_cc + jitter I = L L': white Gaussian noise there is noise N(0, sigma^2 (K_cc + jitter I)) on h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.reweight.basis import GRID, Adjacency, Basis, Reach, above, root_above
from sudare.reweight.hats import VARIANCE
from sudare.reweight.space import CATEGORY, STEPS, Codes, Numeric, Space

KERNEL_VARIANCE = 2.0
"""The prior variance of a coefficient of the log ratio, where these are independent."""
_MOST_COORDINATES = 1 << 10
_SUMS, _PAIRS = 500_000, 20_000_000
"""Kernel values that may be spent on one supremum, over records and over pairs: some hundredths of a second."""
_ROUNDING_UP = 1 + 1e-9
"""Far more than the rounding of a sum of some thousand terms."""
ROUNDING = Fraction(51, 100)
"""Steps by which a rounded feature may miss its formula: one half, and less than 1e-4 for the exponential's error."""


@dataclass(frozen=True)
class Kernel(Basis):
    """``centres`` (size, attributes) as codes of the ``space``, ``width`` in steps.

    Sensitivity: with S = sup |k(x) - k(x')|_1 over the declared box, replacing a record moves the sum by at most
    GRID S plus the rounding, 1.02 a centre; adding one by GRID sup |k(x)|_1 plus 0.51 a centre. S is bounded from
    public things by the least of: size (0 <= k <= 1), 2 M with M = sup |k|_1, sqrt(M^2 + 2 size lambda) (see
    `largest_difference`), and, for one column, small boxes of pairs. In L2: |k - k'|_2^2 is at most |k - k'|_1, and at
    most 2 lambda_max(K). A person's average lies in the convex hull, where suprema are the same.
    """

    space: Space
    centres: Codes
    width: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.width) and self.width > 0):
            raise ParameterError("the width of the kernel is not positive", value=self.width)
        if self.space.coordinates > _MOST_COORDINATES:
            raise ParameterError(
                "there are too many coordinates for exact distances",
                value=self.space.coordinates,
                allowed="at most {most_coordinates}: one a number, one a category",
                most_coordinates=_MOST_COORDINATES,
            )

    @property
    def size(self) -> int:
        return len(self.centres)

    @cached_property
    def _columns(self) -> Floats:
        """What rows (x, |x|^2, 1) are multiplied with to give |x - c|^2: -2 c, 1 and |c|^2 (coordinates + 2, size)."""
        points = self.space.embed(self.centres)
        return np.concatenate([-2 * points.T, np.ones((1, len(points))), (points**2).sum(axis=1)[None, :]])

    def _exponents(self, codes: Codes) -> Floats:
        """-|x - c|^2 / (2 width^2) (rows, size); the product is of whole numbers and exact."""
        points = self.space.embed(codes)
        ones = np.ones((len(points), 1))
        exponents = np.concatenate([points, (points**2).sum(axis=1)[:, None], ones], axis=1) @ self._columns
        exponents *= -0.5 / self.width**2
        return exponents

    def steps(self, codes: Codes) -> Floats:
        """Rounded values in steps of 1/GRID."""
        values = self._exponents(codes)
        values += math.log(GRID)
        np.exp(values, out=values)
        return np.rint(values, out=values)

    @cached_property
    def between_centres(self) -> Floats:
        """K_cc, without rounding to steps."""
        return np.exp(self._exponents(self.centres))

    def interval(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The least and the largest value (boxes, size) of every kernel on boxes of codes (boxes, attributes)."""
        near, far = np.zeros((len(low), self.size)), np.zeros((len(low), self.size))
        for place, attribute in enumerate(self.space.attributes):
            a, b, centre = low[:, place, None], high[:, place, None], self.centres[:, place]
            if isinstance(attribute, Numeric):
                from_middle, half = np.abs((a + b) / 2 - centre), (b - a) / 2
                near += np.maximum(from_middle - half, 0) ** 2
                far += (from_middle + half) ** 2
            else:
                near += 2 * CATEGORY**2 * ((centre < a) | (centre > b))
                far += 2 * CATEGORY**2 * ((centre != a) | (centre != b))
        scale = -0.5 / self.width**2
        return np.exp(scale * far), np.exp(scale * near)

    def boxes(self, most: int) -> tuple[Floats, Floats]:
        """At most ``most`` boxes (low, high) of codes, each (boxes, attributes), that cover the declared box."""
        ends: list[tuple[Floats, Floats]] = []
        places = sorted(enumerate(self.space.attributes), key=lambda one: isinstance(one[1], Numeric))
        for left, (_, attribute) in zip(range(len(places), 0, -1), places, strict=True):
            parts = max(1, int(most ** (1 / left)))
            if isinstance(attribute, Numeric):
                edges = np.linspace(0, STEPS, parts + 1)
                ends.append((edges[:-1], edges[1:]))
            else:
                ranks = np.array_split(np.arange(attribute.size, dtype=np.float64), min(parts, attribute.size))
                ends.append((np.array([own[0] for own in ranks]), np.array([own[-1] for own in ranks])))
            most //= len(ends[-1][0])
        back = np.argsort([place for place, _ in places])
        low, high = (
            np.stack([axis.ravel() for axis in np.meshgrid(*side)], axis=1)[:, back] for side in zip(*ends, strict=True)
        )
        return low, high

    @cached_property
    def largest_sum(self) -> float:
        """An upper bound of sup_x |k(x)|_1."""
        _, most = self.interval(*self.boxes(_SUMS // self.size))
        return min(float(self.size), float(most.sum(axis=1).max()) * _ROUNDING_UP)

    @cached_property
    def largest_difference(self) -> float:
        """An upper bound of S = sup_{x, x'} |k(x) - k(x')|_1.

        For signs s with mean m and r = s - m 1: s'(k(x) - k(x')) = m (|k(x)|_1 - |k(x')|_1) + r'(k(x) - k(x')), where
        the first is at most |m| M and the second, in the kernel's own space, at most |sum_l r_l k_l| sqrt(2) <=
        sqrt(2 size (1 - m^2) lambda), lambda the largest eigenvalue of K centred. So S^2 <= M^2 + 2 size lambda.
        """
        centred = self.between_centres - self.between_centres.mean(axis=0)
        centred -= centred.mean(axis=1)[:, None]
        # Eigenvalues of a symmetric matrix are found to within a small multiple of size * 2**-53 of its norm.
        eigenvalue = float(np.linalg.eigvalsh((centred + centred.T) / 2)[-1]) + 1e-12 * self.size**2
        in_kernel_space = math.sqrt(self.largest_sum**2 + 2 * self.size * eigenvalue)
        known = min(float(self.size), 2 * self.largest_sum, in_kernel_space)
        if len(self.space.attributes) > 2:
            return known  # pairs of three columns have six axes: so few boxes are no better than what is known
        least, most = self.interval(*self.boxes(math.isqrt(_PAIRS // self.size)))
        pairs = [np.maximum(most[i:] - least[i], most[i] - least[i:]).sum(axis=1).max() for i in range(len(least))]
        return min(known, float(max(pairs)) * _ROUNDING_UP)

    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        records = 2 if adjacency == "replace" else 1
        supremum_l1 = above(self.largest_difference if adjacency == "replace" else self.largest_sum)
        # |k - k'|_2 = |T (k_x - k_x')|, and T T' = K_cc; |k_x - k_x'|^2 <= 2. The largest row sum bounds lambda_max.
        row_sum = above(float(self.between_centres.sum(axis=1).max()))
        supremum_l2 = root_above(min(supremum_l1, records * row_sum))
        rounding = records * self.size * (ROUNDING + Fraction(int(averaged), 2))
        return Reach(GRID * supremum_l1 + rounding, GRID * supremum_l2 + rounding)

    def prior(self, covariance: Floats) -> Floats:  # noqa: ARG002 - the scale of kernels is known without data
        """Independent coefficients."""
        return KERNEL_VARIANCE * np.eye(self.size)

    def to_json(self) -> dict[str, Any]:
        """Centres as codes, and the width in steps."""
        return {"basis": "kernel", "centres": self.centres.astype(np.int64).tolist(), "width": self.width}


JITTER = 1e-6
"""Keeps L invertible where centres are close. Directions of K_cc below it still get noise, in which they are lost."""
_BITS = 30
_EPSILON = 2.0**-53


@dataclass(frozen=True)
class GaussianProcess(Basis):
    """A kernel whose mean is measured in whitened coordinates, with a matrix of whole numbers W, M = W / 2**30.

    Sensitivity: with T f = (f(c_l))_l, T T' = K_cc, a record moves M k(x) = M T k_x by |M T| |k_x - k_x'| with
    |M T|^2 = |M K_cc M'| <= 1 + eta (computed, rounding bounded) and |k_x - k_x'|^2 = 2 - 2 K(x, x') <= 2; adding one,
    |k_x| = 1. Rounding k to steps adds |M| sqrt(size) 0.51 a record, and rounding W total / 2**30, with the record and
    without, sqrt(size).
    """

    kernel: Kernel

    @property
    def size(self) -> int:
        return self.kernel.size

    @property
    def nonnegative(self) -> bool:
        return False  # whitened coordinates take either sign

    @cached_property
    def whole_matrix(self) -> NDArray[np.int64]:
        """W; its entries are below 2**42."""
        lower = np.linalg.cholesky(self.kernel.between_centres + JITTER * np.eye(self.size))
        return np.asarray(np.rint(np.linalg.inv(lower) * 2.0**_BITS), dtype=np.int64)

    @cached_property
    def mixing(self) -> Floats:
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
        return self.kernel.steps(codes)

    def total(self, codes: Codes) -> NDArray[np.int64]:
        return self.kernel.total(codes)

    def measured(self, total: NDArray[np.int64]) -> NDArray[np.int64]:
        """W total / 2**30, in exact arithmetic, rounded once."""
        products = self.whole_matrix.astype(object) @ total.astype(object)
        half = 1 << (_BITS - 1)
        return np.array([(int(product) + half) >> _BITS for product in products], dtype=np.int64)

    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        """See the class; in L1 by Cauchy and Schwarz."""
        records = 2 if adjacency == "replace" else 1
        embedded, matrix = self._norms
        size = Fraction(self.size)
        l2 = GRID * root_above(records * above(max(embedded, 1e-3)))
        l2 += records * root_above(size) * root_above(above(matrix)) * (ROUNDING + Fraction(int(averaged), 2))
        l2 += root_above(size)
        return Reach(l2 * root_above(size), l2)

    def prior(self, covariance: Floats) -> Floats:  # noqa: ARG002 - the scale is the kernel's
        """A log ratio that is a Gaussian process with this very kernel: white in whitened coordinates."""
        return VARIANCE * np.eye(self.size)

    def to_json(self) -> dict[str, Any]:
        """The kernel, and that its mean is measured in whitened coordinates."""
        return {**self.kernel.to_json(), "basis": "gaussian process", "jitter": JITTER}
