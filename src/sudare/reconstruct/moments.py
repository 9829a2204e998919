"""What a perturbed value says about the true one, when the true one is Gaussian and the noise Laplace: closed forms.

Let x ~ N(m, v), s = sqrt(v), and y = x + Laplace noise of scale phi; z = (y - m)/s and r = s/phi. Below y the density
of x given y is that of N(m + v/phi, v), above y that of N(m - v/phi, v): two truncated normals. Their masses are

    t1 = exp(r**2/2 - r z) Phi(a) / (2 phi),  a = z - r        and        t2 = exp(r**2/2 + r z) Phi(-b) / (2 phi),
    b = z + r,

the density of y is t1 + t2, and all moments of x follow (equation 14 of the paper, with the factor 2/sqrt(pi) that
its erfc lacks). Written like this the exponentials overflow and differences cancel. Here every form is used only
where it neither overflows nor cancels, so that r may be anything from 1e-6 to 1e6 and z as large as it likes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx

from sudare.arrays import Floats

_ROOT_HALF = np.sqrt(0.5)
_ROOT_TWO_PI = np.sqrt(2 * np.pi)
_FAR = 60.0  # from here on the asymptotic series is exact to 1e-13, and differences of nearly equal numbers are not


@dataclass(frozen=True)
class ComponentMoments:
    """Of one component for each perturbed value, all of one shape.

    ``log_density`` of y; ``first`` and ``second``: the means of (x - m)/s and of its square given y.
    """

    log_density: Floats
    first: Floats
    second: Floats


def moments(y: ArrayLike, mean: ArrayLike, variance: ArrayLike, scale: ArrayLike) -> ComponentMoments:
    """Density of y and moments of x given y; the arguments are broadcast against each other.

    >>> found = moments([0.0, 30.0], mean=0.0, variance=4.0, scale=1.0)
    >>> found.first.round(3).tolist()  # far out, x is as far as a noise of scale 1 lets a deviation of 2 be
    [0.0, 2.0]
    """
    phi = np.asarray(scale, dtype=np.float64)
    deviation = np.sqrt(np.asarray(variance, dtype=np.float64))
    r = deviation / phi
    z = (np.asarray(y, dtype=np.float64) - np.asarray(mean, dtype=np.float64)) / deviation
    # The piece above y is the mirror image of the one below.
    (low, high), (low_first, high_first), (low_second, high_second) = _pieces(np.stack([z, -z]), r)
    difference = low - high
    smaller_share = np.exp(-np.abs(difference))
    log_density = np.maximum(low, high) + np.log1p(smaller_share) - np.log(2 * phi)
    share = np.where(difference >= 0, 1.0, smaller_share) / (1 + smaller_share)
    return ComponentMoments(
        log_density,
        share * low_first - (1 - share) * high_first,
        share * low_second + (1 - share) * high_second,
    )


def _pieces(z: Floats, r: Floats) -> tuple[Floats, Floats, Floats]:
    """log of exp(r**2/2 - r z) Phi(z - r), and the first two moments of a deviate N(r, 1) cut to below z.

    With Q = erfcx(|a|/sqrt(2))/2: Phi(a) = Q exp(-a**2/2) for a < 0, where the exponentials join to exp(-z**2/2), and
    1 - Q exp(-a**2/2) else. The moments are r - h and 1 + r**2 - (r + z) h, h the density of a over Phi(a).
    """
    a = z - r
    upper = 0.5 * erfcx(np.abs(a) * _ROOT_HALF)
    above = a >= 0
    bell = np.where(above, np.exp(-0.5 * a * a), 1.0)
    mass = np.where(above, 1 - upper * bell, upper)
    log_mass = np.where(above, r * (0.5 * r - z), -0.5 * z * z) + np.log(mass)
    hazard = bell / (_ROOT_TWO_PI * mass)
    first = r - hazard
    second = 1 + r * r - (r + z) * hazard
    deep = a < -_FAR
    if deep.any():
        # x lies just under the cut, by a gap that the difference of r and h would not show.
        gap, gap_square = _gap(-a[deep])
        cut = z[deep]
        first[deep] = cut - gap
        second[deep] = cut * (cut - 2 * gap) + gap_square
    return log_mass, first, second


def _gap(depth: Floats) -> tuple[Floats, Floats]:
    """Mean and mean square of N(-depth, 1) cut to above 0, for large depth."""
    inverse = 1 / depth**2
    series = inverse * (2 - inverse * (10 - inverse * (74 - 706 * inverse)))
    return (1 - series) / depth, series
