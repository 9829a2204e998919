"""Records: rows about people, wherever they are, and the two ways to make a table of them.

`Records.count` counts rows by cell in an engine. `Records.table` takes records that are counts already, one row per
cell; they are as large as the resulting table, so they are placed in memory, with NumPy."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Never

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Attribute, CountTable, Domain
from sudare.domain.ids import MissingUnit
from sudare.domain.sql import UNKNOWN, SourceColumn
from sudare.domain.table import LARGEST_TOTAL
from sudare.engines.columns import find, find_count, find_unit, outside_error, place, shown_names
from sudare.engines.dialect import TEXTS
from sudare.engines.files import NO_FILES, FilesState
from sudare.engines.protocol import KEY_BYTES, CountRows, Groups, Placement, RowBound
from sudare.engines.verbs import Engine
from sudare.errors import InputError, Message, ParameterError, TableError, did_you_mean
from sudare.privacy import Unit

if TYPE_CHECKING:
    from sudare.engines.examine import Examination


def table_of_counts(placement: Placement, rows: CountRows, unit: Unit) -> CountTable:
    """The table of ``rows``, after those outside the domain are refused, dropped or clamped."""
    domain = placement.domain
    inside = np.ones(rows.value.shape, dtype=bool)
    kept = inside.copy()
    coordinates: list[NDArray[np.int64]] = []
    concerned = []
    axes = iter(rows.axes)
    for name, attribute in domain.attributes.items():
        own = tuple(next(axes) for _ in attribute.lengths)
        own_inside = attribute.allowed(*own)
        if not own_inside.all():
            concerned.append(name)
        inside &= own_inside
        nearest, reached = _nearest(attribute, own) if placement.outside == "clamp" else (own, own_inside)
        coordinates += nearest
        kept &= reached
    if concerned and placement.outside == "error":
        raise outside_error(placement, concerned)
    index = domain.index(*(axis[kept] for axis in coordinates))
    moved = ~inside[kept]
    if placement.from_points:
        nobody = np.zeros(0, dtype=np.int64)
        return _added(CountTable(domain, nobody, nobody, unit), index, rows.value[kept])
    # What lay inside must be a table by itself; only what was moved adds to a cell that has a row.
    table = CountTable(domain, index[~moved], rows.value[kept][~moved], unit)
    return _added(table, index[moved], rows.value[kept][moved]) if moved.any() else table


def _nearest(
    attribute: Attribute, axes: tuple[NDArray[np.int64], ...]
) -> tuple[tuple[NDArray[np.int64], ...], NDArray[np.bool_]]:
    """Positions moved into the attribute's box, and which are known and end in a cell that is not masked."""
    known = np.logical_and.reduce([axis != UNKNOWN for axis in axes])
    nearest = tuple(np.clip(axis, 0, length - 1) for axis, length in zip(axes, attribute.lengths, strict=True))
    return nearest, known & attribute.allowed(*nearest)


def _added(table: CountTable, index: NDArray[np.int64], count: NDArray[Any]) -> CountTable:
    """The table with further counts added, each of which must be a count by itself."""
    rows = CountTable.from_array(count)  # a line of counts: refuses what is none
    if table.total + rows.total > LARGEST_TOTAL:
        raise TableError("the counts are too large", allowed="a total of at most 2**62")
    cells, position = np.unique(np.concatenate([table.index, index[rows.index]]), return_inverse=True)
    sums = np.zeros(cells.size, dtype=np.int64)
    np.add.at(sums, position, np.concatenate([table.count, rows.count]))
    return CountTable(table.domain, cells, sums, table.unit)


_ADDS_UP = ("weights", "weight", "sum", "values", "value", "amount")
_COUNT_ARGUMENTS = ("columns", "unit", "max_rows", "outside", "key", "missing_unit")


class Question(NamedTuple):
    """What an engine is asked to count, and who is protected by it."""

    placement: Placement
    bound: RowBound | None
    unit: Unit


