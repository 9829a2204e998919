"""How often the intervals of weighted answers hold the private truth: invented data, eight queries, level 0.9.

Run: python benchmarks/reweight_coverage.py   (goal: 0.8 or more on average over the queries in every setting)
E ~ N(1, 1), D ~ N(2, 1/4), so that every query has something the features do not hold; the truth is D's own mean.
"""

from __future__ import annotations

import sys

import numpy as np

import sudare.reweight as reweight

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
RUNS, GOAL = 100, 0.8


def coverage(rows: int, people: int, epsilon: float, options: dict) -> tuple[np.ndarray, float, float]:
    held, widths, errors = np.zeros(len(QUERIES)), [], []
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)
        public, private = generator.normal(1, 1, rows), generator.normal(2, 0.5, people)
        made = reweight.fit(private, public, epsilon, bounds=[(-4, 6)], seed=seed, **options)
        answer = made.mean(np.stack([np.asarray(f(public), dtype=float) for f in QUERIES.values()], axis=1))
        truth = np.array([np.mean(f(private)) for f in QUERIES.values()])
        held += (answer.low <= truth) & (truth <= answer.high)
        widths.append(answer.half_width.mean())
        errors.append(np.abs(answer.value - truth).mean())
    return held / RUNS, float(np.mean(widths)), float(np.mean(errors))


def main() -> None:
    worst = 1.0
    print("public rows, private records, epsilon, way: held on average (least of a query), half width, error")
    for name, options in WAYS.items():
        for rows, people in SETTINGS:
            for epsilon in (0.1, 1.0):
                held, width, error = coverage(rows, people, epsilon, options)
                worst = min(worst, float(held.mean()))
                least = list(QUERIES)[int(held.argmin())]
                print(
                    f"{rows:6,} {people:7,} {epsilon:4g} {name:15s} {held.mean():.2f} ({held.min():.2f}, {least}),"
                    f" {width:.3f}, {error:.3f}"
                )
    sys.exit(0 if worst >= GOAL else 1)


if __name__ == "__main__":
    main()
