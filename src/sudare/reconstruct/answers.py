"""What a reconstructed distribution answers, and how far the answer may be off: bands from the bootstrap.

Records are drawn again from the ones there are, as many, and the distribution is reconstructed from them in the same
way (same smoothing and steps, same number of components). What the answers vary by tells how far noise and sampling
carry them. It does not tell how far smoothing does: an estimate that must not follow the noise cannot follow a needle
either, and a band around a smoothed needle lies beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sudare.arrays import Floats
from sudare.errors import ParameterError, did_you_mean

ANSWERS = ("histogram", "density", "quantiles")


@dataclass(frozen=True)
class Bands:
    """An answer with the interval, entry by entry, in which ``level`` of the redrawn answers lie."""

    value: Floats
    low: Floats
    high: Floats
    level: float


class Answering(Protocol):
    """A distribution that can be reconstructed from redrawn records."""

    def again(self, generator: np.random.Generator) -> Any:
        """The same estimate from records drawn again."""


def bands(
    fitted: Answering, answer: str, *arguments: Any, level: float, repetitions: int, seed: int, **named: Any
) -> Bands:
    """The answer of that name with its bands.

    The bands are centred on the answer: from it, the distances of the redrawn answers from their own middle are
    measured, because smoothing moves all of them to one side.
    """
    if answer not in ANSWERS:
        raise ParameterError("no such answer", value=answer, allowed=ANSWERS, hint=did_you_mean(str(answer), ANSWERS))
    if not 0 < level < 1:
        raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
    if repetitions < 2:
        raise ParameterError("too few repetitions for a band", value=repetitions, allowed="at least 2")
    generator = np.random.default_rng(seed)
    value = np.asarray(getattr(fitted, answer)(*arguments, **named), dtype=np.float64)
    drawn = [
        np.asarray(getattr(fitted.again(generator), answer)(*arguments, **named), dtype=np.float64)
        for _ in range(repetitions)
    ]
    low, middle, high = np.quantile(drawn, [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0)
    lower, upper = value + low - middle, value + high - middle
    if answer != "quantiles":
        lower, upper = np.maximum(lower, 0), np.maximum(upper, 0)
    return Bands(value, lower, upper, level)
