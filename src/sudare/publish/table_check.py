"""What `verify` checks in the files of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sudare.domain import CountTable, Domain
from sudare.errors import SudareError, VerificationError
from sudare.publish.files import FILE_OF


def check_table(folder: Path, certificate: dict[str, Any]) -> list[str]:
    """The table that is listed is one over the declared domain and has the certified sums and signs."""
    try:
        domain = Domain.from_json(certificate["domain"])
    except (SudareError, KeyError, TypeError, ValueError) as problem:
        raise VerificationError(f"the certificate states no valid domain: {problem}") from None
    summary, files = certificate["summary"], certificate["files"]
    checks = []
    if FILE_OF["parquet"] in files:
        import pyarrow.parquet as pq

        listed = pq.read_table(folder / FILE_OF["parquet"], columns=["index", "count"])
        index, count = (listed.column(name).to_numpy() for name in ("index", "count"))
        if len(index) > 1 and not (index[1:] > index[:-1]).all():
            raise VerificationError("cells are listed twice or out of order", value=FILE_OF["parquet"])
        table = CountTable.released(domain, index, count)
        found = {
            "nonzero_cells": len(table),
            "total": table.total,
            "integers": table.count.dtype.kind == "i",
            "smallest": min(0, table.count.min().item()) if len(table) else 0,
        }
        for name, value in found.items():
            if summary.get(name) != value:
                raise VerificationError(f"the table's {name} is not the certified one", value=value)
        checks.append(f"{FILE_OF['parquet']}: cells in the domain, sum, signs and integrality agree")
    if FILE_OF["csv"] in files:
        import pyarrow.compute as pc
        import pyarrow.csv as csv

        counts = csv.read_csv(folder / FILE_OF["csv"]).column("count")
        if len(counts) != summary["nonzero_cells"] or (pc.sum(counts).as_py() or 0) != summary["total"]:
            raise VerificationError("the table's sum is not the certified one", value=FILE_OF["csv"])
        checks.append(f"{FILE_OF['csv']}: rows and sum agree")
    return checks
