"""uLSIF and RuLSIF beside the densratio package, in one run: the same ratios at given parameters, and the time.

Goals: ratios agree to 1e-9, and the search by cross-validation is faster. densratio draws its centres from the
numerator; with as many centres as rows both have the same ones. Its own cross-validation drops a division (see the
explanation), so only the time of the search is compared, not its choice.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from part import run_part
from peers import missing, run_peer
from row import Row
from sudare.reweight import Gaussian, rulsif, ulsif
from sudare.reweight.ratio import choose
from timing import core_seconds

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
    start = time.process_time()
    densratio(above, below, sigma_range={WIDTHS}, lambda_range={REGULARISATIONS}, kernel_num=100, verbose=False)
    times.append(time.process_time() - start)
out["seconds"] = min(times)
print(json.dumps(out))
"""


def samples(rows: int) -> tuple[np.ndarray, np.ndarray]:
    q = (np.arange(rows) + 0.5) / rows
    return 2 + 0.5 * np.log(q / (1 - q)), 1 + np.log(q / (1 - q)) * 0.9


def compared(quick: bool) -> Iterator[Row]:
    theirs = run_peer("densratio", REQUIREMENTS, SCRIPT)
    above, below = samples(ROWS)
    kernels = Gaussian(above, WIDTH)
    for alpha, name, made in (
        ("0", "uLSIF", ulsif(above, below, kernels, REGULARISATION)),
        (str(ALPHA), "RuLSIF", rulsif(above, below, kernels, REGULARISATION, ALPHA)),
    ):
        gap = float(np.abs(made(AT) - np.array(theirs[alpha])).max())
        case = "ratios at given parameters, apart from densratio's"
        yield Row(name, gap, "largest difference", case=case, at_most=1e-9)
    above, below = samples(LARGE)
    bases = [Gaussian(above[:100], width) for width in WIDTHS]
    seconds = core_seconds(lambda: choose(above[:, None], below[:, None], bases, REGULARISATIONS), 1 if quick else 3)
    case = f"search over {len(WIDTHS)} widths and {len(REGULARISATIONS)} regularisations, {LARGE:,} rows, 100 centres"
    yield Row("Sudare", seconds, "CPU s", case=case)
    yield Row("densratio", theirs["seconds"], "CPU s", "Sudare", case=case)
    yield Row("times as fast", theirs["seconds"] / seconds, "times", case=case, at_least=1)


def rows(quick: bool) -> Iterator[Row]:
    """Differences, then times."""
    found: list[Row] = []
    with missing(found, Row("densratio", 0, "CPU s")):
        found += compared(quick)
    yield from found


if __name__ == "__main__":
    run_part(rows)
