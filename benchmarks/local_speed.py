"""Randomise, aggregate and estimate reports of a crowd: Sudare beside pure-ldp and multi-freq-ldpy, in one run.

Goal: at least 10 times as fast as each peer, with an error no larger. Peers randomise one person at a time by their
own client and server (fewer people than ours, whose time is linear); a compiler is warmed up before the clock starts.
The error is sum |estimated - true share|. For the unary encodings it is the mean of 400 draws of how many reports
have each bit set, which are sums of two binomials, and peers estimate from the same draws; for the others of five.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from part import run_part
from peers import missing, run_peer
from row import Row
from sudare.local import (
    Encoding,
    HadamardResponse,
    LocalHashing,
    OptimisedUnary,
    RandomisedResponse,
    SubsetSelection,
    SymmetricUnary,
    Tally,
    estimate,
)
from timing import core_seconds

PURE_LDP = """
import json, sys, time, numpy as np
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer
values, size, epsilon = np.load(sys.argv[1]).tolist(), int(sys.argv[2]), float(sys.argv[3])
optimised = sys.argv[4] == "1"
same = lambda value: value
client, server = (kind(epsilon, size, use_oue=optimised, index_mapper=same) for kind in (UEClient, UEServer))
start = time.process_time()
for value in values:
    server.aggregate(client.privatise(value))
read = lambda: [float(server.estimate(value, suppress_warnings=True)) for value in range(size)]
read()
seconds, counts = time.process_time() - start, []
for sums in np.load(sys.argv[5]):
    server.aggregated_data, server.n = sums, int(sys.argv[6])
    server._update_estimates()
    counts.append(read())
print(json.dumps({"seconds": seconds, "counts": counts}))
"""

MULTI_FREQ = """
import json, sys, time, numpy as np
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
from multi_freq_ldpy.estimators.Histogram_estimator import MI
values, size, epsilon = np.load(sys.argv[1]).tolist(), int(sys.argv[2]), float(sys.argv[3])
optimised = sys.argv[4] == "1"
UE_Client(values[0], size, epsilon, optimised)
start, total = time.process_time(), 0
for first in range(0, len(values), 50_000):  # all at once would be 8 bytes per bit
    total = total + sum([UE_Client(value, size, epsilon, optimised) for value in values[first : first + 50_000]])
p = 0.5 if optimised else np.exp(epsilon / 2) / (np.exp(epsilon / 2) + 1)
q = 1 / (np.exp(epsilon) + 1) if optimised else 1 - p
MI(total, len(values), p, q)
seconds = time.process_time() - start
users = int(sys.argv[6])
counts = [(MI(sums, users, p, q) * users).tolist() for sums in np.load(sys.argv[5])]
print(json.dumps({"seconds": seconds, "counts": counts}))
"""

PEERS = {
    "pure-ldp": (["pure-ldp==1.2.0", "numpy<2", "scikit-learn", "statsmodels"], PURE_LDP),
    "multi-freq-ldpy": (["multi-freq-ldpy==0.2.5"], MULTI_FREQ),
}
UNARY: tuple[type[Encoding], ...] = (SymmetricUnary, OptimisedUnary)
OTHERS: tuple[type[Encoding], ...] = (SubsetSelection, LocalHashing, HadamardResponse, RandomisedResponse)
EPSILON, GOAL, UNIT = 1.0, 10, "CPU us a user"


def people(size: int, users: int) -> np.ndarray:
    """Values with the shape of a city: few large places, many small ones."""
    share = 1 / np.arange(1, size + 1) ** 0.8
    return np.random.default_rng(1).choice(size, users, p=share / share.sum())


def error(counts: np.ndarray, true: np.ndarray) -> float:
    return float(np.abs(counts - true).sum(axis=1).mean() / true.sum())


def drawn_sums(encoding: Encoding, true: np.ndarray, draws: int = 400) -> list[Tally]:
    generator, (own, other), tallies = np.random.default_rng(2), encoding.chances, []
    for _ in range(draws):
        tally = Tally(encoding)
        tally.sums = generator.binomial(true, own) + generator.binomial(true.sum() - true, other)
        tally.reports = int(true.sum())
        tallies.append(tally)
    return tallies


def reported(encoding: Encoding, values: np.ndarray) -> list[Tally]:
    return [Tally(encoding).add(encoding.randomize(values)) for _ in range(5)]


def rows(quick: bool) -> Iterator[Row]:
    """Seconds and errors by number of values and encoding; then the goals."""
    users, timed = (100_000, 10_000) if quick else (1_000_000, 100_000)
    slowest, nearest = [], []
    for size in (23, 1024):
        values = people(size, users)
        true = np.bincount(values, minlength=size)
        for kind in (*UNARY, *OTHERS):
            encoding = kind(size=size, epsilon=EPSILON)
            seconds = core_seconds(
                lambda encoding=encoding, values=values: estimate(encoding.randomize(values), "simplex"), 3
            )
            tallies = drawn_sums(encoding, true) if kind in UNARY else reported(encoding, values)
            own = error(np.array([estimate(tally, "simplex").counts for tally in tallies]), true)
            title = f"{kind.name}, {size} values, {users:,} users"
            times, errors = f"{title}: randomise, aggregate, estimate", f"{title}: L1 error of shares"
            made = [Row("Sudare", 1e6 * seconds / users, UNIT, case=times)]
            accuracy = [Row("Sudare", own, "L1", case=errors)]
            for peer in PEERS if kind in UNARY else ():
                with missing(made, Row(peer, 0, UNIT, "Sudare", case=times)):
                    sums = [tally.support for tally in tallies]
                    found = peer_run(peer, values[:timed], users, size, kind is OptimisedUnary, sums)
                    slower = found["seconds"] / timed / (seconds / users)
                    other = error(np.array(found["counts"]), true)
                    made.append(Row(peer, 1e6 * found["seconds"] / timed, UNIT, "Sudare", f"{timed:,} users", times))
                    accuracy.append(Row(peer, other, "L1", "Sudare", case=errors))
                    slowest.append(slower)
                    nearest.append(own / other)
            yield from made
            yield from accuracy
    if slowest:
        yield Row("fastest peer's time over ours", min(slowest), "times", case="worst case", at_least=GOAL)
        yield Row("our error over the best peer's", max(nearest), "times", case="worst case", at_most=1)


def peer_run(
    peer: str, values: np.ndarray, users: int, size: int, optimised: bool, sums: list[np.ndarray]
) -> dict[str, Any]:
    requirements, script = PEERS[peer]
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("values.npy", "sums.npy")]
        np.save(paths[0], values)
        np.save(paths[1], np.array(sums))
        arguments = (paths[0], str(size), str(EPSILON), "1" if optimised else "0", paths[1], str(users))
        return run_peer(peer, requirements, script, *arguments)


if __name__ == "__main__":
    run_part(rows)
