"""MST and AIM, as their papers describe them, over the graphical models of the package mbi: peers for `Marginals`.

McKenna, Miklau, Sheldon: *Winning the NIST Contest* (2021) and *AIM: An Adaptive and Iterative Mechanism* (2022), with
their settings: MST a third of rho each for one-way marginals, the choice of a spanning tree and its pairs; AIM 16
rounds per attribute at most, a tenth of each round for the choice, 1,000 steps of mirror descent. Its authors allow
models of 80 MB; the caller says how many, since the time grows with them.
Runs in an environment of its own (mbi brings JAX); reads a problem (.npz: codes, sizes) and prints invented rows.
"""

from __future__ import annotations

import itertools
import json
import math
import sys

import numpy as np
from mbi import Dataset, Domain, LinearMeasurement, estimation, junction_tree


def rho_for(epsilon: float, delta: float) -> float:
    """The largest rho that is (epsilon, delta)-DP (Canonne, Kamath, Steinke 2020)."""

    def reached(rho: float) -> float:
        low, high = 1.0 + 1e-9, 1e9
        best = math.inf
        for alpha in np.geomspace(low, high, 20_000):
            bound = (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)
            best = min(best, bound)
        return best

    low, high = 0.0, epsilon + 1
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) <= math.log(delta) else (low, middle)
    return low


class Peer:
    """What both need: exact marginals, noise, models."""

    def __init__(self, codes: np.ndarray, sizes: list[int], rho: float, seed: int) -> None:
        self.names = [f"a{number}" for number in range(len(sizes))]
        self.domain = Domain(self.names, sizes)
        self.codes, self.sizes, self.rho = codes, dict(zip(self.names, sizes, strict=True)), rho
        self.rng = np.random.default_rng(seed)

    def exact(self, clique: tuple[str, ...]) -> np.ndarray:
        columns = [self.codes[:, self.names.index(name)] for name in clique]
        shape = [self.sizes[name] for name in clique]
        return np.bincount(np.ravel_multi_index(columns, shape), minlength=math.prod(shape)).astype(float)

    def measured(self, clique: tuple[str, ...], sigma: float) -> LinearMeasurement:
        exact = self.exact(clique)
        return LinearMeasurement(exact + self.rng.normal(0, sigma, exact.size), clique, stddev=sigma)

    def model(self, measurements: list[LinearMeasurement], steps: int, start: object = None) -> object:
        descent = estimation.MirrorDescent()
        return descent.estimate(self.domain, measurements, iters=steps, warm_start=start)

    def choose(self, scores: dict[tuple[str, ...], float], epsilon: float, sensitivity: float) -> tuple[str, ...]:
        """The exponential mechanism, by Gumbel noise."""
        keys = list(scores)
        values = np.array([scores[key] for key in keys]) * epsilon / (2 * sensitivity)
        return keys[int(np.argmax(values + self.rng.gumbel(size=len(keys))))]


def mst(peer: Peer) -> object:
    """One-way marginals, then pairs along a spanning tree that is chosen privately."""
    sigma = math.sqrt(3 / (2 * peer.rho))
    ones = [(name,) for name in peer.names]
    log = [peer.measured(one, sigma * math.sqrt(len(ones))) for one in ones]
    start = peer.model(log, 2500)
    weights = {
        pair: float(np.abs(peer.exact(pair) - np.asarray(start.project(pair).datavector())).sum())
        for pair in itertools.combinations(peer.names, 2)
    }
    group = {name: name for name in peer.names}
    pairs: list[tuple[str, ...]] = []
    epsilon = math.sqrt(8 * (peer.rho / 3) / (len(peer.names) - 1))
    while len(pairs) < len(peer.names) - 1:
        apart = {pair: weight for pair, weight in weights.items() if group[pair[0]] != group[pair[1]]}
        pairs.append(peer.choose(apart, epsilon, 1.0))
        one, other = (group[name] for name in pairs[-1])
        group = {name: one if own == other else own for name, own in group.items()}
    log += [peer.measured(pair, sigma * math.sqrt(len(pairs))) for pair in pairs]
    return peer.model(log, 10_000)


def aim(peer: Peer, most_megabytes: float, degree: int = 3, steps: int = 1000) -> object:
    """Marginal after marginal, the worst known one next, with less noise once nothing is learned any more."""
    workload = list(itertools.combinations(peer.names, degree))
    candidates = {
        part for one in workload for size in range(1, degree + 1) for part in itertools.combinations(one, size)
    }
    weight = {part: float(sum(len(set(part) & set(one)) for one in workload)) for part in candidates}
    rounds = 16 * len(peer.names)
    sigma, epsilon = math.sqrt(rounds / (2 * 0.9 * peer.rho)), math.sqrt(8 * 0.1 * peer.rho / rounds)
    log = [peer.measured((name,), sigma) for name in peer.names]
    used = len(peer.names) * 0.5 / sigma**2
    model = peer.model(log, steps)
    done = False
    while not done:
        if peer.rho - used < 2 * (0.5 / sigma**2 + epsilon**2 / 8):
            left = peer.rho - used
            sigma, epsilon, done = math.sqrt(1 / (2 * 0.9 * left)), math.sqrt(8 * 0.1 * left), True
        used += 0.5 / sigma**2 + epsilon**2 / 8
        free = {
            part
            for one in model.cliques
            for size in range(1, len(one) + 1)
            for part in itertools.combinations(one, size)
        }
        limit = most_megabytes * used / peer.rho
        allowed = [
            one
            for one in sorted(candidates)
            if one in free or junction_tree.hypothetical_model_size(peer.domain, [*model.cliques, one]) <= limit
        ]
        scores = {}
        for one in allowed:
            estimate = np.asarray(model.project(one).datavector())
            bias = math.sqrt(2 / math.pi) * sigma * estimate.size
            scores[one] = weight[one] * (float(np.abs(peer.exact(one) - estimate).sum()) - bias)
        chosen = peer.choose(scores, epsilon, max(weight[one] for one in allowed))
        before = np.asarray(model.project(chosen).datavector())
        log.append(peer.measured(chosen, sigma))
        model = peer.model(log, steps, model)
        moved = float(np.abs(np.asarray(model.project(chosen).datavector()) - before).sum())
        if moved <= sigma * math.sqrt(2 / math.pi) * before.size:
            sigma, epsilon = sigma / 2, epsilon * 2
    return model


def main() -> None:
    """Arguments: problem.npz, mst or aim, epsilon, seed, megabytes of AIM's model. Prints rows that it invents."""
    problem, name, epsilon, seed, megabytes = sys.argv[1:]
    data = np.load(problem)
    peer = Peer(data["codes"], data["sizes"].tolist(), rho_for(float(epsilon), 1e-9), int(seed))
    np.random.seed(int(seed))
    model = mst(peer) if name == "mst" else aim(peer, float(megabytes))
    made: Dataset = model.synthetic_data(rows=len(peer.codes))
    columns = made.to_dict() if hasattr(made, "to_dict") else made.data
    print(json.dumps(np.column_stack([np.asarray(columns[attribute]) for attribute in peer.names]).tolist()))


if __name__ == "__main__":
    main()
