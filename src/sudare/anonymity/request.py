"""A request for an anonymised sample: all that is asked for, checked before a record is read, and how it is met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sudare.anonymity.anonymized import Anonymized
from sudare.anonymity.choice import choose_levels
from sudare.anonymity.classes import Classes
from sudare.anonymity.frames import hierarchies_of, read_tuples, refuse_identifiers, refuse_unique_values
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.lattice import Generalisation, Levels
from sudare.anonymity.recoders import LEARNING, METHODS, learn, recode
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.requirements import Requirement
from sudare.anonymity.terms import Terms, one_origin
from sudare.anonymity.tuples import Tuples
from sudare.domain.ids import REFUSE, MissingUnit
from sudare.errors import InputError, ParameterError, did_you_mean
from sudare.noise import Source, metered, sample, secret
from sudare.privacy import Budget, Number, Unit


@dataclass(frozen=True, kw_only=True)
class SampleParameters:
    """What `sudare.anonymity.anonymize` can be asked for beside records and hierarchies; it says what each means."""

    k: int
    sample: Number | None = None
    levels: Mapping[str, int] | None = None
    learn_on: Any = None
    choose_epsilon: Number | None = None
    method: str | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    require: Sequence[Requirement] = ()
    max_suppressed: float | None = None
    relaxed: bool = False
    unit: str | None = None
    missing: str = "error"
    missing_unit: str | MissingUnit = "error"


@dataclass(frozen=True)
class AnonymizeRequest:
    """What `anonymize` is asked for. `read` looks at the records, `meet` makes the sample."""

    hierarchies: dict[str, Hierarchy]
    terms: Terms
    method: str
    levels: Levels | None = None
    learn_on: Any = None
    limit: float | None = None
    relaxed: bool = False
    unit: str | None = None
    missing: str = "error"
    missing_unit: MissingUnit = REFUSE

    @classmethod
    def of(
        cls, hierarchies: Mapping[str, Any], asked: SampleParameters, protected: Unit | None = None
    ) -> AnonymizeRequest:
        """The request, checked. ``protected`` names who the unit is."""
        levels, learn_on, method, relaxed = asked.levels, asked.learn_on, asked.method, asked.relaxed
        unit, missing = asked.unit, asked.missing
        origin = one_origin(
            {"levels": levels, "learn_on": learn_on, "choose_epsilon": asked.choose_epsilon, "method": method}
        )
        how = _method(method, origin, relaxed)
        trees = hierarchies_of(hierarchies, missing)
        fixed = None if levels is None else _levels(levels, trees)
        terms = Terms.of(
            tuple(trees),
            protected or (Unit() if unit is None else Unit("person")),
            k=asked.k,
            sample=asked.sample,
            origin=origin,
            choose_epsilon=asked.choose_epsilon,
            epsilon=asked.epsilon,
            delta=asked.delta,
            requirements=_requirements(asked.require, trees),
        )
        limit, without = _limit(asked.max_suppressed, origin), MissingUnit.of(asked.missing_unit)
        return cls(trees, terms, how, fixed, learn_on, limit, relaxed, unit, missing, without)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that are published as they are."""
        return tuple(dict.fromkeys(requirement.column for requirement in self.terms.requirements))

    @cached_property
    def learned(self) -> Generalisation | None:
        """The generalisation that the public data teach, where there are some."""
        if self.learn_on is None:
            return None
        public = read_tuples(self.learn_on, self.hierarchies, missing=self.missing)
        return learn(public, self.terms.k, self.terms.sample, self.method, self.limit)

    def read(self, frame: Any, source: Source) -> Tuples:
        """The records as distinct tuples; refuses what cannot be published."""
        key = secret(source, "rows").to_bytes(16, "big")
        population = read_tuples(
            frame,
            self.hierarchies,
            self.sensitive,
            unit=self.unit,
            missing=self.missing,
            missing_unit=self.missing_unit,
            key=key,
        )
        if population.total < self.terms.k:
            raise InputError("k is larger than the number of records", value=self.terms.k, hint="Ask for a smaller k.")
        refuse_identifiers(population, self.levels)
        refuse_unique_values(population)
        return population

    def meet(self, population: Tuples, source: Source) -> Anonymized:
        """The sample: choose where there is a choice, draw, generalise, suppress."""
        k, requirements = self.terms.k, self.terms.requirements
        made = self._generalisation(population, source)
        drawn = population if self.terms.sample is None else self._drawn(population, source)
        if made is None:
            if drawn.total < k:
                raise InputError(
                    "fewer records than k were drawn", value=k, hint="Sample more of them, or ask for a smaller k."
                )
            judge = drawn.judge(k, requirements)
            recoding = recode(drawn, judge, self.method, self.limit or 0.0, self.relaxed)
        else:
            recoding = Recoding.everywhere(drawn, made)
        recoding = recoding.published(k, requirements)
        if made is None and recoding.suppressed > drawn.share(self.limit or 0.0):
            raise ParameterError(
                "the requirements need more suppression than allowed", value=self.limit, hint="Raise max_suppressed."
            )
        guarantee = self.terms.guarantee.without_protection() if source.seeded else self.terms.guarantee
        return Anonymized(Classes(recoding, population), self.terms, guarantee, self.method, drawn.total)

    def _generalisation(self, population: Tuples, source: Source) -> Generalisation | None:
        """The generalisation that does not depend on the records, or was chosen privately; else None."""
        if self.terms.origin == "method":
            return None
        levels = self.levels if self.terms.choose_epsilon is None else self._chosen(population, source)
        return self.learned if levels is None else Generalisation.at(population.hierarchies, levels)

    def _chosen(self, population: Tuples, source: Source) -> Levels:
        """Levels by the exponential mechanism; what it cost is checked against the terms."""
        terms = self.terms
        assert terms.sample is not None and terms.choose_epsilon is not None  # noqa: S101, PT018 - checked by Terms
        with metered() as meter:
            levels = choose_levels(population, terms.k, terms.sample, terms.choose_epsilon, source)
        meter.check(Budget(epsilon=terms.choose_epsilon))
        return levels

    def _drawn(self, population: Tuples, source: Source) -> Tuples:
        """The sample, as tuples with the counts that were drawn."""
        assert self.terms.sample is not None  # noqa: S101 - the caller looked
        keys = np.column_stack([population.codes, *(column.codes for column in population.sensitive.values())])
        counts = sample(keys.astype(np.int64), population.counts, self.terms.sample, source, "sample")
        some = counts > 0
        return population.selected(some, counts[some])


