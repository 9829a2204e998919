"""What a k-anonymous sample is good for beside tables of the same epsilon: the future work of Horigome (2020)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from sudare.anonymity.lattice import Tuples
from sudare.anonymity.recoders import recode
from sudare.anonymity.recoding import Recoding
from sudare.arrays import Floats
from sudare.domain import Categories, CountTable, Domain
from sudare.noise import Source
from sudare.noise.response import draw_sample
from sudare.privacy import exact
from sudare.tables.laplace import Laplace
from sudare.tables.release import release
from sudare.tables.tree import Tree


def sampled(population: Tuples, sample: Fraction, source: Source) -> Tuples:
    """The tuples of a sample, each record drawn with the probability ``sample``."""
    counts = draw_sample(population.counts, sample, source)
    return population.selected(counts > 0, counts[counts > 0])


@dataclass(frozen=True)
class Utility:
    """Mean error of the marginals of one and of two attributes, L1 in percent of the records (0 to 200)."""

    one: float
    two: float


def utility(population: Tuples, sample: Fraction, k: int, epsilon: float, runs: int) -> dict[str, Utility]:
    """Marginals from the k-anonymous sample (a class counts evenly for all its leaves, times 1/beta), and from tables
    released at ``epsilon``, the guarantee of such a sample under a fixed generalisation at delta = 10**-6."""
    sizes = [len(tree.leaves) for tree in population.hierarchies]
    true = np.zeros(sizes)
    true[tuple(population.codes.T)] = population.counts
    domain = Domain(
        order=None,
        **{
            name: Categories([str(leaf) for leaf in tree.leaves])
            for name, tree in zip(population.names, population.hierarchies, strict=True)
        },
    )
    index = domain.index(*population.codes.T.astype(np.int64))
    order = np.argsort(index)
    table = CountTable(domain, index[order], population.counts[order])
    errors: dict[str, list[tuple[float, float]]] = {}
    for run in range(runs):
        drawn = sampled(population, sample, Source.from_seed(run))
        made = recode(drawn, drawn.judge(k), "greedy").published(k)
        estimates = {"k-anonymous sample": _spread(made, sizes) / float(sample)}
        for name, method in (("Laplace", Laplace(clip=True)), ("Tree", Tree())):
            estimates[name] = release(table, method, exact(str(epsilon)), seed=run).table.to_array().astype(np.float64)
        for name, found in estimates.items():
            errors.setdefault(name, []).append(_marginal_errors(true, found))
    return {name: Utility(*np.mean(found, axis=0).tolist()) for name, found in errors.items()}


def _spread(made: Recoding, sizes: list[int]) -> Floats:
    """The records of every class spread evenly over the leaves under its cells."""
    found = np.zeros(sizes)
    spans = [tree.spans(made.cells[:, place]) for place, tree in enumerate(made.tuples.hierarchies)]
    for number, size in enumerate(made.sizes):
        box = tuple(slice(int(low[number]), int(high[number])) for low, high in spans)
        found[box] += size / found[box].size
    return found


def _marginal_errors(true: Floats, found: Floats) -> tuple[float, float]:
    axes = range(true.ndim)
    means = []
    for kept in (1, 2):
        gaps = []
        for chosen in combinations(axes, kept):
            rest = tuple(axis for axis in axes if axis not in chosen)
            gaps.append(100 * float(np.abs(true.sum(axis=rest) - found.sum(axis=rest)).sum() / true.sum()))
        means.append(float(np.mean(gaps)))
    return means[0], means[1]
