"""How often the intervals of weighted answers hold the private truth: invented data, eight queries, level 0.9.

Goal: 80 % or more on average over the queries in every setting.
E ~ N(1, 1), D ~ N(2, 1/4), so that every query has something the features do not hold; the truth is D's own mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import sudare.reweight as reweight
from part import run_part
from row import Row

QUERIES = {
    "x": lambda x: x,
    "x > 1.5": lambda x: x > 1.5,
    "x > 2": lambda x: x > 2,
    "x > 2.5": lambda x: x > 2.5,
    "x < 1": lambda x: x < 1,
    "x^2": lambda x: x**2,
    "|x - 2| < 0.3": lambda x: np.abs(x - 2) < 0.3,
    "sin x": np.sin,
}
SETTINGS = ((50, 2000), (500, 2000), (5000, 20_000))
WAYS = {"default": {}, "kernels, tilt": {"basis": "kernel"}, "kernels, uLSIF": {"estimator": "ulsif"}}
GOAL = 80


def coverage(
    rows: int, people: int, epsilon: float, options: dict[str, Any], runs: int
) -> tuple[np.ndarray, float, float]:
    held, widths, errors = np.zeros(len(QUERIES)), [], []
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        public, private = generator.normal(1, 1, rows), generator.normal(2, 0.5, people)
        made = reweight.fit(private, public, epsilon, bounds=[(-4, 6)], seed=seed, **options)
        answer = made.mean(np.stack([np.asarray(f(public), dtype=float) for f in QUERIES.values()], axis=1))
        truth = np.array([np.mean(f(private)) for f in QUERIES.values()])
        held += (answer.low <= truth) & (truth <= answer.high)
        widths.append(answer.half_width.mean())
        errors.append(np.abs(answer.value - truth).mean())
    return held / runs, float(np.mean(widths)), float(np.mean(errors))


def rows(quick: bool) -> Iterator[Row]:
    """By way, numbers of rows and epsilon."""
    for name, options in WAYS.items():
        for public, people in SETTINGS[:2] if quick else SETTINGS:
            for epsilon in (0.1, 1.0):
                held, width, error = coverage(public, people, epsilon, options, 20 if quick else 100)
                least = list(QUERIES)[int(held.argmin())]
                note = f"least {held.min():.0%} ({least}); half width {width:.3f}, error {error:.3f}"
                case = f"{name}: eight queries, intervals at 90 %"
                label = f"{public:,} public, {people:,} private, epsilon {epsilon:g}"
                yield Row(label, 100 * float(held.mean()), "% held", None, note, case, at_least=GOAL)


if __name__ == "__main__":
    run_part(rows)
