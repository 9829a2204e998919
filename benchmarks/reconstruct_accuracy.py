"""L1 accuracy on the paper's synthetic mixture, everything chosen by the perturbed values: means.

Rows: `distribution` with the error of its mean and how often it took the mixture, IBT run for 5,000 steps, and IBT
stopped after the number of steps that was best for each draw, chosen by the truth: no rule to stop it can be better.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from part import run_part
from row import Row
from sudare.papers import mixture_synthetic as synthetic
from sudare.reconstruct import distribution, iterative_bayes, perturb

STEPS = (25, 50, 100, 150, 200, 300, 500, 800, 1_200, 2_000, synthetic.LIMIT)


def one(size: int, seed: int) -> tuple[float, bool, float, float]:
    """Accuracy of `distribution`, whether it was a mixture, IBT at its limit and at its best."""
    x = synthetic.records(size, seed)
    bounds = (float(x.min()), float(x.max()))
    edges = np.linspace(*bounds, synthetic.BINS + 1)
    made = perturb(x, bounds, k=2, seed=seed)
    true = np.histogram(x, edges)[0] / size
    ours = distribution(made.values, made.channel, edges)
    plain = [
        synthetic.l1_percent(true, iterative_bayes(made.values, made.channel, edges, stop=steps).probabilities)
        for steps in STEPS
    ]
    return synthetic.l1_percent(true, ours.probabilities), "mixture" in ours.method, plain[-1], max(plain)


def rows(quick: bool) -> Iterator[Row]:
    """By number of records: ours, and IBT at its limit and at its best."""
    for size in list(synthetic.SCALES)[: 1 if quick else None]:
        repetitions = 3 if quick else 20 if size < 1_000_000 else 6  # a million records take minutes a draw
        found = np.array([one(size, seed) for seed in range(repetitions)])
        ours, mixtures, late, best = found.mean(axis=0)
        error = found[:, 0].std() / np.sqrt(repetitions)
        case = f"{size:,} perturbed records, {repetitions} repetitions"
        unit = "% L1 accuracy"
        note = f"+- {error:.1f}; it took the mixture in {mixtures:.0%}"
        yield Row("distribution", float(ours), unit, "IBT, best in hindsight", note, case)
        yield Row("IBT, 5,000 steps", float(late), unit, "IBT, best in hindsight", "", case)
        yield Row("IBT, best in hindsight", float(best), unit, None, "steps chosen by the truth", case)


if __name__ == "__main__":
    run_part(rows)
