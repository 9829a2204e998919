"""Which rows fit a declared domain, and why the others do not: private information for the steward only.

One pass places the rows as a count would and stores unit and cell of each row, and for rows outside also the values
that put them there. The reason is found by trying corrections: a value that would fit in another case, without inner
spaces, with a decimal point for its comma, or with its two columns exchanged. Nothing of this is ever published.
"""

# ruff: noqa: S608 - names are ours; columns are named by their engine

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Attribute, Domain
from sudare.domain.ids import USUAL
from sudare.domain.sql import Columns, SourceColumn
from sudare.domain.text import number, plain
from sudare.engines.bound_sql import count_sql, unit_sql
from sudare.engines.dialect import Shell, only_row
from sudare.engines.place_sql import place_rows
from sudare.engines.protocol import Placement, RowBound
from sudare.errors import DomainError

MOST_VALUES = 100_000
"""How many distinct values outside are examined for one attribute, the most frequent first."""
SHOWN_VALUES = 5
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+([.][0-9]+)?")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


class Reason(StrEnum):
    """Why rows are not counted."""

    MISSING = "missing"
    CASE = "case"
    WIDTH = "width"
    SPACES = "spaces"
    UNKNOWN = "unknown"
    DECIMAL_COMMA = "decimal_comma"
    THOUSANDS = "thousands"
    NOT_A_NUMBER = "not_a_number"
    FRACTION = "fraction"
    MESH_SIZE = "mesh_size"
    NOT_A_CODE = "not_a_code"
    SWAPPED = "swapped"
    OUTSIDE = "outside"
    NO_ID = "no_id"
    OVER_LIMIT = "over_limit"
    NOT_A_COUNT = "not_a_count"
    TWICE = "twice"
    OTHER = "other"


@dataclass(frozen=True)
class Misfit:
    """How many ``rows`` are not counted for one reason; ``values`` are the most frequent ones, if asked for.

    A row can be outside in several attributes, and is then counted for each.
    """

    code: Reason
    rows: int
    columns: tuple[str, ...] = ()
    attribute: str | None = None
    values: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Examination:
    """The result of examining rows: how many there are, how many fit and would be counted, and why not the rest.

    ``outside`` are rows outside the domain or without an id, ``over_limit`` those beyond a person's ``max_rows``;
    ``people`` is how many different ids are kept, None where rows have none.
    """

    rows: int
    fitting: int
    outside: int
    over_limit: int
    people: int | None
    misfits: tuple[Misfit, ...]


def examine_rows(
    shell: Shell, placement: Placement | None, bound: RowBound | None, count: SourceColumn | None, values: bool
) -> Examination:
    """See `Engine.examine_rows`: ``count`` where rows are cells with counts already."""
    names: list[str] = []
    raw: dict[str, str] = {}
    if placement is not None:
        extra = {} if bound is None else {"unit": unit_sql(bound, shell.dialect)}
        extra |= {} if count is None else {"counted": count_sql(count, shell.dialect)}
        for index, name in enumerate(placement.domain.attributes):
            names.append(name)
            raw |= {f"r{index}_{place}": each.sql for place, each in enumerate(placement.columns[name])}
        place_rows(shell, placement, {**extra, **raw})
        kept = "".join(f", CASE WHEN cell IS NULL THEN {each} END AS {each}" for each in raw)
        positions = "".join(f", position{index} IS NULL AS out{index}" for index in range(len(names)))
        looked = f"SELECT cell{''.join(f', {each}' for each in extra)}{kept}{positions} FROM {shell.name('placed')}"
    else:
        unit = "" if bound is None else f", {unit_sql(bound, shell.dialect)} AS unit"
        looked = f"SELECT CAST(0 AS BIGINT) AS cell{unit} FROM {shell.name('source')}"
    shell.freeze("examined", looked)
    examined = shell.name("examined")
    misfits: list[Misfit] = []
    for index, name in enumerate(names):
        assert placement is not None  # noqa: S101 - names are its attributes
        columns = placement.columns[name]
        own = [each for each in raw if each.startswith(f"r{index}_")]
        found = shell.ask(
            f"SELECT {', '.join(own)}, count(*) AS n FROM {examined} WHERE out{index} GROUP BY {', '.join(own)} "
            f"ORDER BY n DESC, {', '.join(own)} LIMIT {MOST_VALUES}"
        )
        (total,) = _numbers(shell, f"SELECT count(*) AS n FROM {examined} WHERE out{index}")
        misfits += _judged(placement.domain, name, columns, found, total, values)
    added_up = placement is not None and placement.from_points
    rows, inside, over, people, further = _sums(shell, examined, bound, count, added_up)
    return Examination(rows, inside - over, rows - inside, over, people, (*misfits, *further))


