"""Perturbed records, and the distribution behind them.

`perturb` adds noise to every record, so that no row can be linked to its person with more than a stated probability
(Pk-anonymity) and each has a stated local epsilon. An analyst who knows the noise recovers distributions, never
records: `iterative_bayes` as a histogram or a cross table, `Mixture` as a sum of Gaussians, `distribution` by
whichever explains the records better. Each answers with bootstrap bands, and can be sampled into synthetic records.
`scale_for` and `k_for` turn k into a scale of noise and back.
"""

from sudare.reconstruct.distribution import distribution
from sudare.reconstruct.histogram import Bands, Histogram
from sudare.reconstruct.iterative_bayes import iterative_bayes
from sudare.reconstruct.linkage import k_for, scale_for
from sudare.reconstruct.mixture import Mixture
from sudare.reconstruct.noises import LaplaceNoise, RetentionNoise, SquareWaveNoise, noise_from_json
from sudare.reconstruct.perturb import Perturbed, PerturbParameters, perturb

__all__ = [
    "Bands",
    "Histogram",
    "LaplaceNoise",
    "Mixture",
    "PerturbParameters",
    "Perturbed",
    "RetentionNoise",
    "SquareWaveNoise",
    "distribution",
    "iterative_bayes",
    "k_for",
    "noise_from_json",
    "perturb",
    "scale_for",
]
