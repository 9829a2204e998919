"""Whether rows of a public source are rows of the private one: compared as hashes of text, in the engines.

A row is the text of its values, each written in one way whatever file it comes from: ``7``, ``7.0`` and ``007`` are
one number, numbers with a fraction are held to six digits and moments to the second (in UTC), a day is its midnight,
case and outer spaces do not count, and nothing stands for what is missing. So a CSV file, the Parquet file made of it
and the frame that was read from it have the same rows.

What is found here is a fact about private people. It is told to the steward, who may have to confirm it, and goes
nowhere else: no release depends on it.
"""

# ruff: noqa: S608 - names are quoted by the engines; all else is written here

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sudare.domain.parquet import text_literal
from sudare.domain.sql import Columns, Dialect, SourceColumn
from sudare.engines.dialect import Shell, only_row

if TYPE_CHECKING:
    from sudare.engines.records import Records

_BETWEEN = text_literal("\x1f")
_EXACT = "9e15"
_LARGEST = "1.7976931348623157e308"
_UP = "1.000000000001e0"
"""Engines round halves differently: this factor moves numbers off the halves."""
_DATED = "^[0-9]{4}[-/]"
_DAY, _MINUTE = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", "[0-9]{1,2}:[0-9]{2}"
_ZONE = "[+-][0-9]{2}(:?[0-9]{2})?"
_DEVIATIONS = 4
_MANY = 20
"""From this many rows on, two sources do not pair up by chance."""
_RARE = math.log(1e-7)
_TILTS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
_ALIKE = 0.9
"""Of two tables of counts, the share of cells with equal counts from which on they are taken for one table."""


@dataclass(frozen=True)
class Matches:
    """The rows of a source compared with those of another: how many there are (``rows``), how many occur ``once``, how
    many of the other's rows are ``found`` here, and how many pair up one to one (``both``). ``kinds`` is the number of
    distinct rows; ``spread`` is the sum over them of log(pi k / 2) / 2, where k rows of a kind are on both sides."""

    rows: int
    once: int
    found: int
    both: int
    kinds: int = 0
    spread: float = 0.0

    def too_alike(self, others: int) -> bool:
        """Whether these rows and the ``others`` agree more closely than two samples of one population would.

        Given all rows of two independent samples together, which of them are in the first is pure chance: a fair coin
        for each row, given that it falls n times on the first of n + m. By the coin alone, the difference X of a
        kind's two numbers has any value with a probability of at most sqrt(2 / (pi k)), so that for any t > 0
        E exp(-t |X|) <= coth(t) sqrt(2 / (pi k)), and the sum D of all |X| is d or less with a probability of at most
        exp(t d) times the product of these. Given n, divide by the coin's probability of n. So two samples of one
        population are taken for copies with a probability below 1e-7, for each of the few sets of columns compared;
        samples of two populations differ more. Designs that fix the number of every kind have to be confirmed.
        """
        rows = self.rows + others
        differ = rows - 2 * self.both
        coin = math.lgamma(rows + 1) - math.lgamma(self.rows + 1) - math.lgamma(others + 1) - rows * math.log(2)
        tail = min(t * differ - self.kinds * math.log(math.tanh(t)) for t in _TILTS) - self.spread
        return tail - coin < _RARE


@dataclass(frozen=True)
class Overlap:
    """What two sources have in common. ``same``: every row, whatever the names and the order of columns.

    ``shared`` of the ``public_rows`` are private rows in the columns that were compared; ``unit`` says whether one of
    these is the id of a person. ``paired``: both hold the same rows there, each as often but for what is too little
    for chance (`Matches.too_alike`).
    """

    same: bool
    shared: int = 0
    public_rows: int = 0
    private_rows: int = 0
    once: int = 0
    paired: bool = False
    unit: bool = False
    both: int = 0
    public_once: int = 0

    @property
    def beyond_chance(self) -> bool:
        """Whether the shared rows tell of copied people and not of people who are alike.

        With an id, one shared row does. Without, people of the same age and sex are alike by nature. How often is
        told by the private rows themselves: by Good and Turing, one more row of the same population is new with a
        probability of about ``once / private_rows``, and else equal to a row that is there; the estimate is off by
        some 1 / sqrt(private_rows), four times which is allowed for. Shared rows are beyond chance where more than
        half of what should be new is not, or where they are more than five and ten times as many as expected. The
        same is asked the other way round, of private rows that are found among the public ones, so that rows put
        around a copy do not hide it. Rows of which nearly none are single say nothing, unless they pair up one to one.
        """
        if self.unit:
            return self.shared > 0
        if self.paired:
            return True
        return _beyond(self.shared, self.public_rows, self.once, self.private_rows) or _beyond(
            self.both, self.private_rows, self.public_once, self.public_rows
        )

    @property
    def alike(self) -> bool:
        """Whether two tables of counts are one but for a few cells."""
        return self.shared > _ALIKE * self.public_rows


