"""What a browser needs to randomise an answer: chances as 128 bits that it compares with random bits.

A coin shows heads when 16 random bytes, read as a whole number, are below the threshold; so its chance is
exactly threshold / 2**128. The true chances are irrational, and each threshold is rounded to the side that
protects: what is more likely for the true answer down, what is more likely for the others up. The quotient of
the two is then at most that of the exact law, so a browser's report is epsilon-LDP with the printed epsilon, and its
law differs from the exact one by less than 2**-128 per coin, which no estimate can notice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sudare.local import Encoding
from sudare.local.encoding import power
from sudare.noise.thresholds import scaled_floor

PLACES = 128


def device_law(encoding: Encoding) -> dict[str, Any] | None:
    """The law of one report as plain JSON; None for an encoding that only programs can send.

    ``unary``: bit v is set with chance ``own`` for the true answer and ``other`` for each of the others.
    ``response``: with chance ``change`` the report is one of the other answers, all equally likely.

    >>> from sudare.local import OptimisedUnary
    >>> device_law(OptimisedUnary(size=3, epsilon=1))["own"]
    '80000000000000000000000000000000'
    """
    size, epsilon = encoding.size, encoding.epsilon
    if encoding.name == "symmetric_unary":
        other = _above(lambda real: 1 / (1 + power(real, epsilon / 2)))
        return {"kind": "unary", "own": _hex((1 << PLACES) - other), "other": _hex(other)}
    if encoding.name == "optimised_unary":
        other = _above(lambda real: 1 / (1 + power(real, epsilon)))
        return {"kind": "unary", "own": _hex(1 << (PLACES - 1)), "other": _hex(other)}
    if encoding.name == "randomised_response":
        change = _above(lambda real: (size - 1) / (power(real, epsilon) + size - 1))
        return {"kind": "response", "change": _hex(change)}
    return None


def _above(chance: Callable[[Any], Any]) -> int:
    """The least whole number above 2**128 times an irrational chance."""
    return scaled_floor(chance, PLACES) + 1


def _hex(threshold: int) -> str:
    return f"{threshold:0{PLACES // 4}x}"
