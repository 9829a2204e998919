"""A public data set that answers for a private one: private ratios of densities.

`fit` measures, with noise, the mean of a few functions over the private records, finds a ratio of densities
w(x) = p_private(x) / p_public(x) that agrees with it, and gives every row of a public data set its weight. Weighted
averages over the public rows then answer for the private records, any number of them, at no further cost.

`Weighting` is what comes out. `importance_weighting` is the rival from the literature. `ulsif`, `rulsif`, `logistic`
and `tilt` estimate ratios of two samples without any privacy, for comparison and for public data. `polynomial` and
`fourier` make a basis other than the default `Hats` and `Kernel`; any object that follows `Basis` will do.
"""

from sudare.reweight.answers import Answers
from sudare.reweight.basis import Basis
from sudare.reweight.estimators import tilt
from sudare.reweight.fit import FitParameters, fit
from sudare.reweight.hats import Hats
from sudare.reweight.importance import importance_weighting
from sudare.reweight.kernel import Kernel
from sudare.reweight.parametric import Parametric, fourier, polynomial
from sudare.reweight.ratio import Gaussian, Ratio, leave_one_out, logistic, rulsif, ulsif
from sudare.reweight.space import Space
from sudare.reweight.weighting import Weighting

__all__ = [
    "Answers",
    "Basis",
    "FitParameters",
    "Gaussian",
    "Hats",
    "Kernel",
    "Parametric",
    "Ratio",
    "Space",
    "Weighting",
    "fit",
    "fourier",
    "importance_weighting",
    "leave_one_out",
    "logistic",
    "polynomial",
    "rulsif",
    "tilt",
    "ulsif",
]
