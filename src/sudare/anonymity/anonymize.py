"""`anonymize`: records in, a k-anonymous sample out, with what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sudare.anonymity.anonymized import Anonymized
from sudare.anonymity.request import AnonymizeRequest, SampleParameters
from sudare.engines import Records, read, refuse_same_file, refuse_shared_rows
from sudare.errors import ParameterError
from sudare.noise import Source
from sudare.parameters import keywords_of
from sudare.privacy.guarantee import warn_of


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
    if seed is not None and source is not None:
        raise ParameterError("give a seed or a source, not both")
    source = source or (Source.system() if seed is None else Source.from_seed(seed))
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