def _method(method: str | None, origin: str, relaxed: bool) -> str:
    """How the generalisation is found, in one word."""
    if relaxed and method != "mondrian":
        raise ParameterError("relaxed belongs to mondrian", value=method, allowed='method="mondrian"')
    if origin in ("levels", "choose_epsilon"):
        return {"levels": "fixed levels", "choose_epsilon": "exponential mechanism"}[origin]
    allowed = LEARNING if origin == "learn_on" else METHODS
    found = method or "optimal"
    if found not in allowed:
        hint = did_you_mean(str(found), allowed)
        raise ParameterError("unknown method of recoding", value=method, allowed=allowed, hint=hint)
    return found


def _levels(given: Any, trees: Mapping[str, Hierarchy]) -> Levels:
    """The level of each column, in their order."""
    if not isinstance(given, Mapping):
        raise ParameterError("levels is not a mapping of columns to levels", value=type(given).__name__)
    for name in given:
        if name not in trees:
            hint = did_you_mean(str(name), trees)
            raise ParameterError("levels names a column without a hierarchy", value=name, hint=hint)
    for name, tree in trees.items():
        if name not in given:
            raise ParameterError("levels lacks a column", value=name, allowed="0 to {height}", height=tree.height)
        tree.level(given[name])
    return tuple(given[name] for name in trees)


def _requirements(given: Sequence[Requirement], trees: Mapping[str, Hierarchy]) -> tuple[Requirement, ...]:
    for each in given:
        if not hasattr(each, "holds"):
            raise ParameterError("not a requirement", value=each, allowed='such as DistinctDiversity("illness", 3)')
        if each.column in trees:
            raise ParameterError("a sensitive column cannot have a hierarchy too", value=each.column)
    return tuple(given)


def _limit(given: float | None, origin: str) -> float | None:
    if given is None:
        return None
    if origin in ("levels", "choose_epsilon"):
        raise ParameterError(
            "max_suppressed belongs to a method: with a generalisation that is given, what is below k is left out",
            value=given,
        )
    if not 0 <= given <= 1:
        raise ParameterError("max_suppressed is not a share", value=given, allowed="0 to 1")
    return given
