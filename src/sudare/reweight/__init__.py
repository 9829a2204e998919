"""A public data set that answers for a private one: private ratios of densities.

`fit` measures, with noise, the mean of a few functions over the private records, finds a ratio of densities
w(x) = p_private(x) / p_public(x) that agrees with it, and gives every row of a public data set its weight. Weighted
averages over the public rows then answer for the private records, any number of them, at no further cost.

`Weighting` is what comes out. `ulsif`, `rulsif`, `logistic` and `tilt` estimate ratios of two samples without any
privacy, for comparison and for public data.
"""

from sudare.reweight.answers import Answers
from sudare.reweight.choice import FitParameters
from sudare.reweight.estimators import tilt
from sudare.reweight.fit import fit
from sudare.reweight.functions import Functions
from sudare.reweight.ratio import Gaussian, Ratio, leave_one_out, logistic, rulsif, ulsif
from sudare.reweight.weighting import Weighting

__all__ = [
    "Answers",
    "FitParameters",
    "Functions",
    "Gaussian",
    "Ratio",
    "Weighting",
    "fit",
    "leave_one_out",
    "logistic",
    "rulsif",
    "tilt",
    "ulsif",
]