def _beyond(found: int, asked: int, once: int, rows: int) -> bool:
    """Whether ``found`` of ``asked`` rows are more than chance finds among ``rows``, of which ``once`` are single."""
    if not rows:
        return False
    seen = 1 - once / rows + _DEVIATIONS / math.sqrt(rows)
    expected = min(seen, 1.0) * asked
    return found > min((asked + expected) / 2, 10 * expected + 5)


def overlap(
    private: Records,
    public: Records,
    *,
    unit: str | None = None,
    counts: tuple[str, str] | None = None,
    used: Sequence[str] = (),
) -> Overlap:
    """What ``public`` has in common with ``private``, whose ``unit`` is the column of ids.

    Compared are all columns that both have, these without the ids, those ``used`` for the release, and the ids with
    each other column alone, so that copies with one changed column are told: the first that is beyond chance counts.
    ``counts`` names the columns of counts, private and public, where rows are cells: they are then one column.
    """
    names = [(name, name) for name in private.engine.columns if name in public.engine.columns]
    if counts is not None:
        names = [*((own, other) for own, other in names if own not in counts and other not in counts), counts]
    people = [pair for pair in names if pair[0] == unit]
    others = [pair for pair in names if pair[0] != unit]
    sets = [
        names,
        others,
        [pair for pair in others if pair[0] in used],
        *([*people, pair] for pair in others if people),
    ]
    first: Overlap | None = None
    for place, pairs in enumerate(sets):
        if not pairs or pairs in sets[:place] or (counts is not None and place) or pairs == people:
            continue
        found = _compared(private, public, pairs, any(own == unit for own, _ in pairs))
        if place == 0 and found.private_rows == found.public_rows and same_rows(private, public):
            return replace(found, same=True)
        if found.beyond_chance:
            return found
        first = first or found
    return first or Overlap(same_rows(private, public))


def _compared(private: Records, public: Records, pairs: Sequence[tuple[str, str]], unit: bool) -> Overlap:
    """The rows of both in these columns, private and public."""
    theirs = public.engine.hash_rows([public.engine.columns[other] for _, other in pairs], True)
    times = theirs["times"]
    rows, single = int(times.sum()), int((times == 1).sum())
    found = private.engine.match_rows([private.engine.columns[own] for own, _ in pairs], True, theirs)
    private.state.refuse_changed()
    paired = found.rows == found.both == rows and rows >= _MANY
    alike = bool(rows and (paired or found.too_alike(rows)))
    return Overlap(False, found.found, rows, found.rows, found.once, alike, unit, found.both, single)


def same_rows(private: Records, public: Records) -> bool:
    """Whether both hold the same rows, in whatever order, under whatever names and order of columns."""
    if len(private.engine.columns) != len(public.engine.columns):
        return False
    theirs = public.engine.hash_rows(list(public.engine.columns.values()), False)
    rows = int(theirs["times"].sum())
    found = private.engine.match_rows(list(private.engine.columns.values()), False, theirs)
    private.state.refuse_changed()
    return bool(rows > 0 and found.rows == found.both == rows)


def hashes_of(shell: Shell, columns: Sequence[SourceColumn], named: bool) -> Columns:
    """See `Engine.hash_rows`."""
    row = row_sql(columns, named, shell.dialect)
    return shell.ask(f"SELECT {row} AS hash, count(*) AS times FROM {shell.name('source')} GROUP BY 1")


def matches_of(shell: Shell, columns: Sequence[SourceColumn], named: bool, others: Columns) -> Matches:
    """See `Engine.match_rows`."""
    shell.register("others", others)
    row = row_sql(columns, named, shell.dialect)
    own = f"SELECT {row} AS hash, count(*) AS own FROM {shell.name('source')} GROUP BY 1"
    times = "COALESCE(others.times, 0)"
    parts = {"rows": "own", "once": "CASE WHEN own = 1 THEN 1 ELSE 0 END", "found": times}
    parts["both"] = f"CASE WHEN own < {times} THEN own ELSE {times} END"
    sums = ", ".join(f"CAST(COALESCE(sum({part}), 0) AS BIGINT) AS n_{name}" for name, part in parts.items())
    joined = f"({own}) rows_here LEFT JOIN {shell.name('others')} others ON rows_here.hash = others.hash"
    spread = f"CAST(COALESCE(sum(ln({math.pi / 2}e0 * (own + {times})) / 2), 0) AS DOUBLE) AS spread"
    found = only_row(shell.ask(f"SELECT {sums}, count(*) AS kinds, {spread} FROM {joined}"))
    return Matches(found["n_rows"], found["n_once"], found["n_found"], found["n_both"], found["kinds"], found["spread"])


