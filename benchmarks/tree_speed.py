"""Methods that walk a tree, on 2**37 logical cells with clustered people, beside NumPy's float Laplace draws.

Run: python benchmarks/tree_speed.py [--epsilon 0.1] [--plot docs/images/tree_speed.png]
Goals: 1e6 populated cells in at most 6 times the time of 2e7 float draws, 1e7 in under 8 GB, and a time that grows
no faster than what is populated. All are measured in one run, best of several. The table is invented (a random
cascade: areas within areas, about a hundred people per populated cell).
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
from pathlib import Path

import numpy as np

import sudare as sd
from sudare.charts import render_png
from sudare.publish import synthetic_table
from sudare.tables.top_down import TopDown
from timing import best

METHODS = {"Tree": sd.Tree(), "TopDown": TopDown()}
DOMAIN = sd.Domain(cell=sd.Grid(2**15, 2**14), kind=sd.Categories(list(range(256))))
POPULATED = (10**4, 10**5, 10**6, 10**7)
JUDGED, MOST_TIMES, MOST_GIGABYTES = 10**6, 6.0, 8.0
DRAWS, PEOPLE_PER_CELL = 20_000_000, 100


def draw(rows: list[dict[str, object]], path: str) -> None:
    """Seconds against populated cells, both axes logarithmic."""
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": 480,
        "height": 300,
        "data": {"values": rows},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "populated", "type": "quantitative", "scale": {"type": "log"}, "title": "populated cells"},
            "y": {"field": "seconds", "type": "quantitative", "scale": {"type": "log"}, "title": "seconds"},
            "color": {"field": "method", "type": "nominal", "scale": {"range": ["#0072b2", "#d55e00"]}},
        },
    }
    Path(path).write_bytes(render_png(spec, 1.5))


def peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--epsilon", default="0.1")
    arguments.add_argument("--plot")
    options = arguments.parse_args()
    epsilon, rows = options.epsilon, []
    rng = np.random.default_rng(1)
    floats = best(lambda: rng.laplace(0, 1, DRAWS), 5)
    print(f"{DOMAIN.describe()}; epsilon {epsilon}; NumPy draws {DRAWS:,} float Laplace variables in {floats:.2f} s")
    heads = (("method", 10), ("populated", 12), ("released", 12), ("seconds", 9), ("ns/released", 12))
    print(" ".join(f"{head:>{width}}" for head, width in (*heads, ("times NumPy", 12), ("GB", 6))))
    worst = 0.0
    for populated in POPULATED:
        table = synthetic_table(DOMAIN, PEOPLE_PER_CELL * populated, seed=1, populated_share=populated / DOMAIN.size)
        for name, method in METHODS.items():
            sizes: list[int] = []
            runs = 2 if populated > JUDGED else 5
            seconds = best(lambda: sizes.append(len(sd.release(table, method, epsilon=epsilon).table)), runs)  # noqa: B023 - called at once
            ratio, released = seconds / floats, sizes[-1]
            row = f"{name:>10} {len(table):>12,} {released:>12,} {seconds:>9.3f} {seconds / released * 1e9:>12.0f}"
            print(f"{row} {ratio:>12.2f} {peak_gigabytes():>6.2f}", flush=True)
            rows.append({"method": name, "populated": populated, "released": released, "seconds": seconds})
            if populated == JUDGED:
                worst = max(worst, ratio)
    for name in METHODS:
        own = [(math.log(row["populated"]), math.log(row["seconds"])) for row in rows if row["method"] == name]
        print(f"{name}: time grows with populated cells to the power {np.polyfit(*zip(*own, strict=True), 1)[0]:.2f}")
    if options.plot:
        draw(rows, options.plot)
    # The peak holds the making of the table too, which makes it an upper bound.
    print(
        f"{JUDGED:,} populated: at most {worst:.1f} times NumPy (goal {MOST_TIMES:g}); peak {peak_gigabytes():.1f} GB"
    )
    sys.exit(0 if worst <= MOST_TIMES and peak_gigabytes() < MOST_GIGABYTES else 1)


if __name__ == "__main__":
    main()
