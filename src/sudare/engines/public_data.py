"""What is given as public is not the private data: refused by file, by bytes and by rows.

What is public is used as it is, without protection. `refuse_same_file` compares paths, inodes (symbolic and hard links)
and, for files of about equal size, bytes (also packed), for any file of two folders. `refuse_shared_rows` reads both
sides: the same rows in another format, order or header are refused; shared rows that are not explained by chance
(`sudare.engines.overlap`) have to be confirmed. Confirming skips the count, so that a release never depends on it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sudare.domain.parquet import row_count
from sudare.engines.overlap import overlap, same_rows
from sudare.engines.read import files_of
from sudare.engines.records import Records
from sudare.errors import InputError
from sudare.privacy.fingerprint import PACKED, beginning, content_digest

_SLACK = 16
"""Bytes by which files may differ in size: a byte order mark, line ends at the end."""


def refuse_same_file(private: Any, public: Any, name: str) -> None:
    """Refuse the private data in the place ``name`` of public ones: the same object, file, link or bytes."""
    if public is None or private is None:
        return
    if private is public or _same_address(private, public):
        raise _refusal(name)
    tables = _table(private), _table(public)
    for own in files_of(private):
        for other in files_of(public):
            if not _same_place(own, other) and not _same_bytes(own, other):
                continue
            # Two tables of one database are two sources; their rows are compared where rows are.
            if None in tables or tables[0] == tables[1]:
                raise _refusal(name)


def refuse_shared_rows(
    private: Records,
    public: Records,
    name: str,
    *,
    unit: str | None = None,
    counts: tuple[str, str] | None = None,
    used: Sequence[str] = (),
    confirmed: bool = False,
) -> None:
    """Refuse public data with the private rows; where some rows are shared, unless ``confirmed``.

    ``unit`` is the private column of ids, ``counts`` the columns of counts (private, public) where rows are cells,
    ``used`` those columns that the release is made of.
    """
    if confirmed:
        if same_rows(private, public):
            raise _refusal(name)
        return
    found = overlap(private, public, unit=unit, counts=counts, used=used)
    if found.same:
        raise _refusal(name)
    if found.alike if counts else found.beyond_chance:
        raise InputError(
            "{shared:,} of {public_rows:,} public rows are private rows too",
            value=name,
            hint="This number is for the steward alone. If these rows are public, confirm it: confirm_overlap = true.",
            shared=found.shared,
            public_rows=found.public_rows,
        )


def _refusal(name: str) -> InputError:
    return InputError(
        "the private data are given as public ones",
        value=name,
        hint="Give public data, or leave them out: whatever is public is used without protection.",
    )


def _same_address(private: Any, public: Any) -> bool:
    """Addresses that only a cluster knows are compared as they are written."""
    return isinstance(private, str) and isinstance(public, str | Path) and private == str(public)


def _table(source: Any) -> str | None:
    """The table, where a source is one of a database."""
    if isinstance(source, Records):
        source = getattr(source.engine, "source", None)
    table = source[1] if isinstance(source, tuple) and len(source) > 1 else getattr(source, "table", None)
    return table if isinstance(table, str) else None


def _same_place(own: Path, other: Path) -> bool:
    try:
        return own.resolve() == other.resolve() or own.samefile(other)
    except (OSError, RuntimeError):  # not there, or links that go in circles: reading will say so
        return False


def _same_bytes(own: Path, other: Path) -> bool:
    """Whether two files hold the same bytes, as `content_digest` takes them: a whole file is read only if it may."""
    packed = [path.suffix.lower() in PACKED for path in (own, other)]
    try:
        sizes = own.stat().st_size, other.stat().st_size
        if not any(packed) and abs(sizes[0] - sizes[1]) > _SLACK:
            return False
        if beginning(own) != beginning(other) or _without_rows(own) or _without_rows(other):
            return False
        return content_digest(own) == content_digest(other)
    except (OSError, EOFError, zlib.error):
        return False


def _without_rows(path: Path) -> bool:
    """A Parquet file of no rows: a job that leaves empty parts writes the same bytes for any data."""
    if path.suffix.lower() not in (".parquet", ".pq"):
        return False
    try:
        return row_count(path) == 0
    except ValueError:
        return False
