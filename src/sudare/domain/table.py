"""CountTable: sparse counts over a domain, sorted by index."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain import frames
from sudare.domain.columns import plain_type, unmasked, whole_array, whole_number
from sudare.domain.domain import Domain
from sudare.domain.parquet import values_of
from sudare.errors import Message, TableError
from sudare.privacy import Unit

if TYPE_CHECKING:
    import geopandas
    import pyarrow as pa

LARGEST_TOTAL = 2**62
MOST_DENSE_CELLS = 2**31


@dataclass(frozen=True, eq=False, repr=False)
class CountTable(frames.Framed):
    """Counts of cells: ``index`` ascending, int64; ``count`` non-zero, of the same length. Both read-only.

    A private table holds whole numbers >= 0 and its counts never appear in a message or a ``repr``. A
    released one (`CountTable.released`) may hold signed whole numbers or floats. The order in which cells
    are handed in does not matter.

    Counts given by a caller were counted elsewhere: nothing here has bounded how often a ``unit`` is in them, and
    guarantees say so, also of a row. ``bounded=True`` is for code that counted rows within the unit's bound.

    >>> from sudare.domain import Line
    >>> table = CountTable(Domain(cell=Line(8)), index=[6, 1, 2], count=[4, 0, 3])
    >>> table.index.tolist(), table.count.tolist(), table.total
    ([2, 6], [3, 4], 7)
    """

    domain: Domain
    index: Integers
    count: Integers | Floats
    unit: Unit = field(default_factory=Unit)
    private: bool = field(default=True, kw_only=True)
    bounded: InitVar[bool] = field(default=False, kw_only=True)
    handed_in: ClassVar[bool] = False  # of each table; no field, so that what is hashed of a table stays as it was
    intervals: ClassVar[frames.Bars | None] = None  # of each table likewise; see `with_intervals`

    def __post_init__(self, bounded: bool) -> None:
        object.__setattr__(self, "handed_in", self.private and not bounded)
        if self.private and not bounded and self.unit.name != Unit().name:
            object.__setattr__(self, "unit", replace(self.unit, counted_elsewhere=True))
        if not isinstance(self.domain, Domain):
            raise TableError("a table has no domain", value=type(self.domain).__name__)
        index = whole_array(self.index, "an index", TableError)
        count = _private_counts(self.count) if self.private else _released_values(self.count)
        if index.ndim != 1 or index.shape != count.shape:
            raise TableError("index and count have different lengths", allowed="two plain lists of one length")
        if not self.domain.contains(index).all():
            raise TableError(
                "an index is not a cell of the domain",
                allowed="cells that are neither padding nor masked",
                hint="Domain.index and Domain.locate give indices that are.",
            )
        if not (index[1:] > index[:-1]).all():
            ascending = np.argsort(index, kind="stable")
            index, count = index[ascending], count[ascending]
            if (index[1:] == index[:-1]).any():
                raise TableError("a cell appears twice", hint="Add up the counts of each cell first.")
        if _total_of_sizes(count) > LARGEST_TOTAL:
            raise TableError("the counts are too large", allowed="a total of at most 2**62")
        stored = count != 0
        for name, array in (("index", index[stored]), ("count", count[stored])):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def released(cls, domain: Domain, index: Any, value: Any, unit: Unit | None = None) -> Self:
        """What a method gives out: signed whole numbers or finite floats; same interface."""
        return cls(domain, index, value, unit or Unit(), private=False)

    @classmethod
    def from_array(cls, array: Any, unit: Unit | None = None) -> Self:
        """The private table of a dense array of whole numbers: 1-D over a `Line`, 2-D over a `Grid`.

        >>> CountTable.from_array([[0, 2], [1, 0]]).total
        3
        """
        dense = unmasked(array, "a count", TableError)
        if dense.ndim not in (1, 2) or dense.size == 0:
            raise TableError(
                "the array is not a line or a grid of counts", value=dense.shape, allowed="1 or 2 dimensions"
            )
        if dense.dtype.kind not in "iuf":
            raise TableError("the array does not hold numbers", value=plain_type(dense.dtype.name))
        from sudare.domain.grid import Grid, Line

        domain = Domain(cell=Line(dense.size) if dense.ndim == 1 else Grid(*dense.shape))
        stored = np.nonzero(dense)
        return cls(domain, domain.index(*stored), dense[stored], unit or Unit())

    @cached_property
    def total(self) -> int | float:
        """The sum of all counts: an exact int, or a float for a table of floats."""
        return float(self.count.sum()) if self.count.dtype.kind == "f" else _exact_sum(self.count)

    def block_sums(self, level: int) -> tuple[Integers, Integers | Floats]:
        """Blocks of 2**level neighbours in index order that hold stored cells, ascending, and their sums.

        >>> from sudare.domain import Line
        >>> table = CountTable(Domain(cell=Line(8)), index=[0, 1, 6], count=[1, 2, 4])
        >>> [array.tolist() for array in table.block_sums(1)]
        [[0, 3], [3, 4]]
        """
        level = min(whole_number(level, Message("the level of a block")), self.domain.bits)
        blocks = self.index >> level
        starts = np.flatnonzero(np.diff(blocks, prepend=-1))
        if not starts.size:
            return blocks, self.count
        return blocks[starts], np.add.reduceat(self.count, starts)

    def to_array(self) -> NDArray[Any]:
        """The dense array: one axis per attribute in declared order, a grid or mesh two (row 0 = south)."""
        cells = prod(self.domain.shape)
        if cells > MOST_DENSE_CELLS:
            raise TableError("the dense array would be too large", value=cells, allowed="at most 2**31 cells")
        dense = np.zeros(self.domain.shape, dtype=self.count.dtype)
        dense[self.domain.coordinates(self.index)] = self.count
        return dense

    def with_intervals(self, intervals: frames.Bars) -> Self:
        """The same table, whose frames have error bars too: ``intervals`` is called when a frame is made."""
        made = copy(self)
        object.__setattr__(made, "intervals", intervals)
        return made

    @property
    def plain(self) -> Self:
        """The same table without intervals."""
        made = copy(self)
        vars(made).pop("intervals", None)
        return made

    def to_arrow(self, *, index: bool = False) -> pa.Table:
        """One row per stored cell, as an Arrow table: a column of labels per attribute, and ``count``.

        A grid has two columns, its row and its column; categories and bins are dictionaries, those of bins ordered.
        The table of a release has ``low`` and ``high`` too, between which the truth lies with probability 0.9, and
        ``expected_error``. Cells that are not listed are 0. ``index`` adds the position in the domain.

        >>> from sudare.domain import Categories, Line
        >>> table = CountTable(Domain(cell=Line(4), sex=Categories(["f", "m"])), index=[2, 5], count=[3, 4])
        >>> table.to_arrow().to_pylist()
        [{'cell': 1, 'sex': 'f', 'count': 3}, {'cell': 2, 'sex': 'm', 'count': 4}]
        """
        return frames.to_arrow(self, index=index)

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """`to_pandas` with a polygon for each row: that of the first place, in its coordinate reference system."""
        with frames.installed("geopandas"):
            return frames.to_geopandas(self)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_arrow`, each a dictionary: what ``pandas.DataFrame(table)`` takes."""
        for piece in frames.to_columns(self):
            names = [name for name in piece if name != "index"]
            columns = [values_of(piece[name]).tolist() for name in names]
            for row in zip(*columns, strict=True):
                yield dict(zip(names, row, strict=True))

    def __len__(self) -> int:
        return int(self.index.size)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CountTable)
            and (self.private, self.unit, self.domain) == (other.private, other.unit, other.domain)
            and np.array_equal(self.index, other.index)
            and np.array_equal(self.count, other.count)
        )

    def __repr__(self) -> str:
        if self.private:
            return f"CountTable over {self.domain.describe()}, unit: {self.unit}"
        return f"CountTable over {self.domain.describe()}, released: {len(self):,} stored, total {self.total:,}"