def _sums(
    shell: Shell, examined: str, bound: RowBound | None, count: SourceColumn | None, added_up: bool
) -> tuple[int, int, int, int | None, list[Misfit]]:
    """Rows, those inside that have an id, those of them over a person's limit, people, and why rows are left out."""
    further: list[Misfit] = []
    if count is not None:
        wrong = "counted IS NULL OR isnan(CAST(counted AS DOUBLE)) OR counted < 0 OR counted <> floor(counted)"
        asked = f"count(*) AS n, count(cell) AS own, sum(CAST({wrong} AS INTEGER)) AS bad"
        asked += f", count(CASE WHEN {wrong} THEN cell END) AS lost"
        rows, inside, bad, lost = _numbers(shell, f"SELECT {asked} FROM {examined}")
        again = f"SELECT count(*) - 1 AS more FROM {examined} WHERE cell IS NOT NULL GROUP BY cell HAVING count(*) > 1"
        (twice,) = _numbers(shell, f"SELECT sum(more) AS n FROM ({again})")
        further += [Misfit(Reason.NOT_A_COUNT, bad, (count.name,))] if bad else []
        further += [Misfit(Reason.TWICE, twice)] if twice and not added_up else []
        return rows, inside - lost, 0, None, further
    if bound is None:
        rows, inside = _numbers(shell, f"SELECT count(*) AS n, count(cell) AS own FROM {examined}")
        return rows, inside, 0, None, further
    asked = "count(*) AS n, count(unit) AS named, count(CASE WHEN unit IS NOT NULL THEN cell END) AS own"
    rows, named, with_id = _numbers(shell, f"SELECT {asked} FROM {examined}")
    own = f"SELECT unit, count(cell) AS n FROM {examined} WHERE unit IS NOT NULL GROUP BY unit"
    asked = f"sum(greatest(0, n - {bound.max_rows})) AS more, sum(CAST(n > 0 AS INTEGER)) AS people"
    over, people = _numbers(shell, f"SELECT {asked} FROM ({own})")
    further += [Misfit(Reason.NO_ID, rows - named, (bound.unit.name,))] if named < rows else []
    further += [Misfit(Reason.OVER_LIMIT, over, (bound.unit.name,))] if over else []
    return rows, with_id, over, people, further


def _numbers(shell: Shell, sql: str) -> list[int]:
    """The whole numbers of the one row of an answer; 0 for a sum of nothing."""
    return [0 if _is_missing(number) else int(number) for number in only_row(shell.ask(sql)).values()]


def _judged(
    domain: Domain, name: str, columns: Sequence[SourceColumn], found: Columns, total: int, values: bool
) -> Iterator[Misfit]:
    """The rows outside an attribute, by reason, the most frequent reason first."""
    attribute = domain.attributes[name]
    *raw, rows = (column.tolist() for column in found.values())
    reasons = reasons_of(attribute, raw)
    sums: Counter[Reason] = Counter()
    shown: dict[Reason, list[tuple[str, int]]] = {}
    for place, (reason, times) in enumerate(zip(reasons, rows, strict=True)):
        sums[reason] += times
        if values and len(shown.setdefault(reason, [])) < SHOWN_VALUES:
            texts = ["" if each[place] is None or each[place] != each[place] else str(each[place]) for each in raw]
            shown[reason].append((", ".join(texts), times))
    if total > sum(rows):
        sums[Reason.OTHER] += total - sum(rows)
    read_from = tuple(column.name for column in columns)
    for reason, times in sorted(sums.items(), key=lambda each: (-each[1], each[0])):
        yield Misfit(reason, times, read_from, name, tuple(shown.get(reason, ())))


