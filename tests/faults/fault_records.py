"""Records: CSV, Parquet and e-Stat files, and what is asked of them."""

from __future__ import annotations

import gzip
import io
import zipfile
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fault_changes import CANARY, CANARY_NUMBER, changed_bytes, changed_cells, junk
from hypothesis import strategies as st

from sudare.domain import Bins, Categories, Domain, Line, Mesh
from sudare.engines import estat_table, read

HEADER = ["person", "age", "sex", "town", "n", "lat", "lon"]
ROWS = [
    ["p1", "31", "f", "A", "3", "35.36", "139.37"],
    ["p2", "7", "m", "B", "0", "35.37", "139.38"],
    [CANARY, str(CANARY_NUMBER), CANARY, CANARY, str(CANARY_NUMBER), "73.19731", "139.4"],
    ["p1", "", "f", "A", "2", "35.36", "139.37"],
    ["山田", "45", "m", "東", "4", "35.36", "139.37"],
]


@st.composite
def verbs(draw: st.DrawFn) -> tuple[Any, ...]:
    """What is asked of the records."""
    domain = draw(st.sampled_from(["age", "sex", "town", "mesh", "codes", "cross"]))
    unit = draw(st.sampled_from([None, "person", "age", "n"]))
    outside = draw(st.sampled_from(["error", "drop", "clamp"]))
    return draw(st.sampled_from(["count", "count", "table", "values", "groups"])), domain, unit, outside


@cache
def domain_of(name: str) -> tuple[Domain, dict[str, Any]]:
    mesh = Mesh("500m", rows=(8480, 8496), columns=(6300, 6316))
    return {
        "age": (Domain(age=Bins(0, 100, step=5)), {}),
        "sex": (Domain(sex=Categories(["f", "m"])), {}),
        "town": (Domain(town=Line(50)), {"town": "n"}),
        "mesh": (Domain(mesh=mesh), {"mesh": ("lat", "lon")}),
        "codes": (Domain(mesh=mesh), {"mesh": "n"}),
        "cross": (Domain(sex=Categories(["f", "m"]), age=Bins(edges=[0, 15, 65, None])), {}),
    }[name]


def ask(path: Path, asked: tuple[Any, ...], encoding: str | None = None) -> None:
    verb, name, unit, outside = asked
    records = read(path, encoding=encoding)
    domain, columns = domain_of(name)
    if verb == "count":
        records.count(domain, columns, unit=unit, max_rows=1 if unit is None else 2, outside=outside)
    elif verb == "table":
        records.table(domain, columns, count="n", outside=outside)
    else:
        named = columns.values() or domain.attributes
        wanted = [name for each in named for name in ([each] if isinstance(each, str) else each)]
        getattr(records, verb)(wanted, unit=unit)


@st.composite
def csv_files(draw: st.DrawFn) -> tuple[str, bytes, str | None, tuple[Any, ...]]:
    """Name, bytes, declared encoding, and what is asked."""
    cells = st.one_of(junk.map(str), st.sampled_from(['"', '"a', 'a"b', "1,5", "１２", "+3", "0x10", "1_0"]))
    rows = [*([HEADER] if draw(st.integers(0, 9)) else []), *draw(changed_cells(ROWS, cells))]
    delimiter = draw(st.sampled_from([",", ",", ",", "\t", ";"]))
    ending = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    quoted = draw(st.booleans())
    text = ending.join(delimiter.join(f'"{cell}"' if quoted else cell for cell in row) for row in rows) + ending
    written = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "cp932", "utf-16"]))
    content = text.encode(written, "replace")
    if draw(st.integers(0, 2)) == 0:
        content = draw(changed_bytes(content))
    suffix = draw(st.sampled_from([".csv", ".csv", ".csv", ".tsv", ".csv.gz"]))
    if suffix.endswith("gz"):
        content = gzip.compress(content, mtime=0)
        content = draw(changed_bytes(content)) if draw(st.integers(0, 3)) == 0 else content
    declared = draw(st.sampled_from([None, None, None, "utf-8", "cp932", "utf-16", "latin-1", "rot13", "idna"]))
    return f"records{suffix}", content, declared, draw(verbs())


def use_csv(drawn: tuple[str, bytes, str | None, tuple[Any, ...]], folder: Path) -> None:
    """Ask: a torn quote or line may move records into the line of names, and no message repeats those either."""
    name, content, encoding, asked = drawn
    path = folder / name
    path.write_bytes(content)
    ask(path, asked, encoding)


