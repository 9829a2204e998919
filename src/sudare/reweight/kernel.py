"""Gaussian kernels at public centres: k_l(x) = exp(-|x - c_l|^2 / (2 width^2)), exactly repeatable, with proved bounds.

Distances are between points of the public grid (`Space.embed`): numbers in steps of their declared range, two
different categories one range apart. Squared distances are whole numbers below 2**53, so that the matrix product that
computes them is exact in any order of summation, and a record has the same features in every chunk.

`supremum` computes rigorous upper bounds over the declared box by branch and bound, never a sampled maximum. A box is
cut into smaller ones; each has an upper bound of the function on it, and a value that the function attains in it. Boxes
whose upper bound is below what is attained elsewhere are dropped, those with the largest bounds are cut next. Whenever
it stops, the largest upper bound of the remaining boxes holds for the whole: stopping early costs tightness only.

`GaussianProcess` measures the same kernels with noise in their own shape, whose size does not depend on how many
centres there are (Hall, Rinaldo and Wasserman 2013). h is the mean embedding of the private records read at the
centres, and two records are at most sqrt(2) apart in the kernel's own space. What is measured is M h with M about L^-1,
K_cc + jitter I = L L': white Gaussian noise there is noise N(0, sigma^2 (K_cc + jitter I)) on h.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.measure.science import scipy_of
from sudare.reweight.basis import GRID, Adjacency, Reach, Summed, above, root_above
from sudare.reweight.hats import VARIANCE
from sudare.reweight.space import CATEGORY, STEPS, Codes, Numeric, Space

solve_triangular = scipy_of("linalg").solve_triangular

Bounding = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Boxes (low, high), each (boxes, axes) -> an upper bound and an attained value, each (boxes,)."""

_BATCH = 512


def supremum(
    bounding: Bounding,
    low: Floats,
    high: Floats,
    whole: NDArray[np.bool_],
    *,
    tolerance: float = 0.02,
    boxes: int = 40_000,
) -> float:
    """An upper bound of a function on the box from ``low`` to ``high``, within ``tolerance`` if ``boxes`` suffice.

    Axes in ``whole`` take whole numbers only (ranks of categories); both ends belong to a box. The result is raised
    by 1e-9 of itself, far more than the rounding of a sum of some thousand terms.

    >>> rise = lambda low, high: (np.sin(np.minimum(high[:, 0], np.pi / 2)), np.sin(low[:, 0]))
    >>> 1 <= supremum(rise, np.array([0.0]), np.array([1.6]), np.array([False])) < 1.03
    True
    """
    lows, highs = low[None, :].astype(np.float64), high[None, :].astype(np.float64)
    scale = np.maximum(high - low, 1.0)
    upper, attained = bounding(lows, highs)
    best, used = float(attained.max()), 1
    while used < boxes and len(upper) and upper.max() > best * (1 + tolerance):
        chosen = np.argsort(upper)[-_BATCH:]
        rest = np.ones(len(upper), dtype=bool)
        rest[chosen] = False
        parts = _halves(lows[chosen], highs[chosen], whole, scale)
        if len(parts[0]) == len(chosen):  # nothing could be cut any more: every box is one point
            break
        part_upper, part_attained = bounding(*parts)
        used += len(part_upper)
        best = max(best, float(part_attained.max()))
        lows = np.concatenate([lows[rest], parts[0]])
        highs = np.concatenate([highs[rest], parts[1]])
        upper = np.concatenate([upper[rest], part_upper])
        keep = upper > best * (1 + tolerance)
        lows, highs, upper = lows[keep], highs[keep], upper[keep]
    left = float(upper.max()) if len(upper) else 0.0
    return max(left, best * (1 + tolerance)) * (1 + 1e-9)


def _halves(lows: Floats, highs: Floats, whole: NDArray[np.bool_], scale: Floats) -> tuple[Floats, Floats]:
    """Each box cut in two along its longest axis; a box of one point stays as it is."""
    width = highs - lows
    width[:, whole] += highs[:, whole] > lows[:, whole]  # two categories left are a whole axis, not a half
    axis = (width / scale).argmax(axis=1)
    rows = np.arange(len(lows))
    cut = width[rows, axis] > 0
    middle = (lows[rows, axis] + highs[rows, axis]) / 2
    steps = whole[axis]
    left_high, right_low = np.where(steps, np.floor(middle), middle), np.where(steps, np.floor(middle) + 1, middle)
    left, right = highs.copy(), lows.copy()
    left[rows, axis] = np.where(cut, left_high, left[rows, axis])
    right[rows, axis] = np.where(cut, right_low, right[rows, axis])
    return np.concatenate([lows, right[cut]]), np.concatenate([left, highs[cut]])


KERNEL_VARIANCE = 2.0
"""The prior variance of a coefficient of the log ratio, where these are independent."""
_MOST_COORDINATES = 1 << 10
_WORK = 2_000_000  # kernel values that may be spent on one supremum: less than a second
ROUNDING = Fraction(51, 100)
"""Steps by which a rounded feature may miss its formula: one half, and less than 1e-4 for the exponential's error."""


