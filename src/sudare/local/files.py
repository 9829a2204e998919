"""Reports on disk: Parquet (one column of fixed-length bytes) and JSON lines (base64url, one report a line).

Both carry their encoding, so that reports for another survey are refused, and both are read in chunks.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from sudare.domain.frames import arrow
from sudare.errors import InputError, Message, OutputError, SudareError, system_reason
from sudare.local.choosing import encoding_from_json
from sudare.local.encoding import Encoding
from sudare.local.layout import Packed
from sudare.local.reports import Reports, same_survey
from sudare.local.tally import Tally

_COLUMN = "report"
_SURVEY, _SEEDED, _FORMAT = b"sudare.survey", b"sudare.seeded", b"sudare.format"
_BOOKED = b"sudare.booked"
FORMAT = 1
_CHUNK = 1 << 16


@dataclass(frozen=True)
class ReportFile:
    """A file of reports, read anew in chunks whenever it is iterated: what `estimate` takes for files of any length.

    The ending says what it is: ``.parquet``, or ``.jsonl`` (``.ndjson``). With ``encoding``, reports for another
    survey are refused.
    """

    path: Path
    encoding: Encoding | None = None

    def __iter__(self) -> Iterator[Reports]:
        ending = self.path.suffix.lower()
        if ending == ".parquet":
            return read_parquet(self.path, self.encoding)
        if ending in (".jsonl", ".ndjson"):
            return read_json_lines(self.path, self.encoding)
        raise InputError("not a file of reports", value=self.path, allowed=".parquet, .jsonl or .ndjson")


def open_reports(paths: Sequence[Path]) -> Tally | Iterator[Reports]:
    """What `estimate` takes, from files: chunks of reports of one survey, or the tally in a single ``.json``."""
    if len(paths) == 1 and paths[0].suffix.lower() == ".json":
        try:
            return Tally.from_json(_parsed(paths[0].read_bytes()))
        except OSError as problem:
            raise InputError("the tally cannot be read: {reason}", value=paths[0], reason=_reason(problem)) from None
    return chain.from_iterable(ReportFile(path) for path in paths)


def encode_report(report: bytes) -> str:
    """One report as text: base64url without padding.

    >>> encode_report(bytes([255, 1]))
    '_wE'
    """
    return base64.urlsafe_b64encode(report).decode("ascii").rstrip("=")


def decode_report(text: Any, encoding: Encoding) -> bytes:
    """The bytes of one report; `InputError` unless it is base64url of the encoding's length."""
    try:
        report = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (AttributeError, TypeError, ValueError, binascii.Error):
        raise InputError("a report is not base64url text") from None
    if len(report) != encoding.report_bytes:
        raise InputError(
            "a report has the wrong length",
            value=len(report),
            allowed="{report_bytes} bytes",
            report_bytes=encoding.report_bytes,
        )
    if encode_report(report) != text.rstrip("="):
        raise InputError("a report is not base64url text", hint="Its last character has bits beyond the last byte.")
    return report


def write_parquet(reports: Reports, path: Path) -> Path:
    """One column ``report``; the encoding in the metadata of the schema."""
    pa = arrow()
    import pyarrow.parquet as parquet

    survey = json.dumps(reports.encoding.to_json())
    kind = pa.binary(reports.encoding.report_bytes)
    schema = pa.schema(
        [pa.field(_COLUMN, kind, nullable=False)],
        metadata={
            _FORMAT: str(FORMAT).encode(),
            _SURVEY: survey.encode(),
            _SEEDED: b"true" if reports.seeded else b"false",
            **({_BOOKED: b"true"} if reports.booked else {}),
        },
    )
    try:
        with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for part in reports.chunks(_CHUNK):
                buffer = pa.py_buffer(np.ascontiguousarray(part.packed))
                column = pa.FixedSizeBinaryArray.from_buffers(kind, len(part), [None, buffer])
                writer.write_table(pa.table([column], schema=schema))
    except OSError as problem:
        raise OutputError("the reports cannot be written: {reason}", value=path, reason=_reason(problem)) from None
    return path


