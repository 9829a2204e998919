"""The synthetic mixture of the paper: how well each method recovers it, for 1,000 to a million records.

`printed_mixture` and `printed_ibt` follow the paper to the letter: random starts, steps of 0.001 times the *sum* of
the gradients (equations 11 to 13), and for both methods an end where a step changes the log likelihood by less than
0.001. What it found, a mixture that falls behind IBT as records grow, is a property of these rules: the step grows
with the number of records (errata M7). `CHANGES` undoes one rule after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.reconstruct import Histogram, Mixture, Perturbed, iterative_bayes, perturb
from sudare.reconstruct.axes import Product, axis_of
from sudare.reconstruct.distribution import clearly_better
from sudare.reconstruct.fitting import fit_exact, random_start
from sudare.reconstruct.gaussians import Gaussians
from sudare.reconstruct.iterative_bayes import even, log_likelihood
from sudare.reconstruct.noises import columns_of
from sudare.reconstruct.sample import sample_of

WEIGHTS, MEANS, VARIANCES = (0.1, 0.6, 0.2, 0.1), (-1.0, 3.0, 5.0, 9.0), (0.1, 0.2, 0.5, 0.01)
SCALES = {1_000: 3.18, 10_000: 2.45, 100_000: 2.03, 1_000_000: 1.75}
"""Number of records to the paper's scale of the noise."""
COMPONENTS = (2, 3, 4, 5, 6)
RATE, GAIN = 0.001, 0.001
"""The paper's learning rate, and the change of the log likelihood at which it stops."""
BINS, LIMIT, PRINTED_STEPS = 50, 5_000, 1_000
"""The printed rule does not stop where the step is too large; then 1,000 steps are made."""
EARLY, LATE, CHOSEN = "IBT, smoothest plausible", f"IBT, {LIMIT:,} steps", "chosen"
AUTO = "mixture, K held out"
PRINTED_IBT = f"as printed: IBT, stop at {GAIN:g}"
MEAN_STEP = "K = 4, mean of the gradients for their sum"
RANDOM_START = "K = 4, exact EM, random start"
CHANGES = (MEAN_STEP, RANDOM_START)


@dataclass(frozen=True)
class RecoveredDraw:
    """One set of records: ``true`` shares of 50 bins between its least and largest value, and what was recovered."""

    true: Floats
    scale: float
    found: Mapping[str, Floats]

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
    found[PRINTED_IBT] = printed_ibt(made.values, made.channel, edges)
    for count in COMPONENTS:
        found[printed_name(count)] = printed_mixture(made, count, seed).histogram(edges)
    found[MEAN_STEP] = printed_mixture(made, 4, seed, rate=1.0 / size).histogram(edges)
    sample = sample_of(made.values, float(made.scale))
    start = random_start(sample, 4, np.random.default_rng([seed, 4]))
    ended = fit_exact(sample, start, steps=600, gain=GAIN, prior=0).components
    found[RANDOM_START] = Gaussians.diagonal(ended.weights, ended.means, ended.variances).boxes([edges])
    return RecoveredDraw(np.histogram(x, edges)[0] / size, float(made.scale), found)


def printed_mixture(made: Perturbed, count: int, seed: int, *, rate: float = RATE) -> Mixture:
    """The paper's algorithm 1, fitted."""
    printed = Mixture(components=count, method="gradient", rate=rate, steps=PRINTED_STEPS, prior=0, seed=seed)
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