_TYPES: tuple[pa.DataType, ...] = (
    *(pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.null()),
    *(pa.string(), pa.large_string(), pa.binary(), pa.binary(4), pa.dictionary(pa.int8(), pa.string())),
    *(pa.date32(), pa.timestamp("us"), pa.timestamp("ns", tz="Asia/Tokyo"), pa.time64("us"), pa.duration("s")),
    *(pa.decimal128(10, 2), pa.decimal256(60, 0), pa.list_(pa.int64()), pa.struct([("a", pa.int64())])),
    pa.map_(pa.string(), pa.int64()),
)
_VALUES: tuple[Any, ...] = (
    *(None, 0, 1, -1, 7, 255, 2**62, 2**63 - 1, 2**64 - 1, CANARY_NUMBER, 0.5, 1e300, float("nan"), float("inf")),
    *("", "f", "m", "5339", CANARY, "a\x00b", b"\xff\xfe", True, [1], {"a": 1}, Decimal("3.14")),
)


@st.composite
def parquet_files(draw: st.DrawFn) -> tuple[bytes, tuple[Any, ...]]:
    """A table with columns of any type and values that fit it, or a file with changed bytes."""
    columns = {}
    for name in HEADER:
        if draw(st.integers(0, 11)) == 0:
            continue
        given = draw(st.lists(st.sampled_from(_VALUES), min_size=4, max_size=4))
        kind = draw(st.sampled_from(_TYPES)) if draw(st.integers(0, 2)) == 0 else None
        columns[name] = _column(given, kind or _usual(name))
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target, compression=draw(st.sampled_from(["none", "snappy", "zstd"])))
    content = target.getvalue()
    return draw(changed_bytes(content)) if draw(st.integers(0, 2)) == 0 else content, draw(verbs())


def _usual(name: str) -> pa.DataType:
    return {
        "person": pa.string(),
        "sex": pa.string(),
        "town": pa.string(),
        "lat": pa.float64(),
        "lon": pa.float64(),
    }.get(name, pa.int64())


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    kept = []
    for value in values:
        try:
            pa.array([value, None], kind)
            kept.append(value)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            kept.append(None)
    try:
        return pa.array(kept, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # each fits, but not beside the others
        return pa.nulls(len(values), kind)


def use_parquet(drawn: tuple[bytes, tuple[Any, ...]], folder: Path) -> None:
    content, asked = drawn
    path = folder / "records.parquet"
    path.write_bytes(content)
    ask(path, asked)


ESTAT = [
    ["KEY_CODE", "HTKSYORI", "HTKSAKI", "GASSAN", "T001141001", "T001141002"],
    ["", "", "", "", "　人口（総数）", "　人口（男）"],
    ["533945771", "0", "", "", "31", "15"],
    ["533945772", "1", "533945771", "", "7", "*"],
    ["533945773", "2", "", "533945772", "*", "-"],
]


@st.composite
def estat_files(draw: st.DrawFn) -> tuple[str, bytes, str | None, str]:
    cells = st.one_of(
        junk.map(str), st.sampled_from(["533945", "5339", "53394577", "999999999", "²", "٣", "1" * 40, "-3", "1.5"])
    )
    rows = draw(changed_cells(ESTAT, cells))
    content = "\r\n".join(",".join(row) for row in rows).encode("cp932", "replace")
    if draw(st.integers(0, 2)) == 0:
        content = draw(changed_bytes(content))
    name = "tblT001141H5339.txt"
    if draw(st.booleans()):
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in draw(
                st.sampled_from([[name], [name], [name], [], [name, "tbl2.txt"], ["x/" + name, "readme"]])
            ):
                archive.writestr(member, content)
        name, content = "mesh.zip", target.getvalue()
        content = draw(changed_bytes(content)) if draw(st.booleans()) else content
    value = draw(st.sampled_from([None, None, "T001141001", "T001141002", "T00114100", "KEY_CODE", ""]))
    return name, content, value, draw(st.sampled_from(["error", "drop"]))


def use_estat(drawn: tuple[str, bytes, str | None, str], folder: Path) -> None:
    name, content, value, outside = drawn
    (folder / name).write_bytes(content)
    estat_table(folder / name, value, outside=outside)
