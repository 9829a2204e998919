"""Sources at an address such as ``s3://bucket/people.parquet``: what an engine needs for them, or a refusal by name.

DuckDB reads an address with an extension that the steward has installed; it is loaded here and never fetched. Spark
reads one with a connector of Hadoop on its class path. What neither has is refused before anything is asked of a
network. An address can hold a password or a signed query, so that messages show how it begins and no more.
"""

from __future__ import annotations

import re
from contextlib import closing
from glob import has_magic
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from sudare.errors import InputError, Message

EXTENSIONS = {
    **dict.fromkeys(("http", "https", "s3", "s3a", "s3n", "gs", "gcs", "r2", "hf"), "httpfs"),
    **dict.fromkeys(("az", "azure", "abfs", "abfss"), "azure"),
}
"""The extension of DuckDB that reads addresses of a scheme."""
NOT_IN_SPARK = ("http", "https", "ftp", "sftp", "file")
"""Schemes for which Hadoop has a class that lists no folder, or that are paths."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_COPY = Message("Copy the file to this machine and give its path.")


def scheme_of(source: object) -> str | None:
    """The scheme of an address, also of one that a path has cut to one slash; None for a path.

    >>> scheme_of("S3://bucket/a"), scheme_of(PurePosixPath("https://host/a")), scheme_of("C:/a"), scheme_of("a.csv")
    ('s3', 'https', None, None)
    """
    found = _SCHEME.match(str(source))
    return found[1].lower() if found else None


def refuse_address(source: object) -> None:
    """Refuse an address where only a path will do."""
    if scheme := scheme_of(source):
        raise InputError("a path is needed here, and this is an address", value=f"{scheme}://...", hint=_COPY)


def require_reader(address: str, engine: str) -> str:
    """What ``engine`` reads Parquet at an address with, or the refusal; whether Spark has it, `spark_sources` asks."""
    import duckdb

    scheme, path = scheme_of(address) or "", PurePosixPath(urlsplit(address).path)
    if {".csv", ".tsv"} & set(path.suffixes) or (engine == "duckdb" and has_magic(str(path))):
        raise InputError(
            "at an address, one Parquet file is read and nothing else", value=f"{scheme}://...", hint=_COPY
        )
    needed = EXTENSIONS.get(scheme) if engine == "duckdb" else None if scheme in NOT_IN_SPARK else "a connector"
    if needed is None:
        raise InputError(
            "{engine} does not read from {scheme}://",
            hint=_COPY,
            engine="DuckDB" if engine == "duckdb" else "Spark",
            scheme=scheme,
        )
    if engine == "duckdb":
        with closing(duckdb.connect(":memory:")) as connection:
            asked = "SELECT installed FROM duckdb_extensions() WHERE extension_name = ?"
            installed = connection.execute(asked, [needed]).fetchone()
        if installed != (True,):
            raise InputError(
                "DuckDB reads from {scheme}:// with its extension {needed}, which is not installed here",
                hint="Copy the file to this machine and give its path, or install the extension: INSTALL {needed}.",
                scheme=scheme,
                needed=needed,
            )
    return needed


def shown(address: str) -> str:
    """An address without what may be secret in it.

    >>> shown("s3://me:secret@bucket/people.parquet?X-Amz-Signature=ab12")
    's3://bucket/people.parquet'
    """
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
