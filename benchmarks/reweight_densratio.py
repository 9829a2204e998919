"""uLSIF and RuLSIF beside the densratio package, in one run: the same ratios at given parameters, and the time.

Run: python benchmarks/reweight_densratio.py   (goals: ratios agree to 1e-9; the search by cross-validation is faster)
densratio draws its centres from the numerator; with as many centres as rows both have the same ones. Its own
cross-validation drops a division (see the explanation), so only the time of the search is compared, not its choice.
"""

from __future__ import annotations

import sys

import numpy as np

from peers import run_peer
from sudare.reweight import Gaussian, rulsif, ulsif
from sudare.reweight.leave_one_out import choose
from timing import best

REQUIREMENTS = ["densratio==0.4.0", "numpy<2.3"]
ROWS, WIDTH, REGULARISATION, ALPHA = 200, 0.7, 0.1, 0.2
AT = [-1.0, 0.0, 1.0, 2.0, 3.0]
WIDTHS, REGULARISATIONS, LARGE = [0.3, 0.5, 0.7, 1.0, 1.5], [1e-3, 1e-2, 1e-1, 1.0, 10.0], 2000
SCRIPT = f"""
import json, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from densratio import densratio
def samples(rows):
    q = (np.arange(rows) + 0.5) / rows
    return 2 + 0.5 * np.log(q / (1 - q)), 1 + np.log(q / (1 - q)) * 0.9
above, below = samples({ROWS})
out = {{}}
for alpha in (0, {ALPHA}):
    method = dict(method="RuLSIF") if alpha else dict()
    made = densratio(above, below, alpha=alpha, **method, sigma_range=[{WIDTH}], lambda_range=[{REGULARISATION}],
                     kernel_num={ROWS}, verbose=False)
    out[str(alpha)] = np.ravel(made.compute_density_ratio(np.array({AT}))).tolist()
above, below = samples({LARGE})
times = []
for _ in range(2):
    start = time.perf_counter()
    densratio(above, below, sigma_range={WIDTHS}, lambda_range={REGULARISATIONS}, kernel_num=100, verbose=False)
    times.append(time.perf_counter() - start)
out["seconds"] = min(times)
print(json.dumps(out))
"""


def samples(rows: int) -> tuple[np.ndarray, np.ndarray]:
    q = (np.arange(rows) + 0.5) / rows
    return 2 + 0.5 * np.log(q / (1 - q)), 1 + np.log(q / (1 - q)) * 0.9


def main() -> None:
    theirs = run_peer("densratio", REQUIREMENTS, SCRIPT)
    above, below = samples(ROWS)
    kernels = Gaussian(above, WIDTH)
    apart = 0.0
    for alpha, made in (
        ("0", ulsif(above, below, kernels, REGULARISATION)),
        (str(ALPHA), rulsif(above, below, kernels, REGULARISATION, ALPHA)),
    ):
        ours = made(AT)
        gap = float(np.abs(ours - np.array(theirs[alpha])).max())
        apart = max(apart, gap)
        print(f"alpha {alpha}: ratios {[f'{value:.12f}' for value in ours]}, largest difference {gap:.1e}")
    above, below = samples(LARGE)
    bases = [Gaussian(above[:100], width) for width in WIDTHS]
    samples_2d = above[:, None], below[:, None]
    seconds = best(lambda: choose(*samples_2d, bases, REGULARISATIONS), 3)
    print(
        f"search over {len(WIDTHS)} widths and {len(REGULARISATIONS)} regularisations, {LARGE:,} rows, 100 centres: "
        f"sudare {seconds:.3f} s, densratio {theirs['seconds']:.3f} s: {theirs['seconds'] / seconds:.1f} times faster"
    )
    sys.exit(0 if apart < 1e-9 and seconds < theirs["seconds"] else 1)


if __name__ == "__main__":
    main()