def read_parquet(path: Path, encoding: Encoding | None = None) -> Iterator[Reports]:
    """Chunks of reports; an empty one where the file has none."""
    pa = arrow()
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(path)
    except OSError as problem:
        raise InputError("the reports cannot be read: {reason}", value=path, reason=_reason(problem)) from None
    except (pa.ArrowInvalid, UnicodeDecodeError):  # the latter for names of columns that are no text
        raise InputError("not a Parquet file", value=path) from None
    with file:
        metadata = file.schema_arrow.metadata or {}
        if _SURVEY not in metadata or file.schema_arrow.names != [_COLUMN]:
            raise InputError("a Parquet file without reports", value=path, hint="Write it with reports.to_parquet.")
        own = _survey(_parsed(metadata[_SURVEY]), _parsed(metadata.get(_FORMAT, b"1")), path, encoding)
        if file.schema_arrow.field(_COLUMN).type != pa.binary(own.report_bytes):
            raise InputError(
                "a report has the wrong length",
                value=path,
                allowed="{report_bytes} bytes",
                report_bytes=own.report_bytes,
            )
        seeded, booked = metadata.get(_SEEDED) == b"true", metadata.get(_BOOKED) == b"true"
        yield Reports(own, _none(own), seeded, booked)
        for batch in _batches(file, path):
            column = batch.column(0)
            if column.null_count:
                raise InputError("a report is missing", value=path)
            start = column.offset * own.report_bytes
            content = np.frombuffer(column.buffers()[1], np.uint8)[start : start + len(column) * own.report_bytes]
            yield Reports(own, content.reshape(-1, own.report_bytes), seeded, booked)


def _batches(file: Any, path: Path) -> Iterator[Any]:
    import pyarrow as pa

    try:
        yield from file.iter_batches(batch_size=_CHUNK)
    except (pa.ArrowException, OSError):
        raise InputError("the Parquet file is damaged", value=path) from None


def write_json_lines(reports: Reports, path: Path) -> Path:
    """A first line with the encoding, then one line per report."""
    first = {"format": FORMAT, "survey": reports.encoding.to_json(), "seeded": reports.seeded}
    try:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(first) + "\n")
            for part in reports.chunks(_CHUNK):
                rows = (f'{{"{_COLUMN}": "{encode_report(row.tobytes())}"}}\n' for row in part.packed)
                file.writelines(rows)
    except OSError as problem:
        raise OutputError("the reports cannot be written: {reason}", value=path, reason=_reason(problem)) from None
    return path


def read_json_lines(path: Path, encoding: Encoding | None = None) -> Iterator[Reports]:
    """Chunks of reports, after a first line about the survey."""
    try:
        with path.open(encoding="utf-8") as file:
            lines = ((number, _object(line, path, number)) for number, line in enumerate(file, 1) if line.strip())
            _, first = next(lines, (1, {}))
            if "survey" not in first:
                raise InputError("the first line does not say the survey", value=path)
            own = _survey(first["survey"], first.get("format", 1), path, encoding)
            seeded = first.get("seeded") is True
            yield Reports(own, _none(own), seeded)
            yield from _chunks(own, seeded, lines)
    except UnicodeDecodeError:
        raise InputError("the reports are not text in UTF-8", value=path) from None
    except OSError as problem:
        raise InputError("the reports cannot be read: {reason}", value=path, reason=_reason(problem)) from None


def _chunks(encoding: Encoding, seeded: bool, lines: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[Reports]:
    while part := list(islice(lines, _CHUNK)):
        content = bytearray()
        for number, line in part:
            try:
                content += decode_report(line.get(_COLUMN), encoding)
            except InputError as problem:
                raise InputError("line {number}: {reason}", number=number, reason=problem) from None
        packed = np.frombuffer(bytes(content), np.uint8).reshape(-1, encoding.report_bytes)
        yield Reports(encoding, packed, seeded)


def _reason(problem: OSError) -> Message:
    """The system's reason, without the path that Arrow adds to its message."""
    return system_reason(problem) if problem.errno else Message("not a file")


def _parsed(text: str | bytes) -> Any:
    """What JSON says; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    value = _parsed(line)
    if not isinstance(value, dict):
        raise InputError("line {number} is not a JSON object", value=path, number=number)
    return value


def _survey(written: Any, version: Any, path: Path, wanted: Encoding | None) -> Encoding:
    InputError.refuse_newer(Message("the file {path}", path=path), version, FORMAT)
    try:
        own = encoding_from_json(written)
    except SudareError as problem:
        raise InputError("the file's survey cannot be understood: {reason}", value=path, reason=problem) from None
    if wanted is not None:
        same_survey(wanted, own)
    return own


def _none(encoding: Encoding) -> Packed:
    return np.empty((0, encoding.report_bytes), dtype=np.uint8)