def indices_of(domain: Domain, cell: NDArray[np.int64]) -> NDArray[np.int64]:
    """The indices of cells given by an engine's keys: row-major positions in ``domain.shape``."""
    return domain.index(*np.unravel_index(cell, domain.shape))


@dataclass(frozen=True, repr=False)
class Records:
    """Rows about people, held by an engine. `sudare.read` makes them; nothing is read until it must be.

    >>> import pyarrow
    >>> from sudare.engines import read
    >>> people = read(pyarrow.table({"person": [1, 1, 2], "place": [0, 3, 3]}))
    >>> people.columns
    {'person': 'BIGINT', 'place': 'BIGINT'}
    """

    engine: Engine
    state: FilesState = NO_FILES
    """The files as they stood before anything was read; they are compared after every question."""
    _confirmed: list[bool] = field(default_factory=list, compare=False)
    """Not empty once declared columns were found, so that names of columns may be shown."""

    @property
    def columns(self) -> dict[str, str]:
        """The columns by name, with their types as the engine calls them.

        Of a CSV file, these are the words of its first line, which may be a person's row: they are refused until
        declared columns (by `count`, `groups`, `values` or `table`) were found among them.
        """
        if not self.shown_names and not self._confirmed:
            raise InputError(
                "the columns of a file of text are not shown before declared ones were found in its first line",
                hint="What it says is not shown here: in a file without names of columns, it is somebody's row.",
            )
        return {name: column.type for name, column in self.engine.columns.items()}

    def count(
        self,
        domain: Domain,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        unit: str | None = None,
        max_rows: int = 1,
        outside: str = "error",
        key: bytes | None = None,
        missing_unit: str | MissingUnit = "error",
        **refused: object,
    ) -> CountTable:
        """The table of how many rows each cell of ``domain`` has, at most ``max_rows`` of each unit.

        ``columns``: attribute name to a column, or to a tuple of columns (latitude and longitude of a mesh,
        row and column of a grid); an attribute left out is read from the column of its own name.

        ``unit``: the column that says whose row it is. The table's unit is then a person with at most
        ``max_rows`` rows; without it each row stands for itself and ``max_rows`` must be 1. Which rows of a
        person with more are kept is decided by a hash under ``key`` (16 bytes, fresh from the operating
        system by default; give one only to repeat a result): see `sudare.engines.protocol.RowBound`.

        ``outside``: what happens to rows outside the domain, which are those with a value outside the
        declared range or list, in a masked cell, missing, NaN, or not readable as a number, or with a
        fraction where a position is wanted. "error" refuses, naming the columns concerned and no value.
        "drop" leaves such rows out, before rows of a person are chosen. "clamp" moves numbers, degrees and mesh
        codes to the nearest cell of their attribute's window and drops the rest.

        ``missing_unit``: what happens to rows without a unit, "error" or "drop", or a `MissingUnit` that also says
        which ids mean that there is none. They are never counted: nothing says how many of them one person has.

        >>> import pyarrow
        >>> from sudare.domain import Domain, Line
        >>> from sudare.engines import read
        >>> people = read(pyarrow.table({"person": [1, 1, 2], "place": [3, 3, 5]}))
        >>> table = people.count(Domain(place=Line(8)), unit="person")
        >>> table.index.tolist(), table.count.tolist(), str(table.unit)
        ([3, 5], [1, 1], 'person with at most 1 row')
        """
        if refused:
            _refuse(refused)
        asked = self.question(domain, columns, unit, max_rows, outside, key, missing_unit)
        cells = self.engine.count_rows(asked.placement, asked.bound)
        self.state.refuse_changed()
        return CountTable(domain, indices_of(domain, cells.cell), cells.rows, asked.unit, bounded=True)

    def question(
        self,
        domain: Domain,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        unit: str | None = None,
        max_rows: int = 1,
        outside: str = "error",
        key: bytes | None = None,
        missing_unit: str | MissingUnit = "error",
    ) -> Question:
        """What `count` asks the engine, checked as far as it can be before any row is read."""
        placement = place(domain, columns, self.engine.columns, outside)
        self._confirmed.append(True)
        if bound := self._bound(unit, max_rows, key, missing_unit):
            return Question(placement, bound, Unit("person", max_rows))
        if max_rows != 1:
            raise ParameterError(
                "max_rows needs a unit",
                value=max_rows,
                allowed="1",
                hint="Say with unit= which column holds the person.",
            )
        return Question(placement, None, Unit())

    def table(
        self,
        domain: Domain,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        count: str = "n",
        unit: Unit | None = None,
        outside: str = "error",
    ) -> CountTable:
        """The table of records that are counts already, with the count in column ``count``: one row per cell, or per
        point where a place is read from coordinates, of which a cell may hold many.

        ``columns`` and ``outside`` are as in `count`; "clamp" adds what it moves to the cell it moves it
        to. ``unit`` says who was counted and how often one can appear, which no engine can check here: guarantees
        name both, the second as an assumption, and what is not declared cannot be released. A cell that appears
        twice (without points), and a count that is negative, fractional or missing, is an error.

        >>> import pyarrow
        >>> from sudare.domain import Domain, Line
        >>> from sudare.engines import read
        >>> counted = read(pyarrow.table({"place": [3, 5], "n": [120, 7]}))
        >>> counted.table(Domain(place=Line(8))).total
        127
        """
        protected = Unit() if unit is None else unit
        if type(protected) is not Unit:
            raise ParameterError("unit is not a Unit", value=unit, hint='Write unit=Unit("person").')
        protected = replace(protected, counted_elsewhere=True)
        placement = place(domain, columns, self.engine.columns, outside)
        self._confirmed.append(True)
        rows = self.engine.read_counts(placement, find_count(count, self.engine.columns))
        self.state.refuse_changed()
        return table_of_counts(placement, rows, protected)

    def examine(
        self,
        domain: Domain | None = None,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        unit: str | None = None,
        max_rows: int = 1,
        outside: str = "error",
        missing_unit: str | MissingUnit = "error",
        *,
        counts: str | None = None,
        values: bool = False,
    ) -> Examination:
        """What `count` (or `table`, with ``counts``) would make of the rows: how many fit, and why the others do not.

        Exact numbers about private rows, and with ``values`` some of their values: for the steward only.

        >>> import pyarrow
        >>> from sudare.domain import Categories, Domain
        >>> from sudare.engines import read
        >>> found = read(pyarrow.table({"sex": ["f", "F", "m", None]})).examine(Domain(sex=Categories(["f", "m"])))
        >>> found.rows, found.fitting, [(each.code.value, each.rows) for each in found.misfits]
        (4, 2, [('case', 1), ('missing', 1)])
        """
        placement = None if domain is None else place(domain, columns, self.engine.columns, outside)
        bound = self._bound(unit, max_rows, None, missing_unit)
        count = None if counts is None else find_count(counts, self.engine.columns)
        self._confirmed.append(True)
        found = self.engine.examine_rows(placement, bound, count, values)
        self.state.refuse_changed()
        return found

    def groups(
        self,
        columns: Sequence[str],
        unit: str | None = None,
        key: bytes | None = None,
        missing_unit: str | MissingUnit = "error",
    ) -> Groups:
        """The distinct tuples of ``columns``, as text, with how many rows each has: one group-by in the engine.

        With ``unit``, one row of each person takes part, chosen by a hash under ``key`` as in `count`, so that rows
        are people; ``missing_unit`` as there.

        >>> import pyarrow
        >>> from sudare.engines import read
        >>> found = read(pyarrow.table({"age": [30, 41, 30], "sex": ["f", "m", "f"]})).groups(["age", "sex"])
        >>> found.codes.tolist(), found.labels, found.rows.tolist()
        ([[0, 0], [1, 1]], (['30', '41'], ['f', 'm']), [2, 1])
        """
        found = self.engine.group_rows(*self.selection(columns, unit, 1, key, missing_unit))
        self.state.refuse_changed()
        return found

    def values(
        self,
        columns: Sequence[str],
        unit: str | None = None,
        max_rows: int = 1,
        key: bytes | None = None,
        missing_unit: str | MissingUnit = "error",
        *,
        as_written: bool = False,
        as_text: Sequence[str] = (),
    ) -> dict[str, NDArray[Any]]:
        """Columns as arrays, row by row: float64 for numbers (NaN where missing), else text (None where missing).

        With ``unit``, at most ``max_rows`` rows of each person, chosen as in `groups`. The order of rows is the same in
        every column, and whenever the same files are read: noise that is drawn row by row can be drawn again. Text is
        in its plain form (`sudare.domain.text`), unless ``as_written``; whole numbers of the columns ``as_text`` are
        text, since a double cannot hold all of them.

        >>> import pyarrow
        >>> from sudare.engines import read
        >>> read(pyarrow.table({"age": [30, None]})).values(["age"])
        {'age': array([30., nan])}
        """
        wanted, bound = self.selection(columns, unit, max_rows, key, missing_unit)
        kept = [
            (as_written and column.kind in TEXTS) or (column.kind == "whole" and column.name in as_text)
            for column in wanted
        ]
        wanted = [replace(column, kind="other") if keep else column for column, keep in zip(wanted, kept, strict=True)]
        found = self.engine.read_values(wanted, bound)
        self.state.refuse_changed()
        return dict(zip(columns, found, strict=True))

    def digest(self) -> bytes:
        """A hash of all rows that does not depend on their order: for a table in a database, which is not a file."""
        sums = self.engine.sum_rows(list(self.engine.columns.values()))
        self.state.refuse_changed()
        return hashlib.sha256(repr(sums).encode()).digest()

    def selection(
        self,
        columns: Sequence[str],
        unit: str | None = None,
        max_rows: int = 1,
        key: bytes | None = None,
        missing_unit: str | MissingUnit = "error",
    ) -> tuple[list[SourceColumn], RowBound | None]:
        """What `groups` and `values` ask the engine for, checked before any row is read."""
        names = [columns] if isinstance(columns, str) else list(columns)
        if not names or len(set(names)) < len(names):
            raise ParameterError("columns are missing or named twice", value=names)
        wanted = [find(name, self.engine.columns, Message("the records")) for name in names]
        self._confirmed.append(True)
        return wanted, self._bound(unit, max_rows, key, missing_unit)

    def _bound(
        self, unit: str | None, max_rows: int, key: bytes | None, missing_unit: str | MissingUnit
    ) -> RowBound | None:
        if unit is None:
            return None
        drawn = os.urandom(KEY_BYTES) if key is None else key
        return RowBound(find_unit(unit, self.engine.columns), max_rows, drawn, MissingUnit.of(missing_unit))

    @property
    def shown_names(self) -> list[str]:
        """The names of columns that a message may repeat; the first line of a CSV file may be a person's row."""
        return shown_names(self.engine.columns)

    def __repr__(self) -> str:
        if not self.shown_names:
            return f"Records({len(self.engine.columns)} columns of text)"
        return f"Records({', '.join(f'{name}: {kind}' for name, kind in self.columns.items())})"


def _refuse(arguments: dict[str, object]) -> Never:
    """Refuse arguments that `count` does not have; for sums and weights, with the reason."""
    name = next(iter(arguments))
    if name in _ADDS_UP:
        raise ParameterError(
            "count takes no {name}: it counts rows and adds nothing up",
            hint="A weight or an amount has no bound, so that one person could change the result by any "
            "size and no noise would hide it. Cut amounts into Bins and count people in them.",
            name=name,
        )
    raise ParameterError("count has no such argument", value=name, hint=did_you_mean(name, _COUNT_ARGUMENTS))
