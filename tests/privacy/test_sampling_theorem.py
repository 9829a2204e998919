"""The theorem of Li, Qardaji and Su, by brute force: every sample of tiny data sets and of their neighbours.

Each output's exact probability, as a rational number, comes from running the recoding itself on every one of the 2**n
samples. The divergence between neighbours must not exceed delta; where something else than the mechanism of the
theorem is run (twins), it does.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from sudare.anonymity import Hierarchy, delta
from sudare.anonymity.choice import Exponential
from sudare.anonymity.lattice import Generalisation, Tuples
from sudare.anonymity.recoders import specialise
from sudare.anonymity.recoding import Recoding
from sudare.noise import Source
from sudare.noise.response import draw_sample

FALSE_ALARM = 1e-7
TREE = Hierarchy.from_nested({"a": ["a1", "a2"], "b": ["b1", "b2"]})
FIXED = Generalisation.at([TREE], [1])
Mechanism = Callable[[np.ndarray, int], Hashable]


def tuples_of(counts: np.ndarray) -> Tuples:
    some = np.flatnonzero(counts)
    return Tuples(("x",), (TREE,), some[:, None].astype(np.int32), counts[some].astype(np.int64))


def published(counts: np.ndarray, k: int) -> Hashable:
    """The mechanism of the theorem: a fixed generalisation, classes below k suppressed."""
    if not counts.any():
        return ()
    made = Recoding.everywhere(tuples_of(counts), FIXED).published(k)
    return tuple(zip(made.cells[:, 0].tolist(), made.sizes.tolist(), strict=True))


def law(data: tuple[int, ...], mechanism: Mechanism, k: int, beta: Fraction) -> dict[Hashable, Fraction]:
    """The exact distribution of outputs: data gives the leaf of each record."""
    chances: dict[Hashable, Fraction] = defaultdict(Fraction)
    weight: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for taken in product((0, 1), repeat=len(data)):
        counts = np.bincount(np.array(data, dtype=int), weights=taken, minlength=4).astype(int)
        weight[tuple(counts.tolist())] += beta ** sum(taken) * (1 - beta) ** (len(data) - sum(taken))
    for counted, chance in weight.items():
        chances[mechanism(np.array(counted), k)] += chance
    return chances


def divergence(one: dict[Hashable, Fraction], other: dict[Hashable, Fraction], epsilon: float) -> float:
    """The smallest delta for which one(S) <= e^epsilon other(S) + delta for all sets S of outputs."""
    factor = Fraction(math.exp(epsilon))
    return float(
        sum(max(chance - factor * other.get(output, Fraction(0)), Fraction(0)) for output, chance in one.items())
    )


def worst(data: tuple[int, ...], mechanism: Mechanism, k: int, beta: Fraction, epsilon: float) -> float:
    """The largest divergence between a data set and the same without one of its records, either way."""
    whole = law(data, mechanism, k, beta)
    found = 0.0
    for removed in {data.index(value) for value in data}:
        less = law(data[:removed] + data[removed + 1 :], mechanism, k, beta)
        found = max(found, divergence(whole, less, epsilon), divergence(less, whole, epsilon))
    return found


DATA = [
    (0,),
    (0, 0, 1),
    (0, 1, 2),
    (0, 0, 1, 1, 1),
    (0, 0, 0, 0, 2, 2, 3),
    (0, 1, 1, 1, 1, 1, 1, 1),
    (0, 0, 1, 2, 2, 2, 3, 3, 3),
]
SETTINGS = [(2, Fraction(3, 10), 0.5), (2, Fraction(3, 10), 1.5), (3, Fraction(1, 2), 0.8), (3, Fraction(1, 5), 0.23)]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("k", "beta", "epsilon"), SETTINGS)
def test_no_neighbour_is_told_apart_by_more_than_delta(
    data: tuple[int, ...], k: int, beta: Fraction, epsilon: float
) -> None:
    found = worst(data, published, k, beta, epsilon)
    assert found <= delta(k=k, sample=beta, epsilon=epsilon, tight=True) * (1 + 1e-9)
    assert found <= delta(k=k, sample=beta, epsilon=epsilon)


def test_the_tight_delta_is_reached() -> None:
    """Among classes of up to nine records there is one that needs all of it."""
    for k, beta, epsilon in ((2, Fraction(3, 10), 1.5), (3, Fraction(1, 2), 0.8)):
        found = max(worst((0,) * size, published, k, beta, epsilon) for size in range(1, 10))
        assert found == pytest.approx(delta(k=k, sample=beta, epsilon=epsilon, tight=True), rel=1e-9)


def without_suppression(counts: np.ndarray, k: int) -> Hashable:
    return published(counts, 1)


def with_the_suppressed_number(counts: np.ndarray, k: int) -> Hashable:
    return published(counts, k), int(counts.sum())


def with_a_sensitive_column(counts: np.ndarray, k: int) -> Hashable:
    """The classes have k rows, but the raw value is published beside them."""
    whole = published(counts, k)
    return whole, tuple(int(count) if (1 if leaf < 2 else 4) in dict(whole) else 0 for leaf, count in enumerate(counts))


def chosen_on_the_sample(counts: np.ndarray, k: int) -> Hashable:
    """The paper's algorithm: the generalisation looks at the sample."""
    if counts.sum() < k:
        return ()
    tuples = tuples_of(counts)
    made = Recoding.everywhere(tuples, specialise(tuples, tuples.judge(k)))
    return tuple(zip(made.cells[:, 0].tolist(), made.sizes.tolist(), strict=True))


