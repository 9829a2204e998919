"""Where random bits come from, exact integer noise made of them, and the one place where it meets data.

`Source` gives bits, `discrete_laplace` and `discrete_gaussian` turn them into noise with exactly the stated
law, `measure` adds it to private values. `Bernoulli` tosses exact coins, `RandomisedResponse` and `SquareWave` are
laws by which `respond` randomises each record on its own, and `sample` decides which records take part. Everything
after these three is post-processing.
"""

from sudare.noise.added import Added, AddedGaussian, AddedLaplace
from sudare.noise.bernoulli import Bernoulli, uniform
from sudare.noise.gaussian import discrete_gaussian
from sudare.noise.laplace import discrete_laplace
from sudare.noise.measurement import Measured, Tape, measure, noise_variance, record, respond, sample, secret, stamped
from sudare.noise.meter import Blocks, Meter, delegate, metered
from sudare.noise.response import Channel, Law, RandomisedResponse, Sampled, SquareWave
from sudare.noise.source import Grant, Part, Source
from sudare.noise.sparse import Sparse, SparseNoise

__all__ = [
    "Added",
    "AddedGaussian",
    "AddedLaplace",
    "Bernoulli",
    "Blocks",
    "Channel",
    "Grant",
    "Law",
    "Measured",
    "Meter",
    "Part",
    "RandomisedResponse",
    "Sampled",
    "Source",
    "Sparse",
    "SparseNoise",
    "SquareWave",
    "Tape",
    "delegate",
    "discrete_gaussian",
    "discrete_laplace",
    "measure",
    "metered",
    "noise_variance",
    "record",
    "respond",
    "sample",
    "secret",
    "stamped",
    "uniform",
]
