"""The synthetic mixture of the paper: how well each method recovers it, for 1,000 to a million records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats
from sudare.language.messages import OnProgress, Progress, Stage
from sudare.reconstruct import Histogram, Mixture, Perturbed, iterative_bayes, perturb
from sudare.reconstruct.distribution import clearly_better
from sudare.reconstruct.sample import sample_of

WEIGHTS, MEANS, VARIANCES = (0.1, 0.6, 0.2, 0.1), (-1.0, 3.0, 5.0, 9.0), (0.1, 0.2, 0.5, 0.01)
SCALES = {1_000: 3.18, 10_000: 2.45, 100_000: 2.03, 1_000_000: 1.75}
"""Number of records to the paper's scale of the noise."""
COMPONENTS = (2, 3, 4, 5, 6)
RATES = (0.001, 0.0001)
BINS, LIMIT, GRADIENT_STEPS = 50, 5_000, 2_000
EARLY, LATE, CHOSEN, SQUARE = "IBT, smoothest plausible", f"IBT, {LIMIT:,} steps", "chosen", "square wave, IBT"
AUTO = "mixture, K held out"


@dataclass(frozen=True)
class RecoveredDraw:
    """One set of records: ``true`` shares of 50 bins between its least and largest value, and what was recovered."""

    edges: Floats
    true: Floats
    scale: float
    found: Mapping[str, Floats]

    def accuracy(self, name: str) -> float:
        """L1 accuracy in percent."""
        return l1_percent(self.true, self.found[name])


def l1_percent(true: Floats, found: Floats) -> float:
    """100 (1 - sum |p - q| / 2)."""
    return float(100 * (1 - np.abs(true - found).sum() / 2))


def records(size: int, seed: int) -> Floats:
    """The paper's mixture."""
    rng = np.random.default_rng([size, seed])
    which = rng.choice(len(WEIGHTS), size, p=WEIGHTS)
    return rng.normal(np.array(MEANS)[which], np.sqrt(VARIANCES)[which])


def draw(size: int, seed: int, *, gradient: bool = False) -> RecoveredDraw:
    """Records perturbed at k = 2 and recovered in every way. As in the paper, the bounds are the sample's own range.

    Nothing but these bounds is read off the records: numbers of components and of steps, the smoothing, and which of
    the two methods is taken are chosen by the perturbed values. With ``gradient`` also by the paper's own steps, from
    the start of the exact EM.
    """
    x = records(size, seed)
    bounds = (float(x.min()), float(x.max()))
    edges = np.linspace(*bounds, BINS + 1)
    made = perturb(x, bounds, k=2, seed=seed)
    found = _recovered(made, edges)
    squared = perturb(x, bounds, k=2, noise="square_wave", seed=seed)
    found[SQUARE] = iterative_bayes(squared.values, squared.channel, edges).probabilities
    if gradient:
        for rate in RATES:
            paper = Mixture(components=4, method="gradient", rate=rate, steps=GRADIENT_STEPS)
            found[gradient_name(rate)] = paper.fit(made.values, made.channel).histogram(edges)
    return RecoveredDraw(edges, np.histogram(x, edges)[0] / size, float(made.scale), found)


def gradient_name(rate: float) -> str:
    """How the paper's own steps are called."""
    return f"gradient, rate {rate:g}"


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


def experiment(runs: Mapping[int, int], progress: OnProgress) -> dict[int, list[RecoveredDraw]]:
    """So many draws of each number of records; the paper's gradient for the first two of each up to 10,000."""
    found: dict[int, list[RecoveredDraw]] = {}
    for size, times in runs.items():
        found[size] = []
        for run in range(times):
            progress(Progress(Stage.EXPERIMENT, run + 1, times, f"{size:,} records"))
            found[size].append(draw(size, run, gradient=size <= 10_000 and run < 2))
    return found
