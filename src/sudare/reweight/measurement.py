"""The one private step: the mean of the features (errata U1), with exact noise; all that follows is post-processing.

The sensitivity of a mean differs by adjacency: under "replace" a record moves it by the reach of a feature over n,
under "add_remove" n changes as well and is measured or declared (errata U2).

Its cost and its guarantee (`budget_of`, `promise`) follow from public things alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.noise import Source, measure, noise_variance
from sudare.privacy import Budget, Fact, Guarantee, Number, Unit, asked_delta, positive, rho_for
from sudare.privacy.guarantee import ADJACENCIES
from sudare.reweight.basis import GRID, Adjacency, Basis, Reach

ADJACENCY = dict(zip(("add_remove", "replace"), ADJACENCIES, strict=True))
PUBLIC = (Fact("public_data"), Fact("declared"))


def budget_of(epsilon: Number | None, delta: Number | None = None) -> Budget:
    """Epsilon alone buys Laplace noise; with delta, the largest rho that is certainly (epsilon, delta)-DP."""
    if epsilon is None:
        raise ParameterError("epsilon is missing", allowed="a finite number > 0")
    exact = positive(epsilon, "epsilon")
    return Budget(epsilon=exact) if delta is None else Budget(rho=rho_for(exact, asked_delta(delta)))


def promise(
    epsilon: Number,
    delta: Number | None = None,
    *,
    adjacency: Adjacency = "replace",
    unit: Unit | None = None,
    equal_rows: bool = False,
    raw: bool = False,
) -> Guarantee:
    """What is promised for ``epsilon``; nothing where centres are ``raw``, records published as they are."""
    facts: dict[str, Any] = {
        "unit": unit or Unit(),
        "adjacency": ADJACENCY[adjacency],
        "public": (*PUBLIC, Fact("records")) if adjacency == "replace" else PUBLIC,
        "assumptions": (Fact("swaps"),) if equal_rows else (),
    }
    exact = positive(epsilon, "epsilon")
    if raw:
        return Guarantee("none", **{**facts, "assumptions": (*facts["assumptions"], Fact("raw_centres"))})
    if delta is None:
        return Guarantee("epsilon-DP", epsilon=exact, **facts)
    rho = budget_of(exact, delta).rho  # all of the noise is Gaussian then
    return Guarantee("(epsilon, delta)-DP", epsilon=exact, delta=positive(delta, "delta"), rho=rho, **facts)


def checked_share(share: Number) -> Fraction:
    """Of epsilon, what goes to the centres."""
    value = positive(share, "split")
    if value >= 1:
        raise ParameterError("split leaves nothing for the means", value=share, allowed="0 < split < 1")
    return value


SIZE_SHARE = Fraction(1, 5)
"""Of a budget, what goes to the number of records where it is private and the basis does not show it."""


@dataclass(frozen=True)
class NoisyMean:
    """A private mean (size,) as measured.

    ``variance`` is that of the noise on each entry, ``people`` the published number of units with the variance of its
    own noise, and ``sensitivity`` what the noise was scaled to, in units of the features.
    """

    value: Floats
    variance: float
    people: float
    sensitivity: float
    people_variance: float = 0.0


def measure_mean(
    basis: Basis,
    total: NDArray[np.int64],
    people: int,
    reach: Reach,
    budget: Budget,
    source: Source,
    *,
    adjacency: Adjacency,
    size: Number | None = None,
    max_rows: int = 1,
) -> NoisyMean:
    """Measure the mean of ``basis`` over ``people`` private units whose exact ``total`` is given.

    Sensitivity: a unit moves the total by at most ``reach`` (the basis proves it, rounding included), in L1 for epsilon
    and in L2 for rho; the noise never depends on the number of units. Under "replace" that number is public and
    divides. Under "add_remove" it is declared (``size``), shown by the basis, or measured with a fifth of the budget.
    """
    sensitivity = reach.l1 if budget.epsilon is not None else reach.l2
    counted, doubt = float(people), 0.0
    shown = adjacency == "add_remove" and size is None and basis.people(np.zeros_like(total)) is not None
    if adjacency == "add_remove" and size is not None:
        counted = float(positive(size, "size"))
    elif adjacency == "add_remove" and not shown:
        budget, own = budget.split([1 - SIZE_SHARE, SIZE_SHARE])
        counted = max(1.0, float(measure(np.array([people]), max_rows, own, source, "size")[0]))
        doubt = noise_variance(max_rows, own)
    noisy = measure(basis.measured(total), sensitivity, budget, source, "means")
    variance = noise_variance(sensitivity, budget) / GRID**2
    if shown:
        counted = basis.people(noisy) or 1.0
        doubt = variance * basis.size
    value = basis.consistent(noisy / (GRID * counted))
    return NoisyMean(value, variance / counted**2, counted, float(sensitivity) / GRID, doubt)


def checked_size(size: Any) -> Number | None:
    """None or "noisy", or a declared number."""
    if size is None or size == "noisy":
        return None
    try:
        return positive(size, "size")
    except ParameterError:
        raise ParameterError("size is not a declared number", value=size, allowed='"noisy" or a number > 0') from None
