"""How often 90 % intervals of weighted answers hold the private truth.

Goals: 87 % or more on average over the queries wherever nothing was tuned, on public files that are fair, that lean,
and that lack a tail; 80 % for eight queries on two normal samples by every basis and estimator. Notes have the lowest
query, and how many of its answers and of all were flagged. ``--tuned`` has the settings that constants were set on
instead. Adult is read from the folder SUDARE_DATA or ../shared/data; elsewhere its settings are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import sudare.reweight as reweight
from part import run_part
from reweight_settings import Query, Setting, adult_is_here, judged, tuned
from row import Row

NORMAL = (
    Query("x", lambda c: c["x"], -4, 6),
    Query("x > 1.5", lambda c: c["x"] > 1.5),
    Query("x > 2", lambda c: c["x"] > 2),
    Query("x > 2.5", lambda c: c["x"] > 2.5),
    Query("x < 1", lambda c: c["x"] < 1),
    Query("x^2", lambda c: c["x"] ** 2, 0, 36),
    Query("|x - 2| < 0.3", lambda c: np.abs(c["x"] - 2) < 0.3),
    Query("sin x", lambda c: np.sin(c["x"]), -1, 1),
)
SIZES = ((50, 2000), (500, 2000), (5000, 20_000))
WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "kernels, tilt": {"basis": "kernel"},
    "kernels, uLSIF": {"estimator": "ulsif"},
}
EPSILONS = (0.1, 1.0, 10.0)
GOAL, GOAL_NORMAL = 87, 80
FIRST_SEED = 40_000


def coverage(setting: Setting, epsilon: float, runs: int, options: dict[str, Any] | None = None) -> tuple[float, str]:
    """The percentage of intervals that held, over all queries, and a note with the rest."""
    held, flagged = [], []
    for seed in range(FIRST_SEED, FIRST_SEED + runs):
        private, public = setting.draw(np.random.default_rng(seed))
        made = reweight.fit(
            private, public, epsilon, bounds=setting.bounds, categories=setting.categories, seed=seed, **(options or {})
        )
        functions = np.stack([query.function(public).astype(float) for query in setting.queries], axis=1)
        truth = np.array([query.function(private).mean() for query in setting.queries])
        extremes = np.array([(query.low, query.high) for query in setting.queries]).T
        answer = made.mean(functions, extremes=extremes)
        held.append((answer.low <= truth) & (truth <= answer.high))
        flagged.append([100 * (flag != "") for flag in answer.flags])
    shares, least = 100 * np.mean(held, axis=0), int(np.mean(held, axis=0).argmin())
    flags, name = np.mean(flagged, axis=0), setting.queries[least].name
    note = f"least {shares[least]:.0f} ({name}, flagged {flags[least]:.0f} %); {flags.mean():.0f} % flagged"
    return float(shares.mean()), note


def normal(public: int, people: int) -> Setting:
    """E ~ N(1, 1), D ~ N(2, 1/4), so that every query has something the features do not hold."""
    name = f"{public:,} public, {people:,} private"
    return Setting(
        name,
        lambda generator: ({"x": generator.normal(2, 0.5, people)}, {"x": generator.normal(1, 1, public)}),
        {"x": (-4.0, 6.0)},
        {},
        NORMAL,
    )


def measured(settings: Iterable[Setting], runs: int, quick: bool) -> Iterator[Row]:
    for setting in settings:
        for epsilon in EPSILONS[1:2] if quick else EPSILONS:
            value, note = coverage(setting, epsilon, runs)
            yield Row(f"epsilon {epsilon:g}", value, "% held", None, note, setting.name, at_least=GOAL)


def rows(quick: bool) -> Iterator[Row]:
    """By setting and epsilon; then by way, numbers of rows and epsilon."""
    yield from measured(judged(), 10 if quick else 60, quick)
    if not adult_is_here():
        yield Row("all", None, "% held", None, "Adult is not at hand", "settings of Adult")
    for name, options in WAYS.items():
        for public, people in SIZES[:2] if quick else SIZES:
            for epsilon in EPSILONS[:2]:
                value, note = coverage(normal(public, people), epsilon, 20 if quick else 100, options)
                label, case = f"{public:,} public, {people:,} private, epsilon {epsilon:g}", f"{name}: eight queries"
                yield Row(label, value, "% held", None, note, case, at_least=GOAL_NORMAL)


def tuned_rows(quick: bool) -> Iterator[Row]:
    """The settings that constants were set on."""
    yield from measured(tuned(), 10 if quick else 60, quick)


if __name__ == "__main__":
    if "--tuned" in sys.argv:
        sys.argv.remove("--tuned")
        run_part(tuned_rows)
    run_part(rows)
