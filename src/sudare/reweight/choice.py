"""Which basis a fit uses, from what was asked and from public things; private centres are measured or drawn here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from sudare.errors import Message, ParameterError, did_you_mean
from sudare.noise import Source
from sudare.privacy import Budget
from sudare.reweight.basis import Basis
from sudare.reweight.centres import declared_centres, enough, noisy_centres, public_centres, public_width, raw_centres
from sudare.reweight.checks import checked_number, one_of
from sudare.reweight.gaussian_process import GaussianProcess
from sudare.reweight.hats import Hats
from sudare.reweight.kernel import Kernel
from sudare.reweight.space import STEPS, Codes, Space

BASES = ("hats", "kernel")
CENTRES = ("public", "noisy", "raw")
KNOTS, KERNELS = 20, 10
_JOINT = 2
"""Up to so many columns, all pairs are taken together; with more, each column has its own shares."""


@dataclass(frozen=True)
class BasisChoice:
    """What was asked of the basis. ``centres`` is a word of `CENTRES` or declared points."""

    basis: str | Basis | None
    centres: Any
    number: int | None
    width: float | None
    pairs: str | Sequence[tuple[str, str]]
    estimator: str
    gaussian: bool

    @property
    def private_centres(self) -> str | None:
        """ "noisy" or "raw", where the centres are private records."""
        return self.centres if isinstance(self.centres, str) and self.centres in ("noisy", "raw") else None

    def checked(self, space: Space) -> BasisChoice:
        """Itself, or the reason why it cannot be."""
        if isinstance(self.centres, str):
            one_of(self.centres, CENTRES, Message("kind of centres"))
        if isinstance(self.basis, str):
            one_of(self.basis, BASES, Message("basis"))
        if self.private_centres and self.basis not in (None, "kernel"):
            raise ParameterError("centres from private records belong to kernels", value=self.centres)
        if self.private_centres == "noisy" and self.gaussian:
            raise ParameterError("noisy centres take epsilon alone", hint='Leave delta out, or use centres="public".')
        checked_number(self.number, KNOTS)
        self._pairs(space)
        return self

    def of_public(self, space: Space, public: Codes) -> Basis:
        """The basis that public things decide."""
        if self.basis is not None and not isinstance(self.basis, str):
            return self.basis
        declared = None if isinstance(self.centres, str) else declared_centres(space, self.centres)
        several = len(space.attributes) > 1
        kernel = self.basis == "kernel" or self.estimator == "ulsif" or (declared is not None and several)
        if not kernel or self.basis == "hats":
            if declared is not None and several:
                raise ParameterError("declared centres of hats are the knots of one number", hint='Use basis="kernel".')
            if declared is not None:
                return Hats.at(public, declared[:, 0])
            knots = checked_number(self.number, KNOTS)
            if self.number is not None:
                enough(knots, len(public), Message("public"))
            return Hats.of(space, public, knots, self._pairs(space))
        number = checked_number(self.number, min(KERNELS * len(space.attributes), len(public)))
        centres = public_centres(space, public, number) if declared is None else declared
        return self.of_centres(space, public, centres)

    def of_centres(self, space: Space, public: Codes, centres: Codes) -> Basis:
        """Kernels at given centres, as wide as public rows are apart, or as was asked (in declared ranges)."""
        width = public_width(space, public) if self.width is None else float(self.width) * STEPS
        kernel = Kernel(space, centres, width)
        return GaussianProcess(kernel) if self.gaussian else kernel

    def of_private(
        self, space: Space, public: Codes, private: Codes, budget: Budget, share: Fraction, source: Source
    ) -> tuple[Basis, Budget, tuple[Fraction, Fraction] | None]:
        """Kernels at private records; what is left of the budget; and (epsilon' spent, epsilon it may cost) of A."""
        number = checked_number(self.number, min(KERNELS * len(space.attributes), len(private)))
        if self.private_centres == "raw":
            return self.of_centres(space, public, raw_centres(private, number, source)), budget, None
        own, rest = budget.split([share, 1 - share])
        centres, spent = noisy_centres(space, private, number, own.amount, source)
        return self.of_centres(space, public, centres), rest, (spent, own.amount)

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
                    raise ParameterError("a pair names no column", value=name, hint=did_you_mean(str(name), places))
            if len(set(pair)) != 2:
                raise ParameterError("a pair is two columns", value=tuple(pair))
            found.append((places[pair[0]], places[pair[1]]))
        return found
