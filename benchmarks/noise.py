"""Processor time of exact noise, beside OpenDP's and diffprivlib's exact noise and NumPy's float noise.

Goals: at least 200 times as fast as OpenDP, within 2 times of NumPy's float Laplace, which is not private (Mironov
2012). Peers draw in environments of their own, in the same run; OpenDP adds noise to a vector, diffprivlib to one
number a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from part import run_part
from peers import DIFFPRIVLIB, OPENDP, missing, run_peer
from row import Row
from sudare.noise import Source, discrete_gaussian, discrete_laplace
from timing import core_seconds

SCALES = (1, 10, 190)
UNIT = "CPU ns a draw"

OPENDP_SCRIPT = """
import json, sys, time
import opendp.prelude as dp
dp.enable_features("contrib")
size, found = int(sys.argv[1]), {}
for scale in map(float, sys.argv[2].split(",")):
    space = dp.vector_domain(dp.atom_domain(T=int))
    makers = {
        "laplace": dp.m.make_laplace(space, dp.l1_distance(T=int), scale=scale),
        "gaussian": dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=scale),
    }
    for name, mechanism in makers.items():
        values, times = [0] * size, []
        mechanism(values)
        for _ in range(3):
            start = time.process_time()
            mechanism(values)
            times.append(time.process_time() - start)
        found[f"{name} {scale:g}"] = min(times) / size * 1e9
print(json.dumps(found))
"""

DIFFPRIVLIB_SCRIPT = """
import json, sys, time
from diffprivlib.mechanisms import GaussianDiscrete, Geometric
size, found = int(sys.argv[1]), {}
for scale in map(float, sys.argv[2].split(",")):
    makers = {"laplace": Geometric(epsilon=1 / scale, sensitivity=1)}
    gaussian = GaussianDiscrete(epsilon=1.0, delta=1e-6, sensitivity=1)
    gaussian._scale = scale  # the law for a given scale, not for a given epsilon
    makers["gaussian"] = gaussian
    for name, mechanism in makers.items():
        times = []
        for _ in range(3):
            start = time.process_time()
            for _ in range(size):
                mechanism.randomise(0)
            times.append(time.process_time() - start)
        found[f"{name} {scale:g}"] = min(times) / size * 1e9
print(json.dumps(found))
"""


def nanoseconds(work: Callable[[int], object], size: int, rounds: int = 5) -> float:
    """Best time per draw; the first round, which builds tables, is not counted."""
    work(size)
    return core_seconds(lambda: work(size), rounds) / size * 1e9


def peer_rows(law: str, scale: int, case: str, draws: dict[str, dict[str, float] | str]) -> list[Row]:
    rows = []
    for name, found in draws.items():
        if isinstance(found, str):
            rows.append(Row(name, None, UNIT, "Sudare", found, case))
        else:
            rows.append(Row(name, found[f"{law} {scale}"], UNIT, "Sudare", case=case))
    return rows


def rows(quick: bool) -> Iterator[Row]:
    """By law and scale; then the goals."""
    source, rng = Source.system(), np.random.default_rng(1)
    size, scales = 1_000_000 if quick else 4_000_000, ",".join(map(str, SCALES))
    draws: dict[str, dict[str, float] | str] = {}
    for label, peer, script, number in (
        ("OpenDP", OPENDP, OPENDP_SCRIPT, 5_000 if quick else 20_000),
        ("diffprivlib", DIFFPRIVLIB, DIFFPRIVLIB_SCRIPT, 1_000 if quick else 10_000),
    ):
        lacking: list[Row] = []
        with missing(lacking, Row(label, 0, UNIT)):
            draws[label] = run_peer(*peer, script, str(number), scales)
        if lacking:
            draws[label] = lacking[0].note
    slower, floats = [], []
    for scale in SCALES:
        case = f"discrete Laplace, scale {scale}"
        ours = nanoseconds(lambda n, s=scale: discrete_laplace(Fraction(s), source, n), size)
        numpy = nanoseconds(lambda n, s=scale: rng.laplace(0, s, n), size)
        yield Row("Sudare", ours, UNIT, case=case)
        yield Row("NumPy, float", numpy, UNIT, "Sudare", "not private", case)
        yield from peer_rows("laplace", scale, case, draws)
        floats.append(ours / numpy)
        if not isinstance(draws["OpenDP"], str):
            slower.append(draws["OpenDP"][f"laplace {scale}"] / ours)
    for scale in SCALES:
        case = f"discrete Gaussian, scale {scale}"
        ours = nanoseconds(lambda n, s=scale: discrete_gaussian(Fraction(s) ** 2, source, n), size // 4, 2)
        yield Row("Sudare", ours, UNIT, case=case)
        yield from peer_rows("gaussian", scale, case, draws)
    case = "worst scale, Laplace"
    if slower:
        yield Row("OpenDP's time over ours", min(slower), "times", case=case, at_least=200)
    yield Row("our time over NumPy's", max(floats), "times", case=case, at_most=2)


if __name__ == "__main__":
    run_part(rows)
