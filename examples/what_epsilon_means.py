"""What a suspicion can become once a release has been read, for several epsilons.

Run: python examples/what_epsilon_means.py [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

from sudare.render.charts import render_png
from sudare.render.curves import Series, curves
from sudare.render.promise import suspicion

EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="draw epsilon.png into this folder")
    folder = parser.parse_args().pictures
    for epsilon in EPSILONS:
        low, high = suspicion(Fraction(1, 2), epsilon)
        print(f"epsilon {float(epsilon)}: a suspicion of 50 % ends between {float(low):.1%} and {float(high):.1%}")
    if folder is not None:
        priors = [Fraction(step, 200) for step in range(1, 200)]
        lines = [
            Series(f"ε = {float(epsilon):g}", priors, [float(suspicion(p, epsilon)[1]) for p in priors], "line")
            for epsilon in reversed(EPSILONS)
        ]
        spec = curves(
            [*lines, Series("nothing learned", [0, 1], [0, 1], "line", dashed=True)],
            title="What a suspicion can become",
            subtitle="at most, whatever else is known",
            x_title="probability before the release",
            y_title="probability after it",
            x_domain=(0, 1),
            y_domain=(0, 1),
        )
        (folder / "epsilon.png").write_bytes(render_png(spec))


if __name__ == "__main__":
    main()
