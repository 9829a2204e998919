"""Ages given away with noise on each, and their distribution recovered by whoever knows the noise.

Run: python examples/perturbed_ages.py [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sudare as sd
from sudare.render.charts import render_png
from sudare.render.curves import Series, curves
from sudare.tables.synthetic import city

EDGES = np.arange(0, 101, 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="draw perturbation.png into this folder")
    folder = parser.parse_args().pictures
    ages = city(people=50_000)["age"].to_numpy()
    noisy = sd.reconstruct.perturb(ages, bounds=(0, 100), k=10)
    found = sd.reconstruct.iterative_bayes(noisy.values, noisy.scale, EDGES)
    truth = np.histogram(ages, EDGES)[0] / len(ages)
    print(noisy.guarantee)
    print(f"the largest error of a share of five years: {np.abs(found.probabilities - truth).max():.3f}")
    if folder is not None:
        wide = np.arange(-100, 201, 5)
        given = np.histogram(noisy.values, wide)[0] / len(ages)
        spec = curves(
            [
                Series("true", EDGES[:-1] + 2.5, truth, "line"),
                Series("recovered", EDGES[:-1] + 2.5, found.probabilities),
                Series("as given away", wide[:-1] + 2.5, given, "line", dashed=True),
            ],
            title="Ages, perturbed so that no row is linked above 1/10",
            subtitle=f"50,000 people, Laplace noise of scale {noisy.scale:.1f} years",
            x_title="age",
            y_title="share in five years",
        )
        (folder / "perturbation.png").write_bytes(render_png(spec))


if __name__ == "__main__":
    main()
