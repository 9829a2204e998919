"""What `verify` checks in the files of a k-anonymous sample: k, l and t, from the published bytes alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.anonymity.frames import ordered_values
from sudare.anonymity.grouping import group, totals
from sudare.anonymity.requirements import Demand, Requirement, requirement_from_json
from sudare.errors import SudareError, VerificationError
from sudare.words import PageMessage

if TYPE_CHECKING:
    import pyarrow as pa

FILE_OF = {"parquet": "sample.parquet", "csv": "sample.csv"}


def check_sample(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
    """Every file has the certified columns, rows and classes, and every class k rows and what else is required."""
    try:
        stated = certificate["sample"]
        columns, sensitive = list(map(str, stated["columns"])), list(map(str, stated["sensitive"]))
        k, summary = int(stated["k"]), certificate["summary"]
        requirements = [requirement_from_json(each) for each in stated["requirements"]]
    except (SudareError, AttributeError, KeyError, TypeError, ValueError):
        raise VerificationError("the certificate states no valid sample") from None
    checks = []
    for form, name in FILE_OF.items():
        if name in certificate["files"]:
            rows = _read(folder / name, form)
            if rows.column_names != [*columns, *sensitive]:
                raise VerificationError("the sample has other columns than the certified ones", value=name)
            checks += _judged(rows, name, columns, k, requirements, summary)
    return checks


def _judged(
    rows: pa.Table, name: str, columns: list[str], k: int, requirements: list[Requirement], summary: dict[str, Any]
) -> list[PageMessage]:
    class_of, classes = _classes(rows, columns)
    ones = np.ones(rows.num_rows, dtype=np.int64)
    sizes = totals(class_of, classes, ones)
    found = {
        "records": rows.num_rows,
        "classes": classes,
        "smallest_class": int(sizes.min()) if classes else None,
    }
    if classes and sizes.min() < k:
        raise VerificationError(
            "a combination of values is in fewer rows than k", value=name, allowed="at least {k}", k=k
        )
    for fact, value in found.items():
        if summary.get(fact) != value:
            raise VerificationError("the sample's {fact} is not the certified one", value=value, fact=fact)
    checks = [PageMessage("verified.combinations", file=name, columns=", ".join(columns), k=str(k))]
    for requirement in requirements:
        labels = rows.column(requirement.column).to_pylist()
        values = ordered_values(labels)
        place = {value: rank for rank, value in enumerate(values)}
        codes = np.array([place[label] for label in labels], dtype=np.int64)
        demand = Demand(requirement, codes, totals(codes, len(values), ones))
        if not demand.holds(class_of, classes, codes, ones).all():
            raise VerificationError("the sample lacks {requirement}", value=name, requirement=str(requirement))
        checks.append(PageMessage("verified.requirement", file=name, requirement=requirement.message))
    return checks


def _classes(rows: pa.Table, columns: list[str]) -> tuple[Any, int]:
    """The class of each row; a missing value is a value."""
    codes, sizes = [], []
    for column in columns:
        encoded = rows.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
        codes.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))
        sizes.append(max(len(encoded.dictionary), 1))
    return group(codes, sizes)


def _read(path: Path, form: str) -> pa.Table:
    """A file as a table of text."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    try:
        if form == "parquet":
            return pq.read_table(path)
        names = csv.open_csv(path).schema.names
        options = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        return csv.read_csv(path, convert_options=options)
    except (pa.ArrowException, OSError):
        raise VerificationError("a file of the sample cannot be read", value=path.name) from None
