"""The parameters of a fit, and the choice of its basis and centres from them and public data.

Centres of kernels are public points (Takabayashi et al.'s method B), noisy records (A: errata U4), or raw records (C:
errata U3). Noisy centres are amplified by sampling. b of n records are drawn without replacement and released in random
order; for the replacement of a record, a measurement of the sample with epsilon' costs
epsilon = ln(1 + (e^epsilon' - 1) b / n) in all (Balle, Barthe and Gaboardi 2018). In record order it would cost more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats
from sudare.domain.ids import MissingUnit
from sudare.errors import InputError, Message, ParameterError, did_you_mean
from sudare.noise import Source, measure, secret
from sudare.privacy import Budget, Number
from sudare.privacy.zcdp import interval, intervals
from sudare.reweight.basis import Basis
from sudare.reweight.functions import Fourier, Functions, Polynomial
from sudare.reweight.hats import Hats
from sudare.reweight.kernel import GaussianProcess, Kernel
from sudare.reweight.measurement import checked_share
from sudare.reweight.ratio import points
from sudare.reweight.rows import checked_number, one_of
from sudare.reweight.space import STEPS, Codes, Numeric, Space


def affordable(epsilon: Fraction, sample: int, people: int) -> Fraction:
    """The largest epsilon' known to cost at most ``epsilon``, rounded down to 12 digits.

    >>> float(affordable(Fraction(1, 2), 50, 2000))
    3.293940655555
    """
    exact = math.log1p(math.expm1(float(epsilon)) * people / sample)
    digits = Fraction(1, 10**12)
    candidate = Fraction(math.floor(Fraction(exact) / digits)) * digits
    while not costs_at_most(candidate, sample, people, epsilon):
        candidate -= digits * 10
    return candidate


def costs_at_most(spent: Fraction, sample: int, people: int, epsilon: Fraction) -> bool:
    """Whether ``spent`` on the sample certainly costs no more than ``epsilon``: in interval arithmetic.

    >>> costs_at_most(Fraction(3), 50, 2000, Fraction(1, 2)), costs_at_most(Fraction(4), 50, 2000, Fraction(1, 2))
    (True, False)
    """
    exp = intervals().exp
    cost = 1 + (exp(interval(spent)) - 1) * interval(Fraction(sample, people))
    return bool(cost.b <= exp(interval(epsilon)).a)


_SAMPLE = 1000
_PUBLIC_SEED = 20090801


def public_centres(space: Space, public: Codes, number: int) -> Codes:
    """Quantiles of the public rows where there is one number, else rows of them drawn with a public seed."""
    enough(number, len(public), Message("public"))
    if len(space.attributes) == 1 and space.numeric:
        return np.unique(np.rint(np.quantile(public[:, 0], (np.arange(number) + 0.5) / number)))[:, None]
    chosen = np.random.default_rng(_PUBLIC_SEED).permutation(len(public))[:number]
    return np.unique(public[chosen], axis=0)


def declared_centres(space: Space, grid: ArrayLike) -> Codes:
    """Points (centres, columns) given by the caller, within the bounds."""
    if not space.numeric:
        raise ParameterError("declared centres need columns that are all numbers", hint='Use centres="public".')
    declared = points(grid)
    if declared.shape[1] != len(space.attributes):
        raise InputError(
            "the centres have another number of columns than are declared",
            value=declared.shape[1],
            allowed=[len(space.attributes)],
        )
    if not len(declared):
        raise ParameterError("there are no centres", allowed="at least one")
    return space.encode(dict(zip(space.names, declared.T, strict=True)))


def public_width(space: Space, public: Codes) -> float:
    """The median distance between public rows over sqrt 2, in steps: from at most 1,000 evenly chosen rows."""
    rows = public[np.linspace(0, len(public) - 1, min(_SAMPLE, len(public))).astype(np.int64)]
    embedded: Floats = space.embed(rows)
    squares = (embedded**2).sum(axis=1)
    square = squares[:, None] + squares - 2 * embedded @ embedded.T
    above = square[np.triu_indices(len(rows), 1)]
    typical = float(np.median(above)) or float(above.mean())
    return float(np.sqrt(max(typical, 2.0) / 2))


def noisy_centres(
    space: Space, private: Codes, number: int, epsilon: Fraction, source: Source
) -> tuple[Codes, Fraction]:
    """Method A: records drawn without replacement, in random order, each with Laplace noise over the declared ranges;
    and the epsilon' that was spent on the sample.

    Sensitivity: given which places are drawn, replacing a record changes at most one centre, by at most STEPS in each
    column: columns x STEPS in L1 for all centres together. Drawing amplifies (see `sudare.reweight.choice`):
    noise for epsilon' costs ``epsilon``. The number of records is public.
    """
    if not all(isinstance(attribute, Numeric) for attribute in space.attributes):
        raise ParameterError("noisy centres need columns that are all numbers", hint='Use centres="public".')
    drawn = _drawn(private, number, source)
    spent = affordable(epsilon, number, len(private))
    exact = drawn.astype(np.int64)
    noisy = measure(exact.ravel(), len(space.attributes) * STEPS, Budget(epsilon=spent), source, "centres")
    return np.clip(noisy, 0, STEPS).astype(np.float64).reshape(exact.shape), spent


def raw_centres(private: Codes, number: int, source: Source) -> Codes:
    """Method C: records as they are. This protects nobody who is drawn."""
    return _drawn(private, number, source)


def _drawn(private: Codes, number: int, source: Source) -> Codes:
    enough(number, len(private), Message("private"))
    generator = np.random.default_rng(secret(source, "which records"))
    return private[generator.permutation(len(private))[:number]]


def enough(number: int, rows: int, who: Message) -> None:
    """Refuse more centres than there are rows."""
    if number > rows:
        raise ParameterError(
            "there are more centres than {who} rows", value=number, allowed="at most {rows}", who=who, rows=rows
        )


ESTIMATORS = ("tilt", "ulsif", "importance")
BASES = ("hats", "kernel", "polynomial", "fourier")
CENTRES = ("public", "noisy", "raw")
KNOTS, KERNELS, WAVES = 20, 10, 50
_WIDTH = 0.2
_JOINT = 2
"""Up to this many columns, the joint shares of all pairs are measured; with more, those of each column alone."""


@dataclass(frozen=True, kw_only=True)
class FitParameters:
    """The parameters of `sudare.reweight.fit` beside the data and epsilon; described there."""

    bounds: Mapping[str, tuple[float, float]] | Sequence[tuple[float, float]] | None = None
    categories: Mapping[str, Sequence[Any]] | None = None
    centres: Any = "public"
    basis: str | Functions | None = None
    number: int | None = None
    width: float | None = None
    degree: int = 2
    pairs: str | Sequence[tuple[str, str]] = "auto"
    estimator: str = "tilt"
    regularisation: float | None = None
    delta: Number | None = None
    adjacency: str = "replace"
    size: Number | str | None = None
    unit: Any = None
    max_rows: int | None = None
    split: Number = Fraction(1, 2)
    accept_raw_records: bool = False
    missing_unit: str | MissingUnit = "error"

    @property
    def space(self) -> Space:
        """The declared columns."""
        return Space.declare(self.bounds, self.categories)

    @property
    def private_centres(self) -> str | None:
        """ "noisy" or "raw", where the centres are private records."""
        return self.centres if isinstance(self.centres, str) and self.centres in ("noisy", "raw") else None

    def check_basis(self, space: Space) -> None:
        """Refuse parameters of the basis that do not fit together."""
        if isinstance(self.centres, str):
            one_of(self.centres, CENTRES, Message("kind of centres"))
        if self.basis is not None and not isinstance(self.basis, Functions):
            one_of(self.basis, BASES, Message("basis"))
        if self.private_centres and self.basis not in (None, "kernel"):
            raise ParameterError("centres from private records belong to kernels", value=self.centres)
        if self.private_centres == "noisy" and self.delta is not None:
            raise ParameterError("noisy centres take epsilon alone", hint='Leave delta out, or use centres="public".')
        checked_number(self.number, KNOTS)
        self._pairs(space)

    def of_public(self, space: Space, public: Codes) -> Basis:
        """The basis that public things decide."""
        if self.estimator == "importance":
            return Polynomial(space, self.degree, constant=True, unit_length=True)
        if isinstance(self.basis, Functions):
            return self.basis.of(space, public)
        if self.basis == "polynomial":
            return Polynomial(space, self.degree, constant=self.estimator == "ulsif")
        if self.basis == "fourier":
            return Fourier(space, checked_number(self.number, WAVES), float(self.width or _WIDTH))
        declared = None if isinstance(self.centres, str) else declared_centres(space, self.centres)
        several = len(space.attributes) > 1
        kernel = self.basis == "kernel" or self.estimator == "ulsif" or (declared is not None and several)
        if not kernel or self.basis == "hats":
            if declared is not None and several:
                raise ParameterError(
                    "declared centres are knots of hats, and need a single column of numbers",
                    hint='Use basis="kernel".',
                )
            if declared is not None:
                return Hats.at(public, declared[:, 0])
            knots = checked_number(self.number, KNOTS)
            if self.number is not None:
                enough(knots, len(public), Message("public"))
            return Hats.of(space, public, knots, self._pairs(space))
        number = checked_number(self.number, min(KERNELS * len(space.attributes), len(public)))
        return self._kernel(space, public, public_centres(space, public, number) if declared is None else declared)

    def _kernel(self, space: Space, public: Codes, centres: Codes) -> Basis:
        """Kernels at given centres, as wide as public rows are apart, or as was asked (in declared ranges)."""
        width = public_width(space, public) if self.width is None else float(self.width) * STEPS
        kernel = Kernel(space, centres, width)
        return kernel if self.delta is None else GaussianProcess(kernel)

    def of_private(
        self, space: Space, public: Codes, private: Codes, budget: Budget, source: Source
    ) -> tuple[Basis, Budget, tuple[Fraction, Fraction] | None]:
        """Kernels at private records; what is left of the budget; and (epsilon' spent, epsilon it may cost) of A."""
        number = checked_number(self.number, min(KERNELS * len(space.attributes), len(private)))
        if self.private_centres == "raw":
            return self._kernel(space, public, raw_centres(private, number, source)), budget, None
        share = checked_share(self.split)
        own, rest = budget.split([share, 1 - share])
        centres, spent = noisy_centres(space, private, number, own.amount, source)
        return self._kernel(space, public, centres), rest, (spent, own.amount)

    def _pairs(self, space: Space) -> list[tuple[int, int]]:
        """Pairs of columns whose joint shares are measured."""
        places = {name: place for place, name in enumerate(space.names)}
        if isinstance(self.pairs, str):
            one_of(self.pairs, ("auto", "all", "none"), Message("choice of pairs"))
            joint = self.pairs == "all" or (self.pairs == "auto" and len(places) <= _JOINT)
            return list(combinations(range(len(places)), 2)) if joint else []
        found = []
        for pair in self.pairs:
            for name in pair:
                if name not in places:
                    raise ParameterError(
                        "a pair names an unknown column", value=name, hint=did_you_mean(str(name), places)
                    )
            if len(set(pair)) != 2:
                raise ParameterError("a pair is two columns", value=tuple(pair))
            found.append((places[pair[0]], places[pair[1]]))
        return found
