"""The released cells as Parquet files, one file per part: written by the workers, committed by a rename.

A part's bytes follow from the release alone, so that a second attempt replaces a file by an identical one. The workers
report what each file holds, with a digest of the bytes they wrote.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sudare.arrays import Cells, Integers
from sudare.domain import CountTable, Domain
from sudare.errors import AccountingError, OutputError, system_reason
from sudare.spark.store import CellStore, Jobs

if TYPE_CHECKING:
    import pyarrow as pa


ROWS_AT_ONCE = 2**18

Describe = Callable[[CountTable], Any]
"""A released table as the Arrow table that is written."""


def part_name(number: int) -> str:
    """The name of a part's file; names sort as parts do.

    >>> part_name(7)
    'part-000007.parquet'
    """
    return f"part-{number:06d}.parquet"


@dataclass(frozen=True)
class PartFile:
    """What one file holds: cells from ``first`` to ``last`` in index order."""

    name: str
    rows: int
    total: int
    first: int
    last: int
    sha256: str
    bytes: int


def write_file(target: Path, pieces: Iterator[pa.Table]) -> tuple[str, int]:
    """A Parquet file, under its name only when it is complete: the SHA-256 and the number of its bytes."""
    import pyarrow.parquet as pq

    attempt = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        first = next(pieces)
        with pq.ParquetWriter(attempt, first.schema, compression="zstd") as writer:
            writer.write_table(first)
            for piece in pieces:
                writer.write_table(piece)
        with attempt.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = attempt.stat().st_size
        attempt.replace(target)
    except OSError as problem:
        attempt.unlink(missing_ok=True)
        raise OutputError(
            "a part of the release cannot be written: {reason}", value=target.name, reason=system_reason(problem)
        ) from None
    return digest, size


class ReleasedCells(Protocol):
    """Gives the released cells of a part, job by job, by ascending index."""

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> Iterator[Cells]:
        """Integers > 0."""


@dataclass(frozen=True)
class ReleaseTarget:
    """Where a release over ``domain`` is written, and how: a folder that all workers reach under the same path."""

    domain: Domain
    folder: str
    describe: Describe

    def write(self, store: CellStore, jobs: Jobs, cells: ReleasedCells) -> tuple[PartFile, ...]:
        """Have the workers write all parts; a release without cells is one empty part."""
        found = store.each(jobs, WritePart(cells, self))
        parts = sorted((PartFile(**row) for row in found.to_pylist()), key=lambda part: part.name)
        for before, after in pairwise(parts):
            if after.first <= before.last or after.name == before.name:
                raise AccountingError("two parts of the release overlap", value=after.name)
        nothing = np.empty(0, dtype=np.int64)
        return tuple(parts) or (self.write_part(part_name(0), nothing, nothing.copy()),)

    def write_part(self, name: str, index: Integers, count: Integers) -> PartFile:
        """One file, under its name only when it is complete."""
        if not (index[1:] > index[:-1]).all():
            raise AccountingError("the cells of a part are not in order", value=name)
        pieces = range(0, max(len(index), 1), ROWS_AT_ONCE)
        described = (self._described(index[at : at + ROWS_AT_ONCE], count[at : at + ROWS_AT_ONCE]) for at in pieces)
        digest, size = write_file(Path(self.folder) / name, described)
        ends = (int(index[0]), int(index[-1])) if len(index) else (-1, -1)
        return PartFile(name, len(index), int(count.sum()), *ends, digest, size)

    def _described(self, index: Integers, count: Integers) -> Any:
        return self.describe(CountTable.released(self.domain, index, count))


@dataclass(frozen=True)
class WritePart:
    """The kernel that writes a part: the cells that ``cells`` gives."""

    cells: ReleasedCells
    output: ReleaseTarget

    @property
    def gives(self) -> pa.Schema:
        """See `Kernel`: one row, none where no cell is above 0."""
        import pyarrow as pa

        kinds = {"str": pa.string(), "int": pa.int64()}
        return pa.schema([(each.name, kinds[str(each.type)]) for each in fields(PartFile)])

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> pa.Table:
        import pyarrow as pa

        found = list(self.cells(jobs, index, count))
        cells = tuple(np.concatenate([own[axis] for own in found]) for axis in (0, 1))
        if not len(cells[0]):
            return self.gives.empty_table()
        name = part_name(jobs.column("part")[0].as_py())
        return pa.Table.from_pylist([vars(self.output.write_part(name, *cells))], self.gives)


def empty_folder(folder: Path) -> Path:
    """The folder for the parts: made where it is not there, refused where something is in it."""
    with OutputError.from_system("the output folder cannot be made: {reason}", value=str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise OutputError("the output folder is not empty", value=str(folder), hint="Name another one.")
    return folder.absolute()
