"""From a frame to distinct tuples: one group-by in the engine, then values become leaves of their hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sudare.anonymity.grouping import totals
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.lattice import Tuples
from sudare.anonymity.requirements import Sensitive
from sudare.anonymity.taxonomy import number
from sudare.arrays import Integers
from sudare.domain.ids import REFUSE, MissingUnit
from sudare.engines import Records, read
from sudare.errors import InputError, ParameterError, either

MISSING = ("error", "value")
_FLOATS = ("FLOAT", "DOUBLE")
_FEW = 2
_HANDFUL = 10
_ONE_IN = 5


def hierarchies_of(given: Any, missing: str) -> dict[str, Hierarchy]:
    """The hierarchy of each column, checked; with a leaf for missing values where these are a value of their own."""
    if missing not in MISSING:
        raise ParameterError("unknown way to treat missing values", value=missing, allowed=either(MISSING))
    if not isinstance(given, Mapping) or not given:
        raise ParameterError(
            "hierarchies is not a mapping of column names to hierarchies",
            value=type(given).__name__,
            allowed='{{"age": "age.csv", "sex": ["f", "m"]}}',
        )
    trees = {str(name): Hierarchy.of(tree) for name, tree in given.items()}
    return trees if missing == "error" else {name: tree.with_missing() for name, tree in trees.items()}


def read_tuples(
    frame: Any,
    hierarchies: Mapping[str, Hierarchy],
    sensitive: Sequence[str] = (),
    *,
    unit: str | None = None,
    missing: str = "error",
    missing_unit: MissingUnit = REFUSE,
    key: bytes | None = None,
) -> Tuples:
    """The distinct tuples of the columns of ``hierarchies``, and of ``sensitive`` ones, with their counts.

    With ``unit``, counts are people: one row of each takes part.
    """
    records = frame if isinstance(frame, Records) else read(frame)
    names = (*hierarchies, *sensitive)
    groups = records.groups(names, unit=unit, key=key, missing_unit=missing_unit)
    if not len(groups.rows):
        raise InputError("there are no records in the frame")
    columns, beside = [], {}
    for place, name in enumerate(names):
        labels = [_text(label, records.columns[name]) for label in groups.labels[place]]
        if missing == "error" and None in labels:
            raise InputError(
                "values of the column {name!r} are missing",
                hint='missing="value" treats a missing value as a value of its own.',
                name=name,
            )
        if name in hierarchies:
            found = _leaves(name, hierarchies[name], labels)
        else:
            found, beside[name] = coded(labels)
        columns.append(found[groups.codes[:, place]])
    # Several values can lie in one leaf (an interval), so distinct rows may have become equal.
    return Tuples.of_columns(hierarchies, beside, columns, groups.rows)


def refuse_identifiers(tuples: Tuples, levels: Sequence[int] | None) -> None:
    """Refuse a column that differs in every record at each level below the root, unless it is published at the root."""
    total = tuples.total
    if len(tuples.counts) < total:
        return
    for place, (name, tree) in enumerate(zip(tuples.names, tuples.hierarchies, strict=True)):
        used = range(tree.height) if levels is None else range(levels[place], min(levels[place] + 1, tree.height))
        nodes = (tree.table[level][tuples.codes[:, place]] for level in used)
        if len(used) and all(len(np.unique(each)) == total for each in nodes):
            raise InputError(
                "the column {name!r} differs in every record, however it is generalised",
                hint="It identifies people: leave it out, or name it as unit=.",
                name=name,
            )


def refuse_unique_values(tuples: Tuples) -> None:
    """Refuse a sensitive column in which many records have a value that hardly anybody shares.

    Such a column (a phone number, an exact income) identifies people, however many values a class has of it: every
    class is as diverse as it is large. A value is rare if at most two records have it. Any of these is refused:

    - More than half of the records have a rare value.
    - More than half of the informative records have a rare value. Missing values and the most common value, which may
      stand for "none", are not informative: 1,020 records with "none" must not hide 980 phone numbers.
    - More than one record in five is the only one with its value. Identifiers are unique. Diagnoses, bands of income
      and postcodes of a town are shared, except for a tail: 1,000 diagnoses as uneven as Zipf's law leave 13 % of 2,000
      records unique, and 10,000 leave 18 % of 10,000. A finer column for fewer people is refused, since it would
      identify a fifth of them.

    The last two need at least ten records with such values: a few rare diagnoses beside "healthy" look like a few phone
    numbers beside "none", and are accepted. Values that three records share, as the telephone of a family, are not
    found either. Numbers and names are treated alike: to publish incomes, write them in steps that people share. This
    check reads the records, and only the steward is told the result.
    """
    for name, column in tuples.sensitive.items():
        if _identifies(column, tuples.counts):
            raise InputError(
                "nearly every record has its own value of the sensitive column {name!r}",
                hint="It identifies people, as a phone number or an exact amount does: leave it out, or write it in"
                " steps that many people share.",
                name=name,
            )


def _identifies(column: Sensitive, counts: Integers) -> bool:
    holders = totals(column.codes, len(column.values), counts)
    held = holders[[value is not None for value in column.values]]
    total, rare, single = int(holders.sum()), int(held[held <= _FEW].sum()), int((held == 1).sum())
    saying = int(held.sum()) - int(held.max(initial=0))
    hidden = rare >= _HANDFUL and 2 * rare > saying
    return 2 * rare > total or hidden or (single >= _HANDFUL and _ONE_IN * single > total)


def _text(label: str | None, kind: str) -> str | None:
    """A text of the engine; the NaN of a column of floats is a missing value."""
    return None if label is None or (kind in _FLOATS and label.lower() == "nan") else label


def _leaves(name: str, tree: Hierarchy, labels: Sequence[str | None]) -> Integers:
    found = tree.locate(labels)
    if (found < 0).any():
        raise InputError(
            "the column {name!r} holds values that its hierarchy does not have",
            hint="Add them to the hierarchy. They are not shown here because they are private.",
            name=name,
        )
    return found


def coded(labels: Sequence[str | None]) -> tuple[Integers, tuple[str | None, ...]]:
    """Each label as the place of its value, and the values: in the order of their numbers where all are numbers, else
    of their text; a missing one last.
    """
    known = {label: number(label) for label in labels if label is not None}
    ordered = sorted(known) if None in known.values() else sorted(known, key=lambda label: known[label] or 0.0)
    values = (*ordered, *([None] if None in labels else []))
    place = {value: rank for rank, value in enumerate(values)}
    return np.array([place[label] for label in labels], dtype=np.int64), values
