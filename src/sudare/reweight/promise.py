"""What a reweighting costs and promises, from public things alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sudare.errors import ParameterError
from sudare.privacy import Budget, Fact, Guarantee, Number, Unit, asked_delta, positive, rho_for
from sudare.privacy.guarantee import ADJACENCIES
from sudare.reweight.basis import Adjacency

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
