"""`anonymize`: records in, a k-anonymous sample out, with what it promises.

A request is checked before a record is read (`AnonymizeRequest.of`); recipes make the same request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sudare.anonymity.anonymized import Anonymized
from sudare.anonymity.choice import choose_levels
from sudare.anonymity.frames import hierarchies_of, read_tuples, refuse_identifiers, refuse_unique_values
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.lattice import Generalisation, Levels, Tuples
from sudare.anonymity.recoders import LEARNING, METHODS, learn, recode
from sudare.anonymity.recoding import Classes, Recoding
from sudare.anonymity.requirements import Requirement
from sudare.anonymity.terms import Terms, one_origin
from sudare.domain.ids import REFUSE, MissingUnit
from sudare.engines import Records, read, refuse_same_file, refuse_shared_rows
from sudare.errors import InputError, ParameterError, did_you_mean
from sudare.noise import Source, metered, sample, secret
from sudare.parameters import keywords_of
from sudare.privacy import Budget, Number, Unit
from sudare.privacy.guarantee import warn_of


@dataclass(frozen=True, kw_only=True)
class SampleParameters:
    """The parameters of `sudare.anonymity.anonymize` beside records and hierarchies; described there."""

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
    """The checked arguments of `anonymize`. `read` reads the records, `meet` makes the sample."""

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
        """The request, checked. ``protected`` is the unit, if it is not a person or a row."""
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
        raise ParameterError("relaxed works with mondrian only", value=method, allowed='method="mondrian"')
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


@keywords_of(SampleParameters)
def anonymize(
    frame: Any,
    hierarchies: Mapping[str, Any],
    *,
    parameters: SampleParameters,
    confirm_overlap: bool = False,
    seed: int | None = None,
    source: Source | None = None,
) -> Anonymized:
    """A sample of ``frame`` whose every row occurs at least ``k`` times, generalised along ``hierarchies``.

    ``hierarchies`` maps each column to be published to a `Hierarchy`, nested dicts, or the path of a CSV file. Records
    are drawn with probability ``sample``. Where the generalisation comes from must be said, in one of four ways:

    - ``levels``: fixed beforehand, a level for each column. ``learn_on``: a frame of public data with the same
      columns, on which ``method`` ("optimal" or "greedy") finds it. ``choose_epsilon``: an exponential mechanism on
      the private records, which costs that much. With these the sample is (epsilon, delta)-DP by the theorem of Li,
      Qardaji and Su (see `sudare.anonymity.delta`); give ``epsilon``, or ``delta`` (10**-6), to say at which point.
    - ``method``: "greedy", "optimal", "mondrian" (``relaxed`` or not) or "passes", on the private records themselves.
      That is k-anonymity alone, with ``sample`` or without.

    ``require`` lists `DistinctDiversity`, `EntropyDiversity` or `Closeness` of sensitive columns, which are then
    published as they are; that gives differential privacy up. ``max_suppressed`` is the share of records that a
    method may leave out (0). ``unit`` names the column that says whose row it is: one row of each person takes part,
    and k counts people; rows without an id are refused, or left out with ``missing_unit="drop"``. ``missing="value"``
    takes a missing value for a value of its own. ``seed`` is for experiments: such a sample promises nothing and says
    so.

    Public data are not the private ones: the same file, object or rows are refused, and where rows are shared that
    nothing but copying explains, ``confirm_overlap=True`` says that these are public.

    >>> import pyarrow
    >>> from sudare.anonymity import Hierarchy
    >>> people = pyarrow.table({"age": [23, 25, 31, 38, 42, 47], "sex": ["f", "f", "m", "m", "f", "f"]})
    >>> ages = Hierarchy.from_widths(20, 60, 1, 10)
    >>> made = anonymize(people, {"age": ages, "sex": ["f", "m"]}, k=2, method="optimal")
    >>> made.levels, made.records.column("age").to_pylist()
    ({'age': 1, 'sex': 0}, ['20-29', '20-29', '30-39', '30-39', '40-49', '40-49'])
    """
    learn_on, unit = parameters.learn_on, parameters.unit
    _refuse_same_file(frame, hierarchies, learn_on)
    request = AnonymizeRequest.of(hierarchies, parameters)
    source = Source.chosen(source, seed)
    if learn_on is not None and not source.seeded:  # a seeded sample promises nothing
        private, public = (data if isinstance(data, Records) else read(data) for data in (frame, learn_on))
        refuse_shared_rows(private, public, "learn_on", unit=unit, used=list(hierarchies), confirmed=confirm_overlap)
    _ = request.learned  # public data first: what is wrong with them shows before the records are read
    made = request.meet(request.read(frame, source), source)
    warn_of(made.guarantee)
    return replace(made, guarantee=made.guarantee.unbooked())


def _refuse_same_file(frame: Any, hierarchies: Any, learn_on: Any) -> None:
    """The records are not their own hierarchies, nor what the generalisation is learned on."""
    for tree in hierarchies.values() if isinstance(hierarchies, Mapping) else ():
        if isinstance(tree, str | Path):
            refuse_same_file(frame, tree, "hierarchies")
    refuse_same_file(frame, learn_on, "learn_on")
