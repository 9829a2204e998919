"""What `verify` checks in the files of a table, piece by piece: a table may be larger than the memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.domain import CountTable, Domain
from sudare.errors import SudareError, VerificationError
from sudare.publish.files import FILE_OF
from sudare.words import PageMessage

if TYPE_CHECKING:
    import pyarrow as pa


def check_table(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
    """The table that is listed is one over the declared domain and has the certified sums and signs."""
    try:
        domain = Domain.from_json(certificate["domain"])
    except (SudareError, KeyError, TypeError, ValueError) as problem:
        raise VerificationError("the certificate states no valid domain: {reason}", reason=problem) from None
    summary, files = certificate["summary"], certificate["files"]
    checks = []
    listed = sorted(name for name, facts in files.items() if facts.get("format") == "parquet")
    if listed:
        found = _found(domain, [folder / name for name in listed])
        for name, value in found.items():
            if not _agrees(value, summary.get(name)):
                raise VerificationError("the table's {name} is not the certified one", value=value, name=name)
        where = listed[0] if len(listed) == 1 else PageMessage("verified.parts", parts=len(listed))
        checks.append(PageMessage("verified.cells", file=where))
    if FILE_OF["csv"] in files:
        import pyarrow.compute as pc
        import pyarrow.csv as csv

        counts = csv.read_csv(folder / FILE_OF["csv"]).column("count")
        if len(counts) != summary["nonzero_cells"] or (pc.sum(counts).as_py() or 0) != summary["total"]:
            raise VerificationError("the table's sum is not the certified one", value=FILE_OF["csv"])
        checks.append(PageMessage("verified.sum", file=FILE_OF["csv"]))
    return checks


def _agrees(value: Any, certified: Any) -> bool:
    """Equal; sums of floats may differ by the order in which they were added."""
    if isinstance(value, float) and isinstance(certified, float):
        return math.isclose(value, certified, rel_tol=1e-9, abs_tol=1e-6)
    return bool(value == certified)


def _found(domain: Domain, paths: list[Path]) -> dict[str, Any]:
    """What the files hold in the order of their names, in which cells must ascend."""
    cells, smallest, integers, last = 0, 0, True, -1
    total: int | float = 0
    for path in paths:
        for batch in _batches(path):
            index, count = (batch.column(name).to_numpy() for name in ("index", "count"))
            if not len(index):
                continue
            if index[0] <= last or not (index[1:] > index[:-1]).all():
                raise VerificationError("cells are listed twice or out of order", value=path.name)
            piece = CountTable.released(domain, index, count)
            cells, last, total = cells + len(piece), int(index[-1]), total + piece.total
            smallest = min(smallest, count.min().item())
            integers = integers and count.dtype.kind == "i"
    return {"nonzero_cells": cells, "total": total, "integers": integers, "smallest": smallest}


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    yield from pq.ParquetFile(path).iter_batches(batch_size=1 << 20, columns=["index", "count"])
