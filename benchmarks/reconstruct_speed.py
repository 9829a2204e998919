"""Fitting a mixture behind noise against scikit-learn's GaussianMixture on as many raw values, as many steps.

scikit-learn sees no noise; it is the yardstick of what a step of EM over so many values costs.
"""

from __future__ import annotations

from collections.abc import Iterator

from part import run_part
from peers import missing, run_peer
from row import Row
from sudare.papers.mixture_synthetic import records
from sudare.reconstruct import Mixture, distribution, iterative_bayes, perturb
from timing import core_seconds

COMPONENTS, STEPS, UNIT = 6, 100, "CPU s"
REQUIREMENTS = ["scikit-learn>=1.5"]
SCRIPT = """
import json, sys, time, warnings
import numpy as np
from sklearn.mixture import GaussianMixture
size, components, steps = map(int, sys.argv[1:])
rng = np.random.default_rng([size, 0])
which = rng.choice(4, size, p=(0.1, 0.6, 0.2, 0.1))
x = rng.normal(np.array((-1.0, 3.0, 5.0, 9.0))[which], np.sqrt((0.1, 0.2, 0.5, 0.01))[which])
warnings.simplefilter("ignore")
start = time.process_time()
model = GaussianMixture(components, max_iter=steps, tol=0, init_params="random_from_data", random_state=0)
model.fit(x[:, None])
print(json.dumps({"seconds": time.process_time() - start, "steps": model.n_iter_}))
"""


def rows(quick: bool) -> Iterator[Row]:
    """A mixture beside scikit-learn's, then our other ways."""
    size = 20_000 if quick else 1_000_000
    x = records(size, 0)
    bounds = (float(x.min()), float(x.max()))
    made = perturb(x, bounds, k=2, seed=0)

    def fit() -> Mixture:
        return Mixture(components=COMPONENTS, steps=STEPS, gain=1e-12).fit(made.values, made.channel)

    steps, seconds = fit().steps_, core_seconds(fit, 2)
    case = f"{size:,} records, {COMPONENTS} components, {steps} steps"
    found = [Row("Mixture", seconds, UNIT, None, "start and binning included", case)]
    with missing(found, Row("scikit-learn", 0, UNIT, "Mixture", case=case)):
        peer = run_peer("scikit-learn", REQUIREMENTS, SCRIPT, str(size), str(COMPONENTS), str(steps))
        note = f"raw values, {peer['steps']} steps"
        found.append(Row("scikit-learn", peer["seconds"], UNIT, "Mixture", note, case))
    yield from found
    edges = [bounds[0] + (bounds[1] - bounds[0]) * place / 50 for place in range(51)]
    for name, work in (
        ("perturb", lambda: perturb(x, bounds, k=2)),
        ("iterative_bayes", lambda: iterative_bayes(made.values, made.channel, edges)),
        ("Mixture, 6 components", lambda: Mixture(components=COMPONENTS).fit(made.values, made.channel)),
        ("Mixture, K held out", lambda: Mixture().fit(made.values, made.channel)),
        ("distribution", lambda: distribution(made.values, made.channel, edges)),
    ):
        yield Row(name, core_seconds(work, 1), UNIT, case=f"{size:,} records, our other ways")


if __name__ == "__main__":
    run_part(rows)