def sums_of(shell: Shell, columns: Sequence[SourceColumn]) -> tuple[int, int, int]:
    """See `Engine.sum_rows`."""
    row = row_sql(columns, True, shell.dialect, digits=30)
    halves = [shell.dialect.hexadecimal(f"substr(hash, {first}, 15)") for first in (1, 16)]
    sums = ", ".join(f"CAST(sum({half}) AS {shell.dialect.text}) AS half{place}" for place, half in enumerate(halves))
    hashed = f"SELECT {row} AS hash FROM {shell.name('source')}"
    found = only_row(shell.ask(f"SELECT count(*) AS n, {sums} FROM ({hashed}) hashed"))
    return found["n"], int(found["half0"] or 0), int(found["half1"] or 0)


def row_sql(columns: Sequence[SourceColumn], named: bool, dialect: Dialect, digits: int = 16) -> str:
    """A hash of a row, in hexadecimal: of its values in order, or sorted where names do not count."""
    values = [_value_sql(column, dialect) for column in columns]
    text = f"concat_ws({_BETWEEN}, {', '.join(values)})" if named else dialect.sorted_text(values, _BETWEEN)
    return f"substr(md5({text}), 1, {digits})"


def _value_sql(column: SourceColumn, dialect: Dialect) -> str:
    """A value as text in one spelling; '' where it is missing."""
    if column.type == dialect.zoned:
        return f"COALESCE(CAST({dialect.seconds(column.sql)} AS {dialect.text}), '')"
    plain = f"CAST({column.sql} AS {dialect.text})"
    if column.kind == "whole":
        return f"COALESCE({plain}, '')"
    if column.kind == "number":
        return f"COALESCE({_number_sql(f'CAST({column.sql} AS DOUBLE)', dialect)}, '')"
    text = f"lower(trim({plain}))"
    parsed = dialect.parsed(text, "DOUBLE")
    moment = f"CAST({_seconds_sql(text, dialect)} AS {dialect.text})"
    # Whole numbers that no double holds are compared as text: different ids must not become equal.
    return (
        f"CASE WHEN {text} IS NULL OR {text} = 'nan' THEN '' "
        f"WHEN abs({parsed}) < {_EXACT} THEN {_number_sql(parsed, dialect)} ELSE COALESCE({moment}, {text}) END"
    )


def _seconds_sql(text: str, dialect: Dialect) -> str:
    """A day or a moment as text, in seconds; what has no zone is taken for UTC, and fractions of a second are cut."""
    zoned = f"replace(regexp_replace(replace({text}, '/', '-'), ' ?(z|utc)$', '+00'), 't', ' ')"
    moment = f"regexp_replace({zoned}, '[.][0-9]+', '')"
    second = f"{_DAY} {_MINUTE}:[0-9]{{2}}"
    rests = {_DAY: " 00:00:00+00", f"{_DAY} {_MINUTE}": ":00+00", second: "+00", f"{second}{_ZONE}": ""}
    cases = " ".join(
        f"WHEN {dialect.matches(moment, form)} THEN concat({moment}, '{end}')" for form, end in rests.items()
    )
    return f"CASE WHEN {dialect.holds(text, _DATED)} THEN {dialect.seconds(f'CASE {cases} END')} END"


def _number_sql(number: str, dialect: Dialect) -> str:
    """A double as text: whole ones as whole numbers, else with six digits of the nearest float; '' for NaN.

    A float of four bytes, its text and the double read from that text are one number so.
    """
    # DuckDB may cast the rows of the other branch too, NaN among them: never a bare CAST.
    whole = f"CASE WHEN abs({number}) < {_EXACT} AND floor({number}) = {number} THEN TRY_CAST({number} AS BIGINT) END"
    short = f"CASE WHEN abs({number}) < 1e38 THEN CAST(CAST({number} AS FLOAT) AS DOUBLE) ELSE {number} END"
    shown = f"COALESCE(CAST({whole} AS {dialect.text}), {dialect.scientific(f'{_UP} * ({short})')})"
    ends = f"WHEN {number} > {_LARGEST} THEN 'inf' WHEN {number} < -{_LARGEST} THEN '-inf'"
    return f"CASE WHEN isnan({number}) THEN '' {ends} ELSE {shown} END"
