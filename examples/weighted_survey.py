"""A public survey, weighted so that it answers for records that stay private.

Run: python examples/weighted_survey.py [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sudare as sd
from sudare.render.charts import render_png
from sudare.render.curves import Series, curves

EDGES = np.arange(0, 81, 4)


def hours(people: int, mean: float, seed: int) -> NDArray[np.float64]:
    """Invented hours of work in a week."""
    return np.clip(np.random.default_rng(seed).normal(mean, 8, people), 0, 80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="draw weights.png into this folder")
    folder = parser.parse_args().pictures
    private, public = hours(20_000, 44, seed=1), hours(2_000, 36, seed=2)
    made = sd.reweight.fit(private, public, epsilon=0.5, bounds=[(0, 80)])
    print(made.guarantee)
    answer = made.mean("x0")
    print(f"mean hours: private {private.mean():.2f}, public {public.mean():.2f}, weighted {answer.value[0]:.2f}")
    print(f"90 % interval of the weighted mean: {answer.low[0]:.2f} to {answer.high[0]:.2f}")
    # Hardly any public row is above 65 hours: such an answer is flagged, and its interval says what may be there.
    longest = made.count(public > 65)
    print(f"above 65 hours: private {(private > 65).sum()}, weighted {longest.low[0]:.0f} to {longest.high[0]:.0f}")
    for note in longest.notes:
        print(f"Note: {note}")
    if folder is not None:
        middle = EDGES[:-1] + 2
        spec = curves(
            [
                Series("private", middle, np.histogram(private, EDGES)[0] / len(private), "line"),
                Series("public, weighted", middle, np.histogram(public, EDGES, weights=made.weights)[0] / len(public)),
                Series("public", middle, np.histogram(public, EDGES)[0] / len(public), "line", dashed=True),
            ],
            title="A public survey that answers for private records",
            subtitle="ε = 0.5; 20,000 private and 2,000 public rows",
            x_title="hours of work in a week",
            y_title="share in four hours",
        )
        (folder / "weights.png").write_bytes(render_png(spec))


if __name__ == "__main__":
    main()
