"""The synthetic mixture of the paper: how well each method recovers it, for 1,000 to a million records.

`printed_mixture` and `printed_ibt` follow the paper to the letter: random starts, steps of 0.001 times the *sum* of
the gradients (equations 11 to 13), and for both methods an end where a step changes the log likelihood by less than
0.001. What it found, a mixture that falls behind IBT as records grow, is a property of these rules: the step grows
with the number of records (errata M7). `CHANGES` undoes one rule after the other. Of the start the paper prints no
more than that it may be random; `STARTS` are three readings of that, and how far they are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from sudare.arrays import Floats
from sudare.reconstruct import Histogram, Mixture, Perturbed, iterative_bayes, perturb
from sudare.reconstruct.axes import Product, axis_of
from sudare.reconstruct.diagonal import Components
from sudare.reconstruct.distribution import clearly_better
from sudare.reconstruct.fitting import fit_exact, fit_gradient, random_start
from sudare.reconstruct.gaussians import Gaussians
from sudare.reconstruct.iterative_bayes import even, log_likelihood
from sudare.reconstruct.noises import columns_of
from sudare.reconstruct.sample import Sample, sample_of

WEIGHTS, MEANS, VARIANCES = (0.1, 0.6, 0.2, 0.1), (-1.0, 3.0, 5.0, 9.0), (0.1, 0.2, 0.5, 0.01)
SCALES = {1_000: 3.18, 10_000: 2.45, 100_000: 2.03, 1_000_000: 1.75}
"""Number of records to the paper's scale of the noise."""
COMPONENTS = (2, 3, 4, 5, 6)
RATE, GAIN = 0.001, 0.001
"""The paper's learning rate, and the change of the log likelihood at which it stops."""
BINS, LIMIT, PRINTED_STEPS = 50, 5_000, 1_000
"""The printed rule does not stop where the step is too large; then 1,000 steps are made."""
EARLY, LATE, CHOSEN, SQUARE = "IBT, smoothest plausible", f"IBT, {LIMIT:,} steps", "chosen", "square wave, IBT"
AUTO = "mixture, K held out"
PRINTED_IBT = f"as printed: IBT, stop at {GAIN:g}"
MEAN_STEP = "K = 4, mean of the gradients for their sum"
RANDOM_START = "K = 4, exact EM, random start"
CHANGES = (MEAN_STEP, RANDOM_START)
DRAWN_STARTS, START_COMPONENTS = 4, 4
"""How often each of the `STARTS` is drawn, and with how many components: as many as the true mixture has."""


class StartOutcome(NamedTuple):
    """What the printed algorithm reached from one start: L1 accuracy in percent, and the log likelihood."""

    accuracy: float
    log_likelihood: float


@dataclass(frozen=True)
class RecoveredDraw:
    """One set of records: ``true`` shares of 50 bins between its least and largest value, and what was recovered."""

    edges: Floats
    true: Floats
    scale: float
    found: Mapping[str, Floats]
    starts: Mapping[str, list[StartOutcome]]

    def accuracy(self, name: str) -> float:
        return l1_percent(self.true, self.found[name])


def l1_percent(true: Floats, found: Floats) -> float:
    """100 (1 - sum |p - q| / 2)."""
    return float(100 * (1 - np.abs(true - found).sum() / 2))


def records(size: int, seed: int) -> Floats:
    """The paper's mixture."""
    rng = np.random.default_rng([size, seed])
    which = rng.choice(len(WEIGHTS), size, p=WEIGHTS)
    return rng.normal(np.array(MEANS)[which], np.sqrt(VARIANCES)[which])


def draw(size: int, seed: int) -> RecoveredDraw:
    """Records perturbed at k = 2 and recovered in every way. As in the paper, the bounds are the sample's own range.

    Nothing but these bounds is read off the records: numbers of components and of steps, the smoothing, and which of
    the two methods is taken are chosen by the perturbed values.
    """
    x = records(size, seed)
    bounds = (float(x.min()), float(x.max()))
    edges = np.linspace(*bounds, BINS + 1)
    made = perturb(x, bounds, k=2, seed=seed)
    found = _recovered(made, edges)
    squared = perturb(x, bounds, k=2, noise="square_wave", seed=seed)
    found[SQUARE] = iterative_bayes(squared.values, squared.channel, edges).probabilities
    found[PRINTED_IBT] = printed_ibt(made.values, made.channel, edges)
    for count in COMPONENTS:
        found[printed_name(count)] = printed_mixture(made, count, seed).histogram(edges)
    found[MEAN_STEP] = printed_mixture(made, 4, seed, method="mean_gradient", rate=1.0).histogram(edges)
    sample = sample_of(made.values, float(made.scale))
    start = random_start(sample, 4, np.random.default_rng([seed, 4]))
    ended = fit_exact(sample, start, steps=600, gain=GAIN, prior=0).components
    found[RANDOM_START] = Gaussians.diagonal(ended.weights, ended.means, ended.variances).boxes([edges])
    true = np.histogram(x, edges)[0] / size
    return RecoveredDraw(edges, true, float(made.scale), found, _from_starts(sample, bounds, true, edges, seed))


