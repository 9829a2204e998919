"""The Haar transform beside PyWavelets, and all of a `Privelet` release beside PyWavelets with NumPy's float noise.

Ours is in integers (sums and differences), which exact noise needs; PyWavelets has orthonormal floats. Both give the
same coefficients up to powers of the root of 2, which is checked. The release draws exact integer noise, level by
level, and keeps the books; the peer's draws floats, which is not private.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import sudare as sd
from part import run_part
from peers import PYWAVELETS, missing, run_peer
from row import Row
from sudare.tables.haar import differences_at, inverse, transform
from timing import core_seconds

RUNS, EPSILON = 5, 0.1

SCRIPT = """
import json, sys, time
import numpy as np, pywt
values, bits, runs, epsilon = np.load(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
rng = np.random.default_rng(1)
def best(work):
    times = []
    for _ in range(runs):
        start = time.process_time()
        made = work()
        times.append(time.process_time() - start)
    return min(times), made
forward = lambda x: pywt.wavedec(x, "haar", mode="periodization")
back = lambda c: pywt.waverec(c, "haar", mode="periodization")
def privelet():
    coefficients = forward(values.astype(float))
    scale, noisy = (1 + bits) / epsilon, []
    for place, part in enumerate(coefficients):
        level = bits if place == 0 else bits - place + 1
        noisy.append(part + rng.laplace(0, scale / 2 ** (level / 2), part.shape))
    return back(noisy)
there, made = best(lambda: forward(values.astype(float)))
again, _ = best(lambda: back(made))
np.save(sys.argv[5], np.concatenate(made))
print(json.dumps({"transform": there, "inverse": again, "release": best(privelet)[0]}))
"""


def difference(bits: int, ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference of coefficients, once theirs are sums: relative to the largest coefficient."""
    sums = np.empty(len(theirs))
    sums[0] = theirs[0] * 2 ** (bits / 2)
    for level in range(1, bits + 1):
        sums[differences_at(bits, level)] = theirs[differences_at(bits, level)] * 2 ** (level / 2)
    return float(np.abs(sums - ours).max() / np.abs(ours).max())


def rows(quick: bool) -> Iterator[Row]:
    """By number of cells."""
    for bits in (16, 20) if quick else (16, 20, 24):
        case = f"2**{bits} cells"
        values = np.random.default_rng(bits).poisson(0.5, 1 << bits)
        table = sd.CountTable.from_array(values)
        coefficients = transform(values)
        ours = {
            "transform": core_seconds(lambda values=values: transform(values), RUNS),
            "inverse": core_seconds(lambda coefficients=coefficients: inverse(coefficients), RUNS),
            "release": core_seconds(lambda table=table: sd.release(table, sd.Privelet(), epsilon=EPSILON), RUNS),
        }
        found: list[Row] = []
        with tempfile.TemporaryDirectory() as name, missing(found, Row("PyWavelets", 0, "CPU ms", case=case)):
            given, made = Path(name) / "values.npy", Path(name) / "made.npy"
            np.save(given, values)
            answer = run_peer(*PYWAVELETS, SCRIPT, str(given), str(bits), str(RUNS), str(EPSILON), str(made))
            apart = difference(bits, coefficients, np.load(made))
            found = [Row(f"{what}, PyWavelets", 1e3 * answer[what], "CPU ms", what, case=case) for what in ours]
            found.append(Row("coefficients apart", apart, "of the largest", case=case, at_most=1e-9))
        for what, seconds in ours.items():
            yield Row(what, 1e3 * seconds, "CPU ms", case=case)
        yield from found


if __name__ == "__main__":
    run_part(rows)