def reasons_of(attribute: Attribute, raw: Sequence[Sequence[Any]]) -> list[Reason]:
    """Why each value (given column by column) lies outside: by the first correction under which it would fit.

    >>> from sudare.domain import Categories
    >>> reasons_of(Categories(["Male", "Female"]), [["male", "MALE", None, "x", "Fe male"]])
    [<Reason.CASE: 'case'>, <Reason.CASE: 'case'>, <Reason.MISSING: 'missing'>, <Reason.UNKNOWN: 'unknown'>, \
<Reason.SPACES: 'spaces'>]
    """
    found: list[Reason | None] = [
        Reason.MISSING if any(map(_is_missing, together)) else None for together in zip(*raw, strict=True)
    ]

    def settle(reason: Reason, which: Sequence[bool] | NDArray[np.bool_]) -> None:
        for place, each in enumerate(which):
            if each and found[place] is None:
                found[place] = reason

    if attribute.words:
        for reason, folded in _FOLDS.items():
            declared = {folded(plain(each)) for each in attribute.words}
            settle(reason, [isinstance(each, str) and folded(each) in declared for each in raw[0]])
        return [each or Reason.UNKNOWN for each in found]
    if len(raw) == 2:
        settle(Reason.SWAPPED, _fits(attribute, [raw[1], raw[0]]))
    if len(raw) == 1 and attribute.has_codes:
        settle(Reason.NOT_A_CODE, [isinstance(each, str) and not each.isalnum() for each in raw[0]])
        if attribute.code_digits:
            settle(Reason.NOT_A_CODE, [not str(each).isdecimal() for each in raw[0]])
            settle(Reason.MESH_SIZE, [len(str(each)) != attribute.code_digits for each in raw[0]])
        return [each or Reason.OUTSIDE for each in found]
    settle(Reason.THOUSANDS, _fits(attribute, [_changed(each, _THOUSANDS, "") for each in raw]))
    settle(Reason.DECIMAL_COMMA, _fits(attribute, [_changed(each, _COMMA, ".") for each in raw]))
    numbers = [[_number(each) for each in column] for column in raw]
    settle(Reason.NOT_A_NUMBER, [None in together for together in zip(*numbers, strict=True)])
    if attribute.whole:
        settle(Reason.FRACTION, [any((each or 0) % 1 for each in together) for together in zip(*numbers, strict=True)])
    last = Reason.UNKNOWN if attribute.listed and not attribute.ordered else Reason.OUTSIDE
    return [each or last for each in found]


def _no_spaces(text: str) -> str:
    return "".join(text.split())


def _wide(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


_FOLDS: dict[Reason, Callable[[str], str]] = {
    Reason.CASE: str.casefold,
    Reason.WIDTH: _wide,
    Reason.SPACES: lambda text: _no_spaces(_wide(text).casefold()),
}


def _fits(attribute: Attribute, columns: Sequence[Sequence[Any]]) -> NDArray[np.bool_]:
    """Which values the attribute would take, read as numbers."""
    try:
        return attribute.locate(*(np.array([_number(each) for each in column], dtype=object) for column in columns))[1]
    except DomainError:  # an attribute that is read from text
        return np.zeros(len(columns[0]), dtype=bool)


def _changed(column: Sequence[Any], pattern: re.Pattern[str], instead: str) -> list[Any]:
    return [
        each.replace(",", instead) if isinstance(each, str) and pattern.fullmatch(each) else each for each in column
    ]


def _number(value: Any) -> float | None:
    found = number(value) if isinstance(value, str) else None if value is None else float(value)
    return None if found is None or found != found or abs(found) == float("inf") else found


def _is_missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and (not value or value.lower() in USUAL))