def _at_records(sample: Sample, bounds: tuple[float, float], generator: np.random.Generator) -> Components:  # noqa: ARG001
    return random_start(sample, START_COMPONENTS, generator)


def _over_released(sample: Sample, bounds: tuple[float, float], generator: np.random.Generator) -> Components:  # noqa: ARG001
    points, shape = sample.points[0], (START_COMPONENTS, 1)
    return Components(_weights(generator), generator.uniform(points.min(), points.max(), shape), np.ones(shape))


def _over_true(sample: Sample, bounds: tuple[float, float], generator: np.random.Generator) -> Components:  # noqa: ARG001
    shape = START_COMPONENTS, 1
    return Components(_weights(generator), generator.uniform(*bounds, shape), generator.uniform(0.01, 1, shape) ** 2)


def _weights(generator: np.random.Generator) -> Floats:
    drawn = generator.random(START_COMPONENTS)
    return np.asarray(drawn / drawn.sum())


STARTS: dict[str, Callable[[Sample, tuple[float, float], np.random.Generator], Components]] = {
    "means at records, wide, equal weights": _at_records,
    "means over the perturbed range, deviation 1": _over_released,
    "means over the true range, deviation 0 to 1": _over_true,
}


def _from_starts(
    sample: Sample, bounds: tuple[float, float], true: Floats, edges: Floats, seed: int
) -> dict[str, list[StartOutcome]]:
    """The printed algorithm from each of the `STARTS`, drawn several times."""
    made: dict[str, list[StartOutcome]] = {}
    for number, (name, start) in enumerate(STARTS.items()):
        generator = np.random.default_rng([seed, number, len(sample.counts)])
        for _ in range(DRAWN_STARTS):
            fit = fit_gradient(sample, start(sample, bounds, generator), steps=PRINTED_STEPS, rate=RATE, gain=GAIN)
            ended = fit.components
            law = Gaussians.diagonal(ended.weights, ended.means, ended.variances).boxes([edges])
            made.setdefault(name, []).append(StartOutcome(l1_percent(true, law), fit.log_likelihood))
    return made


def printed_mixture(
    made: Perturbed,
    count: int,
    seed: int,
    *,
    method: Literal["gradient", "mean_gradient"] = "gradient",
    rate: float = RATE,
) -> Mixture:
    """The paper's algorithm 1, fitted."""
    printed = Mixture(components=count, method=method, rate=rate, steps=PRINTED_STEPS, prior=0, seed=seed)
    return printed.fit(made.values, made.channel)


def printed_ibt(values: Any, noise: Any, edges: Floats, gain: float = GAIN) -> Floats:
    """Plain steps of IBT until one changes the log likelihood by less than ``gain``, as the paper stops its mixture."""
    columns = columns_of(values, noise, edges)
    channel = Product(tuple(axis_of(n, e, 1) for n, e in zip(columns.noises, columns.edges, strict=True)))
    counts = channel.counts(columns.values)
    found, before = even(channel.shape), -np.inf
    for _ in range(20_000):
        law = channel.forward(found)
        reached = log_likelihood(counts, law)
        if reached - before < gain:
            break
        before = reached
        found = found * channel.back(counts / counts.sum() / law)
        found /= found.sum()
    return found


def printed_name(count: int) -> str:
    """How the paper's algorithm is called."""
    return f"as printed: mixture, K = {count}"


def mixture_name(count: int) -> str:
    """How a mixture with a given number of components is called."""
    return f"mixture, K = {count}"


def _recovered(made: Perturbed, edges: Floats) -> dict[str, Floats]:
    values, noise = made.values, made.channel
    late = iterative_bayes(values, noise, edges, stop=LIMIT)
    early: Histogram = iterative_bayes(values, noise, edges)
    fits = {mixture_name(count): Mixture(components=count).fit(values, noise) for count in COMPONENTS}
    auto = Mixture().fit(values, noise)
    found = {name: fit.histogram(edges) for name, fit in fits.items()}
    found |= {LATE: late.probabilities, EARLY: early.probabilities, AUTO: auto.histogram(edges)}
    found[CHOSEN] = found[AUTO if clearly_better(auto, early, sample_of(values, noise.scale)) else EARLY]
    return found
