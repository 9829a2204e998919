"""A table as a data frame: the label of each cell, its count and, where they are known, its error intervals."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain.domain import Domain
from sudare.domain.parquet import AT_ONCE, Coded
from sudare.domain.place import Place
from sudare.errors import Message, MissingExtraError, OutputError

if TYPE_CHECKING:
    import geopandas
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sudare.domain.table import CountTable


class Intervals(Protocol):
    """Error bars of the stored cells of a table, in its order; see `sudare.Release.error`."""

    @property
    def low(self) -> Floats:
        """Where the interval begins."""

    @property
    def high(self) -> Floats:
        """Where the interval ends."""

    @property
    def expected_error(self) -> Floats:
        """The expected absolute error."""


class Bars(Protocol):
    """Makes the intervals of a table when they are asked for."""

    def __call__(self) -> Intervals:
        """One entry per stored cell."""


class Framed(ABC):
    """What has rows: `to_arrow`, and from it the frames of other libraries."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""

    def to_pandas(self) -> pd.DataFrame:
        with installed("pandas"):
            import pandas  # noqa: F401 - pyarrow imports it with a sentence of its own

            return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        with installed("polars"):
            import polars

            frame = polars.from_arrow(self.to_arrow())
            assert isinstance(frame, polars.DataFrame)  # noqa: S101 - a table is one
            return frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """`to_arrow` for whatever takes Arrow streams: Polars, DuckDB, Ibis, ``pandas.DataFrame.from_arrow``."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


@contextmanager
def installed(package: str) -> Iterator[None]:
    """Say which package is missing."""
    try:
        yield
    except MissingExtraError:
        raise
    except ImportError:
        raise MissingExtraError(
            "{package} is not installed here", hint="Run: pip install {package}", package=package
        ) from None


def arrow() -> Any:
    """pyarrow, or the refusal that names the extra."""
    return MissingExtraError.load("pyarrow", Message("pyarrow"), "frames")


def arrow_errors() -> tuple[type[Exception], ...]:
    """What pyarrow raises, where it is loaded."""
    loaded = sys.modules.get("pyarrow")
    return () if loaded is None else (loaded.ArrowException,)


def label_columns(domain: Domain, index: Integers) -> dict[str, NDArray[Any] | Coded]:
    """The labels of cells: one column per attribute (two for a grid).

    The values of a listed attribute are a dictionary, which also has those without a cell.
    """
    columns: dict[str, NDArray[Any] | Coded] = {}
    coordinates = domain.coordinates(index)
    for name, attribute in domain.attributes.items():
        own = [coordinates[number] for number, axis in enumerate(domain.axes) if axis.name == name]
        if attribute.listed:
            names = attribute.labels(np.arange(attribute.lengths[0]))
            columns[name] = Coded(own[0].astype(np.int32), names, attribute.ordered)
            continue
        labels = attribute.labels(*own)
        columns |= zip(attribute.label_columns(name), np.atleast_2d(labels.T), strict=True)
    return columns


def place_of(table: CountTable) -> str:
    """The name of the first place."""
    for name, attribute in table.domain.attributes.items():
        if isinstance(attribute, Place):
            return name
    raise OutputError("a map format needs a place in the domain")


def cells_of_place(table: CountTable, index: Any = None) -> tuple[Place, list[Integers], Integers]:
    """The first place, the coordinates of its distinct cells, and which of these each row of the table has.

    The rows are those of ``index``, if it is given.
    """
    name = place_of(table)
    place = table.domain.attributes[name]
    assert isinstance(place, Place)  # noqa: S101 - it was found as one
    coordinates = table.domain.coordinates(table.index if index is None else index)
    own = [coordinates[number] for number, axis in enumerate(table.domain.axes) if axis.name == name]
    cells, which = np.unique(np.ravel_multi_index(own, place.lengths), return_inverse=True)
    return place, list(np.unravel_index(cells, place.lengths)), which


def to_geopandas(table: CountTable) -> geopandas.GeoDataFrame:
    """`to_arrow` with the polygon of the first place, in the place's own coordinate reference system."""
    import geopandas
    import shapely

    place, cells, which = cells_of_place(table)
    shapes = shapely.from_wkb(place.shapes(*cells).wkb())
    return geopandas.GeoDataFrame(to_arrow(table).to_pandas(), geometry=shapes[which], crs=place.epsg)


def to_columns(table: CountTable) -> Iterator[dict[str, NDArray[Any] | Coded]]:
    """One row per stored cell, in pieces, of which there is one at least: index, labels and count.

    Also ``low``, ``high``, ``expected_error`` where they are known.
    """
    known = None if table.intervals is None else table.intervals()
    for start in range(0, max(1, len(table)), AT_ONCE):
        piece = slice(start, start + AT_ONCE)
        columns = {"index": table.index[piece], **label_columns(table.domain, table.index[piece])}
        columns["count"] = table.count[piece]
        if known is not None:
            bars = {"low": known.low, "high": known.high, "expected_error": np.round(known.expected_error, 2)}
            columns |= {name: bar[piece] for name, bar in bars.items()}
        yield columns


def to_arrow(table: CountTable, *, index: bool = False) -> pa.Table:
    """`to_columns` as one table of Arrow, with the index if it is asked for."""
    made = arrow_table(list(to_columns(table)))
    return made if index else made.drop_columns(["index"])


def arrow_table(pieces: Sequence[Mapping[str, NDArray[Any] | Coded]]) -> pa.Table:
    """Columns that come in pieces as one table of Arrow."""
    pa = arrow()

    def array(column: NDArray[Any] | Coded) -> Any:
        if isinstance(column, Coded):
            return pa.DictionaryArray.from_arrays(pa.array(column.codes), column.labels, ordered=column.ordered)
        return pa.array(column)

    return pa.concat_tables(pa.table({name: array(each) for name, each in piece.items()}) for piece in pieces)
