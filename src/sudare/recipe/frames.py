"""The rows of a release in files: written, read back for `verify`, and measured before they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.errors import VerificationError

if TYPE_CHECKING:
    import pyarrow as pa


def write_frame(frame: pa.Table, folder: Path, names: Mapping[str, str], formats: Sequence[str]) -> dict[str, Path]:
    """Write ``frame`` into ``folder`` in each of ``formats`` ("parquet", "csv"), under the file name in ``names``."""
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    paths: dict[str, Path] = {form: folder / names[form] for form in formats}
    if "parquet" in paths:
        pq.write_table(frame, paths["parquet"], compression="zstd")
    if "csv" in paths:
        csv.write_csv(frame, paths["csv"])
    return paths


def read_frame(path: Path, form: str, *, text: Sequence[str] | None = ()) -> pa.Table:
    """A file that `write_frame` wrote, or a `VerificationError`.

    ``text``: the columns of a CSV file that hold text. None: all of them do, and a field that is empty and not quoted
    is a missing value.
    """
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    try:
        if form == "parquet":
            return pq.read_table(path)
        names = csv.open_csv(path).schema.names if text is None else text
        missing = {"null_values": [""], "strings_can_be_null": True, "quoted_strings_can_be_null": False}
        options = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), **(missing if text is None else {})
        )
        return csv.read_csv(path, convert_options=options)
    except (pa.ArrowException, OSError):
        raise VerificationError("a file of the release cannot be read", value=path.name) from None


def row_size(frame: pa.Table, formats: Sequence[str]) -> float:
    """Bytes that a row of ``frame`` takes in all formats together: its first rows, written into memory."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    some = frame.slice(0, 1 << 14)
    written = 0
    for name in formats:
        sink = pa.BufferOutputStream()
        if name.endswith("parquet"):
            pq.write_table(some, sink, compression="zstd")
        else:
            csv.write_csv(some, sink)
        written += sink.getvalue().size
    return written / max(1, len(some))