@pytest.mark.parametrize(
    ("mechanism", "data"),
    [
        (without_suppression, (0,)),
        (with_the_suppressed_number, (0,)),
        (with_a_sensitive_column, (0, 1, 1, 1, 1, 1, 1, 1)),
        (chosen_on_the_sample, (0, 2, 2, 2, 2, 2, 2)),
    ],
)
def test_twins_that_break_the_theorem(mechanism: Mechanism, data: tuple[int, ...]) -> None:
    k, beta, epsilon = 3, Fraction(3, 10), 1.5
    bound = delta(k=k, sample=beta, epsilon=epsilon)
    assert worst(data, published, k, beta, epsilon) <= bound
    assert worst(data, mechanism, k, beta, epsilon) > bound


def test_the_sample_has_the_binomial_law() -> None:
    counts = np.full(200_000, 9)
    drawn = draw_sample(counts, Fraction(3, 10), Source.from_seed(11))
    observed = np.bincount(drawn, minlength=10)

    def p_value(rate: float) -> float:
        expected = stats.binom.pmf(np.arange(10), 9, rate) * len(counts)
        observed_thick = np.append(observed[:7], observed[7:].sum())
        expected_thick = np.append(expected[:7], expected[7:].sum())
        return float(stats.chisquare(observed_thick, expected_thick).pvalue)

    assert p_value(0.3) > FALSE_ALARM
    assert p_value(0.305) < FALSE_ALARM  # the twin


def test_the_choice_has_the_exponential_law() -> None:
    scores = np.array([0, 5, 9, 10, 10])
    mechanism = Exponential(Fraction(3, 2), 4)
    source = Source.from_seed(12)
    draws = [int(mechanism.draw(scores, source)[0]) for _ in range(8_000)]
    observed = np.bincount(draws, minlength=5)

    def p_value(rate: float) -> float:
        expected = np.exp(rate * scores / 4)
        return float(stats.chisquare(observed, expected / expected.sum() * len(draws)).pvalue)

    assert p_value(1.5) > FALSE_ALARM
    assert p_value(1.5 * 1.3) < FALSE_ALARM  # the twins
    assert p_value(1.5 / 1.3) < FALSE_ALARM


def test_the_choice_is_private_for_scores_that_rise_together() -> None:
    """Exact probabilities of neighbours whose scores rise by 0..sensitivity: the quotient stays within e^epsilon."""
    epsilon, sensitivity = 1.5, 4
    generator = np.random.default_rng(3)

    def chances(scores: np.ndarray) -> np.ndarray:
        weight = np.exp(epsilon * (scores - scores.max()) / sensitivity)
        return weight / weight.sum()

    largest = 0.0
    for _ in range(300):
        scores = generator.integers(0, 40, 12)
        rise = generator.choice([0, sensitivity], 12)
        largest = max(largest, float(np.abs(np.log(chances(scores + rise) / chances(scores))).max()))
        mixed = generator.choice([-sensitivity, sensitivity], 12)  # the twin: scores that move both ways
    assert largest <= epsilon + 1e-9
    apart = np.abs(np.log(chances(scores + mixed) / chances(scores))).max()
    assert apart > epsilon
