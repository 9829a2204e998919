"""The closed form of amplification by shuffling: a bound that the summed one must never pass."""

import math


def closed_form(local: float, others: int, delta: float) -> float:
    """Feldman, McMillan and Talwar 2023: ln(1 + (e^x - 1)(4 sqrt(2 ln(4/d)/((e^x + 1) n)) + 4/n)), n the others.

    It holds for x <= ln(n/(8 ln(2/d)) - 1); elsewhere nothing better than x is known from it.
    """
    if others <= 8 * math.log(2 / delta) * (math.exp(local) + 1):
        return local
    spread = 4 * math.sqrt(2 * math.log(4 / delta) / ((math.exp(local) + 1) * others)) + 4 / others
    return min(local, math.log1p(math.expm1(local) * spread))