@dataclass(frozen=True)
class Kernel(Summed):
    """``centres`` (size, attributes) as codes of the ``space``, ``width`` in steps.

    Sensitivity: with S = sup |k(x) - k(x')|_1 over the declared box, replacing a record moves the sum by at most
    GRID S plus the rounding, 1.02 a centre; adding one by GRID sup |k(x)|_1 plus 0.51 a centre. The suprema are bounded
    from public things: S <= size (0 <= k <= 1), S <= 2 M with M = sup |k|_1, S^2 <= M^2 + 2 size lambda (see
    `largest_difference`), and branch and bound over the box; the least of them is used. In L2: |k - k'|_2^2 is at most
    |k - k'|_1, and at most 2 lambda_max(K). A person's average lies in the convex hull, where suprema are the same.
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

    @classmethod
    def from_json(cls, space: Space, data: dict[str, Any]) -> Kernel:
        return cls(space, np.array(data["centres"], dtype=np.float64), float(data["width"]))

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

    @cached_property
    def largest_sum(self) -> float:
        """An upper bound of sup_x |k(x)|_1."""
        low, high, whole = self._box

        def bounding(low: Floats, high: Floats) -> tuple[Floats, Floats]:
            middle = np.where(whole, np.floor((low + high) / 2), (low + high) / 2)
            return self.interval(low, high)[1].sum(axis=1), self.interval(middle, middle)[1].sum(axis=1)

        return min(float(self.size), supremum(bounding, low, high, whole, boxes=_WORK // self.size))

    @cached_property
    def largest_difference(self) -> float:
        """An upper bound of S = sup_{x, x'} |k(x) - k(x')|_1.

        For signs s with mean m and r = s - m 1: s'(k(x) - k(x')) = m (|k(x)|_1 - |k(x')|_1) + r'(k(x) - k(x')), where
        the first is at most |m| M and the second, in the kernel's own space, at most |sum_l r_l k_l| sqrt(2) <=
        sqrt(2 size (1 - m^2) lambda), lambda the largest eigenvalue of K centred. So S^2 <= M^2 + 2 size lambda.
        """
        low, high, whole = self._box
        axes, pair = len(low), (np.tile(low, 2), np.tile(high, 2), np.tile(whole, 2))

        def bounding(low: Floats, high: Floats) -> tuple[Floats, Floats]:
            least, most = self.interval(low[:, :axes], high[:, :axes])
            other_least, other_most = self.interval(low[:, axes:], high[:, axes:])
            upper = np.maximum(most - other_least, other_most - least).sum(axis=1)
            upper[low[:, 0] > high[:, axes]] = 0  # the same pair the other way round is in another box
            middle = np.where(pair[2], np.floor((low + high) / 2), (low + high) / 2)
            value, _ = self.interval(middle[:, :axes], middle[:, :axes])
            other, _ = self.interval(middle[:, axes:], middle[:, axes:])
            return upper, np.abs(value - other).sum(axis=1)

        centred = self.between_centres - self.between_centres.mean(axis=0)
        centred -= centred.mean(axis=1)[:, None]
        # Eigenvalues of a symmetric matrix are found to within a small multiple of size * 2**-53 of its norm.
        eigenvalue = float(np.linalg.eigvalsh((centred + centred.T) / 2)[-1]) + 1e-12 * self.size**2
        in_kernel_space = math.sqrt(self.largest_sum**2 + 2 * self.size * eigenvalue)
        known = min(float(self.size), 2 * self.largest_sum, in_kernel_space)
        # Pairs of three attributes have six axes: too many boxes to get below what is known already.
        return known if axes > 2 else min(known, supremum(bounding, *pair, boxes=_WORK // self.size))

    @property
    def _box(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        numbers = [isinstance(attribute, Numeric) for attribute in self.space.attributes]
        top = [STEPS if isinstance(a, Numeric) else a.size - 1 for a in self.space.attributes]
        return np.zeros(len(top)), np.array(top, dtype=np.float64), ~np.array(numbers)

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
class GaussianProcess(Summed):
    """A kernel whose mean is measured in whitened coordinates, with a matrix of whole numbers W, M = W / 2**30.

    Sensitivity: with T f = (f(c_l))_l, T T' = K_cc, a record moves M k(x) = M T k_x by |M T| |k_x - k_x'| with
    |M T|^2 = |M K_cc M'| <= 1 + eta (computed, rounding bounded) and |k_x - k_x'|^2 = 2 - 2 K(x, x') <= 2; adding one,
    |k_x| = 1. Rounding k to steps adds |M| sqrt(size) 0.51 a record, rounding W total / 2**30 another sqrt(size) / 2.
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
        """W, lower triangular; its entries are below 2**42."""
        lower = np.linalg.cholesky(self.kernel.between_centres + JITTER * np.eye(self.size))
        inverse = solve_triangular(lower, np.eye(self.size), lower=True)
        return np.asarray(np.rint(inverse * 2.0**_BITS), dtype=np.int64)

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
        l2 += records * root_above(size) / 2
        return Reach(l2 * root_above(size), l2)

    def prior(self, covariance: Floats) -> Floats:  # noqa: ARG002 - the scale is the kernel's
        """A log ratio that is a Gaussian process with this very kernel: white in whitened coordinates."""
        return VARIANCE * np.eye(self.size)

    def to_json(self) -> dict[str, Any]:
        """The kernel, and that its mean is measured in whitened coordinates."""
        return {**self.kernel.to_json(), "basis": "gaussian process", "jitter": JITTER}