def _private_counts(count: Any) -> Integers:
    counts = whole_array(count, "a count", TableError)
    if counts.size and int(counts.min()) < 0:
        raise TableError("a count is negative", allowed="whole numbers >= 0")
    return counts


def _released_values(value: Any) -> Integers | Floats:
    values = unmasked(value, "a released value", TableError)
    if values.dtype.kind != "f":
        return whole_array(values, "a released value", TableError)
    if not np.isfinite(values).all():
        raise TableError("a released value is not finite", allowed="finite numbers")
    return values.astype(np.float64, copy=False)


def _total_of_sizes(count: Integers | Floats) -> int | float:
    if count.dtype.kind == "f":
        return float(np.abs(count).sum())
    if not count.size or int(count.min()) >= 0:
        return _exact_sum(count)
    # The most negative int64 has no absolute value; anything that large is refused anyway.
    return _exact_sum(np.abs(np.maximum(count, -LARGEST_TOTAL - 1)))


def _exact_sum(numbers: Any) -> int:
    """The sum of an int64 array as an exact int: halves of 32 bits cannot overflow."""
    if numbers.size and max(-int(numbers.min()), int(numbers.max())) <= LARGEST_TOTAL // numbers.size:
        return int(numbers.sum())
    return (int((numbers >> 32).sum()) << 32) + int((numbers & 0xFFFFFFFF).sum())
