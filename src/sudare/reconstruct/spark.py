"""`perturb` in a cluster: rows randomised by the workers, in an order that tells nothing.

A row has no name from which a task could derive its noise, and must not have the same noise as an equal row. So equal
rows are counted together, and put into parts by a hash of their values: which rows a part has follows from the data
alone, and its noise from the part's number and values (`Grant`). That order would give values away, so each noisy row
gets a random place among all of them, and the files hold rows by these places.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain.ids import MissingUnit
from sudare.engines import Records
from sudare.engines.bound_sql import NOBODY_COLUMN
from sudare.engines.spark_engine import spark_engine_of
from sudare.engines.spark_sources import Scratch
from sudare.engines.verbs import refuse_nobody
from sudare.errors import AccountingError, InputError, ParameterError, PrivacyWarning
from sudare.noise import Grant, Source, delegate
from sudare.parameters import keywords_of
from sudare.privacy import Budget, Guarantee, Unit, whole
from sudare.privacy.guarantee import warn_of
from sudare.reconstruct.noises import NamedColumns, Noise, RetentionNoise
from sudare.reconstruct.perturb import PerturbedFacts, PerturbParameters, declared_noises, promise, row_cost
from sudare.reconstruct.perturb import perturb as perturb_here
from sudare.spark.parts import ROWS_AT_ONCE, empty_folder, part_name, write_file
from sudare.spark.spark_store import carried, declared, working

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

ROWS_PER_PART = 2**20
_TOGETHER = 2**14
"""The most equal rows that stay together, so that they never fill a part alone."""
_PLACE_BITS = 62


@dataclass(frozen=True)
class RowsFile:
    """What one file holds."""

    name: str
    rows: int
    sha256: str
    bytes: int


@dataclass(frozen=True)
class ClusterPerturbed(PerturbedFacts):
    """Perturbed rows in files, in random order; as `sudare.reconstruct.Perturbed`."""

    channel: dict[str, Noise]
    guarantee: Guarantee
    row_epsilon: Fraction
    folder: Path
    parts: tuple[RowsFile, ...]

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def columns(self) -> dict[str, Noise]:
        return self.channel


@keywords_of(PerturbParameters)
def perturb(
    records: Records,
    folder: str | Path,
    bounds: Mapping[str, Any] | None = None,
    *,
    parameters: PerturbParameters,
    unit: str | None = None,
    max_rows: int = 1,
    key: bytes | None = None,
    missing_unit: str | MissingUnit = "error",
    seed: int | None = None,
    source: Source | None = None,
    scratch: str | Path | None = None,
    rows_per_part: int = ROWS_PER_PART,
) -> ClusterPerturbed:
    """`sudare.reconstruct.perturb` for records in Spark: the columns that have bounds or categories, never collected.

    Privacy: as there, each row is randomised on its own, at the same cost; see its argument. ``unit`` is the column
    that tells persons apart: at most ``max_rows`` rows of each are kept. With a ``seed`` the same bytes come out
    whatever the number of workers and partitions.
    """
    engine = spark_engine_of(records)
    source = Source.chosen(source, seed)
    rows_per_part = whole(rows_per_part, "rows_per_part")
    if unit is None and max_rows != 1:
        raise ParameterError(
            "max_rows needs a unit", value=max_rows, hint="Say with unit= which column holds the person."
        )
    names = tuple({**(bounds or {}), **(parameters.categories or {})})
    selection = records.selection(names, unit, max_rows, key, missing_unit)
    owner = Unit() if unit is None else Unit("person", max_rows)
    with Scratch.under(scratch, engine.frame.sparkSession) as held:
        with engine.selected(*selection) as rows:
            # Frozen as soon as they are chosen: a task that is done again must not choose again.
            chosen = held.freeze(rows)
        with working():
            if selection[1] is not None:
                refuse_nobody(selection[1], np.array(chosen.selectExpr(f"bool_or({NOBODY_COLUMN})").collect()))
                chosen = chosen.drop(NOBODY_COLUMN)
            counted = held.freeze(chosen.groupBy(*chosen.columns).count())
        records.state.refuse_changed()
        with working():
            number = int(counted.agg({"count": "sum"}).toArrow().column(0)[0].as_py() or 0)
        if not number:
            raise InputError("there are no rows to perturb")
        row_epsilon = row_cost(parameters.k, parameters.epsilon, number, owner)
        shape = NamedColumns(names, ())
        laws = declared_noises(shape, bounds, parameters, row_epsilon)
        channel = dict(zip(names, (law for law, _ in laws), strict=True))
        target = empty_folder(Path(folder))
        # A worker sees a part of the rows: it is told their cost, which with k depends on the number of all of them.
        of_a_part = replace(parameters, k=None, epsilon=row_epsilon * owner.max_rows)
        terms = {"bounds": bounds, "parameters": of_a_part, "unit": owner}
        delegate("rows in parts", Budget(epsilon=row_epsilon))
        parts = max(1, -(-number // rows_per_part))
        kernel = PerturbRows(names, terms, channel, row_epsilon, source.grant("rows in parts"))
        with working():
            noisy = held.freeze(_in_parts(counted, parts).groupBy("part").applyInArrow(_task(kernel), kernel.gives))
            write = WriteRows(str(target), names)
            found = _by_place(noisy, parts).groupBy("file").applyInArrow(_task(write), write.gives).toArrow()
        files = tuple(sorted((RowsFile(**row) for row in found.to_pylist()), key=lambda each: each.name))
    guarantee = promise(row_epsilon, owner, parameters.k)
    if source.seeded:
        guarantee = guarantee.without_protection()
    warn_of(guarantee)
    return ClusterPerturbed(channel, guarantee.unbooked(), row_epsilon, target, files)


@dataclass(frozen=True)
class PerturbRows:
    """The rows of one part, each with noise of its own and a random place among all rows."""

    names: tuple[str, ...]
    terms: dict[str, Any]
    channel: dict[str, Noise]
    row_epsilon: Fraction
    grant: Grant

    @property
    def gives(self) -> str:
        """The columns of the answer, in Spark's words."""
        return declared(self._schema())

    def _schema(self) -> pa.Schema:
        import pyarrow as pa

        columns = [(f"c{number}", _kind(self.channel[name])) for number, name in enumerate(self.names)]
        return pa.schema([*columns, ("place", pa.int64())])

    def __call__(self, rows: pa.Table, /) -> pa.Table:
        """Rows come counted, in any order."""
        import pyarrow as pa

        own = [f"c{number}" for number in range(len(self.names))]
        rows = rows.sort_by([(name, "ascending") for name in [*own, "chunk"]])
        times = rows.column("size").to_numpy()
        values = [rows.column(name).to_numpy() for name in own]
        label = f"part {rows.column('part')[0].as_py()}"
        part = self.grant.part(label, times, *(piece for column in values for piece in _plain(column)))
        columns = {name: np.repeat(column, times) for name, column in zip(self.names, values, strict=True)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # said where the work was asked for
            made = perturb_here(columns, **self.terms, source=part.source())
        if made.row_epsilon != self.row_epsilon or tuple(made.channel.values()) != tuple(self.channel.values()):
            raise AccountingError("a worker perturbed rows at another cost than was promised")
        words = part.source().child("places among all rows").words(2 * made.rows).view(np.uint64)
        place = (words >> np.uint64(64 - _PLACE_BITS)).astype(np.int64)
        return pa.table([*(pa.array(made.values[name]) for name in self.names), place], schema=self._schema())


@dataclass(frozen=True)
class WriteRows:
    """One file: its rows by their places, which are then forgotten."""

    folder: str
    names: tuple[str, ...]
    gives = "name string, rows bigint, sha256 string, bytes bigint"

    def __call__(self, rows: pa.Table, /) -> pa.Table:
        """Writes, and tells what was written."""
        import pyarrow as pa

        name = part_name(rows.column("file")[0].as_py())
        ordered = rows.take(np.argsort(rows.column("place").to_numpy(), kind="stable"))
        ordered = ordered.drop_columns(["file", "place"]).rename_columns(list(self.names)).combine_chunks()
        starts = range(0, len(ordered), ROWS_AT_ONCE)
        digest, size = write_file(Path(self.folder) / name, (ordered.slice(at, ROWS_AT_ONCE) for at in starts))
        return pa.Table.from_pylist([vars(RowsFile(name, len(ordered), digest, size))])


def _in_parts(counted: DataFrame, parts: int) -> DataFrame:
    """Counted rows, many equal ones divided, each with its part."""
    own = counted.columns[:-1]
    chunk = f"explode(sequence(0L, (`count` - 1) DIV {_TOGETHER})) AS chunk"
    divided = counted.selectExpr(*own, "`count`", chunk)
    size = f"least({_TOGETHER}, `count` - chunk * {_TOGETHER}) AS size"
    part = f"pmod(xxhash64(chunk, {', '.join(own)}), {parts}L) AS part"
    return divided.selectExpr(*own, "chunk", size, part)


def _by_place(noisy: DataFrame, files: int) -> DataFrame:
    """Noisy rows, each with its file: equal stretches of places."""
    return noisy.selectExpr("*", f"shiftright(place, 31) * {files}L DIV {1 << (_PLACE_BITS - 31)}L AS file")


def _task(kernel: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a worker runs for one group; PySpark would take hints for a choice of interface."""

    def task(rows):  # type: ignore[no-untyped-def]  # see above
        with carried():
            return kernel(rows)

    return task


def _kind(noise: Noise) -> pa.DataType:
    import pyarrow as pa

    if not isinstance(noise, RetentionNoise):
        return pa.float64()
    kinds = {type(category) for category in noise.categories}
    known = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if len(kinds) != 1 or not kinds <= known.keys():
        raise ParameterError("the categories of a column are of more than one kind", value=noise.categories)
    return known[kinds.pop()]


def _plain(column: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """A column as arrays of numbers from which it could be made again."""
    if column.dtype != object:
        yield column
        return
    texts: Sequence[bytes] = [b"" if text is None else text.encode() for text in column]
    yield np.array([-1 if text is None else len(own) for text, own in zip(column, texts, strict=True)], dtype=np.int64)
    yield np.frombuffer(b"".join(texts), dtype=np.uint8)
