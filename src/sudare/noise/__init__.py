"""The source of random bits, exact integer noise made of them, and the one function that adds it to private data.

`Source` gives bits, `discrete_laplace` and `discrete_gaussian` turn them into noise with exactly the stated
law, `measure` adds it to private values, and `refine` makes more exact what was measured. `Bernoulli` tosses exact
coins, `RandomisedResponse` and `SquareWave` are laws by which `respond` randomises each record on its own, and `sample`
decides which records take part. Everything after these four is post-processing.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.noise.bernoulli import Bernoulli, uniform
    from sudare.noise.discrete import Added, AddedGaussian, AddedLaplace, Refined, discrete_gaussian, discrete_laplace
    from sudare.noise.measurement import (
        Measured,
        Tape,
        measure,
        noise_variance,
        record,
        refine,
        respond,
        sample,
        secret,
        stamped,
    )
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
    "Refined",
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
    "refine",
    "respond",
    "sample",
    "secret",
    "stamped",
    "uniform",
]

__getattr__ = exports(
    __name__,
    {
        "bernoulli": ("Bernoulli", "uniform"),
        "discrete": ("Added", "AddedGaussian", "AddedLaplace", "Refined", "discrete_gaussian", "discrete_laplace"),
        "measurement": (
            "Measured",
            "Tape",
            "measure",
            "noise_variance",
            "record",
            "refine",
            "respond",
            "sample",
            "secret",
            "stamped",
        ),
        "meter": ("Blocks", "Meter", "delegate", "metered"),
        "response": ("Channel", "Law", "RandomisedResponse", "Sampled", "SquareWave"),
        "source": ("Grant", "Part", "Source"),
        "sparse": ("Sparse", "SparseNoise"),
    },
)
