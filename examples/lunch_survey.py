"""Nobody holds the data: devices randomise, and the collector still learns what people had for lunch.

Run: python examples/lunch_survey.py [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sudare as sd
from sudare.render.charts import render_png
from sudare.render.curves import profile

MEALS = ("rice", "noodles", "bread", "curry", "sushi", "salad", "soup", "nothing")
SHARES = (0.3, 0.22, 0.14, 0.12, 0.08, 0.06, 0.05, 0.03)
PEOPLE = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="draw lunch.png into this folder")
    folder = parser.parse_args().pictures
    values = np.random.default_rng(5).choice(len(MEALS), PEOPLE, p=SHARES)
    truth = np.bincount(values, minlength=len(MEALS))
    for epsilon in (0.5, 3, 1):
        encoding = sd.local.choose(size=len(MEALS), epsilon=epsilon, users=PEOPLE).encoding
        found = sd.local.estimate(encoding.randomize(values))
        print(
            f"epsilon {epsilon}, {encoding.name}: off by {np.abs(found.counts - truth).mean():,.0f} people on average"
        )
    if folder is not None:
        subtitle = f"{PEOPLE:,} reports, ε = {epsilon}, {encoding.name.replace('_', ' ')}"
        spec = profile(MEALS, truth, found.counts, label_title="lunch", what="people", subtitle=subtitle, width=480)
        (folder / "lunch.png").write_bytes(render_png(spec))


if __name__ == "__main__":
    main()
