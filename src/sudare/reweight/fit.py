"""`fit`: a public data set weighted so that it answers for a private one.

A request is checked before anything private is read (`FitRequest.of`); recipes make the same request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.domain.ids import MissingUnit
from sudare.errors import AccountingError, Message, ParameterError
from sudare.noise import Meter, Source, metered, secret
from sudare.parameters import keywords_of
from sudare.privacy import Budget, Guarantee, Number, Unit, whole
from sudare.privacy.guarantee import warn_of
from sudare.reweight.basis import Adjacency, Basis
from sudare.reweight.choice import ESTIMATORS, FitParameters, costs_at_most
from sudare.reweight.estimators import fit_importance, fit_tilt, fit_ulsif
from sudare.reweight.measurement import (
    ADJACENCY,
    NoisyMean,
    budget_of,
    checked_share,
    checked_size,
    measure_mean,
    promise,
)
from sudare.reweight.ratio import checked_regularisation
from sudare.reweight.rows import (
    PublicFeatures,
    Rows,
    checked_people,
    checked_public,
    columns_of,
    guarded,
    one_of,
    read_rows,
)
from sudare.reweight.space import Space
from sudare.reweight.weighting import Weighting

_IMPORTANCE_STRENGTH = 0.01


@dataclass(frozen=True)
class FitRequest:
    """What is asked of a fit, checked. ``protected`` is the unit of the guarantee."""

    space: Space
    epsilon: Number
    asked: FitParameters
    protected: Unit

    @classmethod
    def of(
        cls, space: Space, epsilon: Number | None, asked: FitParameters, protected: Unit | None = None
    ) -> FitRequest:
        """The request, or the reason why there is none."""
        unit, max_rows = asked.unit, asked.max_rows
        budget_of(epsilon, asked.delta)
        one_of(asked.estimator, ESTIMATORS, Message("estimator"))
        one_of(asked.adjacency, tuple(ADJACENCY), "adjacency")
        asked.check_basis(space)
        if max_rows is not None:
            whole(max_rows, "max_rows")
            if unit is None:
                raise ParameterError("max_rows needs a unit", value=max_rows, hint="Say with unit= whose row each is.")
        if checked_size(asked.size) is not None and asked.adjacency == "replace":
            raise ParameterError("a declared size belongs to the add_remove adjacency", value=asked.size)
        if asked.private_centres:
            _refuse_private_centres(asked)
        if asked.estimator == "importance" and (asked.adjacency != "replace" or (unit is not None and max_rows != 1)):
            raise ParameterError("importance weighting needs the replace adjacency and one row per person")
        if asked.regularisation is not None:
            checked_regularisation(asked.regularisation)
        checked_share(asked.split)
        MissingUnit.of(asked.missing_unit)
        named = Unit() if unit is None else Unit("person", max_rows or 1)
        return cls(space, epsilon or 0, asked, protected or named)

    @property
    def adjacency(self) -> Adjacency:
        """Who neighbours are."""
        return "replace" if self.asked.adjacency == "replace" else "add_remove"

    @property
    def budget(self) -> Budget:
        """What the measurements cost in all."""
        return budget_of(self.epsilon, self.asked.delta)

    @property
    def guarantee(self) -> Guarantee:
        """What the result will promise: known before any private value is."""
        return promise(
            self.epsilon,
            self.asked.delta,
            adjacency=self.adjacency,
            unit=self.protected,
            equal_rows=self.adjacency == "replace" and (self.asked.max_rows or 1) > 1,
            raw=self.asked.private_centres == "raw",
        )

    def read(self, private: Any, source: Source) -> Iterable[Rows]:
        """The private rows, in parts where an iterator of parts is given; at most ``max_rows`` of each person."""
        unit, max_rows = self.asked.unit, self.asked.max_rows
        if isinstance(private, Iterator):
            if unit is not None or self.asked.private_centres:
                raise ParameterError(
                    "private data in parts must have one row for each person",
                    hint="Without parts, people with several rows and centres from private records are possible.",
                )
            return (read_rows(part, self.space, Message("private")) for part in private)
        rows = read_rows(private, self.space, Message("private"), unit, MissingUnit.of(self.asked.missing_unit))
        if unit is not None and max_rows is not None:
            rows = rows.chosen(max_rows, np.random.default_rng(secret(source, "choice of rows")))
        return [rows]

    def meet(self, private: Iterable[Rows], public: Any, source: Source) -> Weighting:
        """Weights for the rows of ``public``; the measurements must cost exactly the budget, which is checked."""
        columns, asked = columns_of(public, self.space, Message("public")), self.asked
        below = self.space.encode(columns)
        checked_public(self.space, below)
        sample, codes = None, np.empty((0, 0))
        if asked.private_centres or asked.estimator == "importance":
            private = list(private)
            codes = np.concatenate([rows.codes for rows in private])
            checked_people(len(codes))
        with metered() as meter:
            if asked.private_centres:
                basis, budget, sample = asked.of_private(self.space, below, codes, self.budget, source)
            else:
                basis, budget = asked.of_public(self.space, below), self.budget
            features = PublicFeatures(basis, below)
            if asked.estimator == "importance":
                strength = asked.regularisation or _IMPORTANCE_STRENGTH
                model, weights, facts, measured = fit_importance(self.space, features, codes, budget, strength, source)
            else:
                measured = self._measured(basis, private, budget, source)
        _check(meter, self.budget, sample, int(measured.people), basis.size)
        if asked.estimator == "tilt":
            model, weights, facts = fit_tilt(self.space, features, measured)
        elif asked.estimator == "ulsif":
            model, weights, facts = fit_ulsif(self.space, features, measured, asked.regularisation)
        guarantee = self.guarantee.without_protection() if source.seeded else self.guarantee
        centres = asked.centres if isinstance(asked.centres, str) else "declared"
        parameters = {"centres": centres, "adjacency": self.adjacency, **facts}
        return Weighting(model, weights, guarantee, asked.estimator, parameters, measured, columns, features)

    def _measured(self, basis: Basis, private: Iterable[Rows], budget: Budget, source: Source) -> NoisyMean:
        """Sum the features over the private rows, part by part, and measure their mean."""
        total, people, max_rows = np.zeros(basis.size, dtype=np.int64), 0, self.asked.max_rows or 1
        for rows in private:
            total += rows.total(basis)
            people += rows.people
        if self.adjacency == "replace":
            checked_people(people)
        averaged = self.asked.unit is not None and self.asked.max_rows is None
        reach, size = basis.reach(self.adjacency, averaged).times(max_rows), checked_size(self.asked.size)
        return measure_mean(
            basis, total, people, reach, budget, source, adjacency=self.adjacency, size=size, max_rows=max_rows
        )


def _refuse_private_centres(asked: FitParameters) -> None:
    """Centres that are private records: one row of each person, their number public, and raw ones only on demand."""
    if asked.private_centres == "raw" and asked.accept_raw_records is not True:
        raise ParameterError(
            "raw centres publish real records",
            value="raw",
            hint="Whoever is drawn has no protection (the delta of the paper is centres / records). To compare with the"
            " paper all the same, say accept_raw_records=True.",
        )
    if asked.adjacency != "replace":
        raise ParameterError("centres from private records need the replace adjacency", value=asked.adjacency)
    if asked.unit is not None and asked.max_rows != 1:
        raise ParameterError(
            "centres from private records need one row per person", value=asked.max_rows, allowed="max_rows=1"
        )


def _check(meter: Meter, budget: Budget, sample: tuple[Fraction, Fraction] | None, people: int, centres: int) -> None:
    """Check that the measurements cost exactly the budget; those of a sample count with their amplified cost."""
    if sample is None:
        meter.check(budget)
        return
    spent, own = sample
    if not costs_at_most(spent, centres, people, own):
        raise AccountingError("the centres cost more than their share", value=str(spent), allowed=[own])
    costs = []
    for label, cost, final in meter.costs:
        if label == "centres" and cost != Budget(epsilon=spent):
            raise AccountingError("the centres cost something else than was planned", value=label)
        costs.append((label, Budget(epsilon=own) if label == "centres" else cost, final))
    replace(meter, costs=costs).check(budget)


@keywords_of(FitParameters)
def fit(
    private: Any,
    public: Any,
    epsilon: Number | None = None,
    *,
    parameters: FitParameters,
    confirm_overlap: bool = False,
    seed: int | None = None,
    source: Source | None = None,
) -> Weighting:
    """Weights for the rows of ``public`` so that weighted averages answer for ``private``, at a cost of ``epsilon``.

    Data are arrays (rows,) or (rows, columns) with ``bounds`` a list of pairs; or columns by name (a dictionary, a
    frame, a file, `sudare.read` records) with ``bounds`` and ``categories`` by name. Numbers outside their bounds count
    as at the bound. ``private`` may also be an iterator of such parts, read once.

    What is measured is the mean of a ``basis`` over the private records: "hats" (default; shares of records near
    ``number`` knots of each column, jointly for two columns or for named ``pairs``), "kernel" (Gaussian kernels at
    ``number`` centres, ``width`` in declared ranges; with ``delta`` the noise has their shape), "polynomial" (monomials
    up to ``degree``), "fourier" (``number`` random waves), or `Functions` of your own. ``centres`` are "public"
    (quantiles or rows of the public data: method B of Takabayashi et al.), declared points, "noisy" (records with
    noise, method A, which ``split`` of epsilon goes to: errata U4), or "raw" (records as they are, method C, only with
    ``accept_raw_records=True``: errata U3).

    ``estimator``: "tilt", "ulsif" (whose ``regularisation`` is chosen from public things where not given), or
    "importance" (the importance weighting mechanism on polynomials of ``degree``; its ``regularisation`` is 0.01).
    ``delta``: Gaussian noise. ``adjacency``: "replace" (the number of records is public) or "add_remove" (it is
    measured, or declared as ``size``). ``unit``: the column, or the ids, of people with several rows: each counts once
    with the mean of their rows, or, with ``max_rows``, with so many rows at most; rows without an id are refused, or
    left out with ``missing_unit="drop"``. ``seed`` is for experiments: such a result promises nothing.

    ``public`` is not ``private``: the same object, file or rows are refused, and where rows are shared that nothing but
    copying explains, ``confirm_overlap=True`` says that these are public.

    >>> import numpy as np
    >>> sample = np.random.default_rng(1)
    >>> private, public = sample.normal(2, 0.5, 2000), sample.normal(1, 1, 50)
    >>> made = fit(private, public, epsilon=1.0, bounds=[(-4, 6)], centres="public")
    >>> made.weights.shape, str(made.guarantee).split(";")[0]
    ((50,), 'epsilon-DP with epsilon = 1')
    """
    request = FitRequest.of(parameters.space, epsilon, parameters)
    noise = Source.chosen(source, seed)
    private = guarded(private, public, request.space, parameters.unit, noise.seeded, confirm_overlap)
    made = request.meet(request.read(private, noise), public, noise)
    warn_of(made.guarantee)
    return replace(made, guarantee=made.guarantee.unbooked())
