"""The terms of an anonymised sample, checked, and the guarantee that follows from them, before any record is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from sudare.anonymity.delta import checked_k, checked_rate, smallest_epsilon, smallest_k, some_epsilon_gives
from sudare.anonymity.delta import delta as delta_of
from sudare.anonymity.recoders import METHODS
from sudare.anonymity.requirements import Requirement
from sudare.errors import Message, ParameterError
from sudare.privacy import Fact, Guarantee, Number, Unit, asked_delta, positive, sequential
from sudare.privacy.budget import LARGEST_DELTA

DEFAULT_DELTA = Fraction(1, 10**6)
DEFAULT_EPSILON = Fraction(1)
_ORIGINS = ("levels", "learn_on", "choose_epsilon", "method")
_FOUR = Message(
    "levels= (fixed), learn_on= (public data), choose_epsilon= (a charged private choice), or method= "
    "({methods}: on the private records themselves, without differential privacy)",
    methods=", ".join(METHODS),
)


@dataclass(frozen=True)
class Terms:
    """What is asked of a sample. ``origin`` says where the generalisation comes from: one of `anonymize`'s four.

    ``epsilon`` and ``delta`` are those of the sampling, where differential privacy holds; else None. It does not where
    k is so small for the sampling rate that delta would be above 1/1000.

    >>> Terms.of(("age",), Unit(), k=20, sample=0.1, origin="levels", epsilon=1).honest
    True
    """

    columns: tuple[str, ...]
    unit: Unit
    k: int
    sample: Fraction | None
    origin: str
    choose_epsilon: Fraction | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def of(
        cls,
        columns: tuple[str, ...],
        unit: Unit,
        *,
        k: int,
        sample: Number | None,
        origin: str,
        choose_epsilon: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        requirements: tuple[Requirement, ...] = (),
    ) -> Terms:
        """The terms, checked. Without epsilon and delta, delta is 10**-6 and epsilon the smallest for it; where k is
        too small for any, epsilon is 1 and delta what it is, up to 1/1000: beyond, nothing is promised.
        """
        k = checked_k(k, least=2)
        alone = Message("Leave sample out to publish every record, k-anonymous only.")
        rate = None if sample is None else checked_rate(sample, hint_at_one=alone)
        charge = None if choose_epsilon is None else positive(choose_epsilon, "choose_epsilon")
        private = origin == "method" or bool(requirements)
        if private:
            for name, given in (("epsilon", epsilon), ("delta", delta)):
                if given is not None:
                    raise ParameterError("{name} belongs to a sample with differential privacy", value=given, name=name)
            if charge is not None:
                raise ParameterError(
                    "choose_epsilon cannot go with requirements on sensitive columns",
                    value=choose_epsilon,
                    hint="Publishing a sensitive column gives differential privacy up.",
                )
            return cls(columns, unit, k, rate, origin, requirements=requirements)
        if rate is None:
            raise ParameterError(
                "sample is missing: without sampling there is no differential privacy",
                allowed="0 < sample < 1",
                hint='With method="optimal" every record can be published, k-anonymous only.',
            )
        own_epsilon, own_delta = _promise(k, rate, epsilon, delta)
        if own_delta > LARGEST_DELTA:
            return cls(columns, unit, k, rate, origin, charge)
        return cls(columns, unit, k, rate, origin, charge, own_epsilon, own_delta)

    @property
    def honest(self) -> bool:
        return self.epsilon is not None

    @property
    def k_too_small(self) -> bool:
        """Whether a sample by a generalisation of its own promises nothing, because k is too small for its rate."""
        return not self.honest and self.origin != "method" and not self.requirements

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, from public facts alone."""
        columns = ", ".join(self.columns)
        facts = (Fact("hierarchies"), Fact("rate"), Fact("generalisation"))
        if self.k_too_small:
            return Guarantee("none", self.unit, public=(*facts, Fact("k_too_small")))
        if not self.honest:
            return Guarantee(
                "k-anonymity",
                self.unit,
                public=(
                    Fact("combinations", columns=columns, k=str(self.k)),
                    *(each.fact for each in self.requirements),
                    Fact("chosen" if self.origin == "method" else "sensitive"),
                ),
                assumptions=(Fact("knowledge", columns=columns),),
            )
        made = Guarantee("(epsilon, delta)-DP", self.unit, epsilon=self.epsilon, delta=self.delta, public=facts)
        if self.choose_epsilon is None:
            return made
        return sequential(made, Guarantee.pure(self.choose_epsilon, self.unit))


def one_origin(given: dict[str, Any]) -> str:
    """The one of the four ways to a generalisation that was given; method= may say how to learn on public data."""
    found = [name for name in _ORIGINS if given[name] is not None]
    if found == ["learn_on", "method"]:
        found = ["learn_on"]
    if len(found) != 1:
        raise ParameterError("anonymize needs exactly one source of the generalisation", value=found, allowed=_FOUR)
    return found[0]


def _promise(k: int, rate: Fraction, epsilon: Number | None, delta: Number | None) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of the theorem, whichever is given; both only if they hold."""
    if epsilon is None and (delta is not None or some_epsilon_gives(k, rate, DEFAULT_DELTA)):
        wanted = DEFAULT_DELTA if delta is None else asked_delta(delta)
        return smallest_epsilon(k=k, sample=rate, delta=wanted), wanted
    floor = Fraction(math.ceil(-math.log1p(-float(rate)) * 10**9), 10**9)
    level = max(DEFAULT_EPSILON, floor) if epsilon is None else positive(epsilon, "epsilon")
    found = _rounded_up(delta_of(k=k, sample=rate, epsilon=level))
    if delta is None:
        return level, found
    wanted = asked_delta(delta)
    if found > wanted:
        needed = smallest_k(sample=rate, epsilon=level, delta=wanted)
        raise ParameterError(
            "k is too small for this epsilon and delta at this sampling rate",
            value=k,
            allowed="at least {needed}",
            hint="Or sample fewer records: see anonymity.largest_sample.",
            needed=needed,
        )
    return level, wanted


def _rounded_up(probability: float) -> Fraction:
    """Six digits, upwards, past the error of the binomial tail."""
    above = Decimal(max(probability, 1e-300)) * (1 + Decimal(10) ** -9)
    return Fraction(Context(prec=6, rounding=ROUND_CEILING).plus(above))
