"""A sample of records that is k-anonymous and differentially private, and how k, rate and epsilon hang together.

Run: python examples/sample_of_records.py [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import sudare as sd
from sudare.render.charts import render_png
from sudare.render.curves import Series, curves
from sudare.tables.synthetic import city

DELTA = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="draw sample.png into this folder")
    folder = parser.parse_args().pictures
    trees = {"age": sd.anonymity.Hierarchy.from_widths(0, 100, 1, 5, 20), "sex": ["f", "m"]}
    made = sd.anonymity.anonymize(
        city(people=20_000), trees, k=20, sample=0.1, levels={"age": 1, "sex": 0}, delta=DELTA
    )
    print(f"{made.records.num_rows:,} rows, each shared by at least 20 people")
    print(made.guarantee)
    if folder is not None:
        rates = [0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2]
        lines = [
            Series(
                f"k = {k}",
                rates,
                [float(sd.anonymity.smallest_epsilon(k=k, sample=rate, delta=DELTA)) for rate in rates],
            )
            for k in (10, 20, 50, 100)
        ]
        spec = curves(
            lines,
            title="What a k-anonymous sample costs",
            subtitle="levels fixed beforehand, δ = 0.000001",
            x_title="rate of sampling",
            y_title="ε",
        )
        (folder / "sample.png").write_bytes(render_png(spec))


if __name__ == "__main__":
    main()
