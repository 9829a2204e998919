"""Engines: from records about people to bounded counts.

`read` takes whatever holds the records (a Parquet or CSV file, a pandas or Polars frame, Arrow, DuckDB, Spark) and
gives `Records`. Their `count` places each row in a cell of a declared domain, keeps at most so many rows of
each person, and returns a `CountTable`, which is all that a method for tables ever sees; their `table` does
the same for data that are counts already, and `estat_table` opens the mesh files of the Japanese census as
they are published. The work is done by an engine, which is a handful of verbs (`verbs.Engine`): DuckDB, which
reads files that are larger than memory, or Spark, which is loaded only when it is asked for. Both are asked the same
SQL, but for a few words (`dialect`), so that a row has the same cell and a person the same rows in either.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.engines.csv_files import Proposal, propose_layout
    from sudare.engines.estat import estat_table
    from sudare.engines.public_data import refuse_same_file, refuse_shared_rows
    from sudare.engines.read import files_of, read
    from sudare.engines.records import Records

__all__ = [
    "Proposal",
    "Records",
    "estat_table",
    "files_of",
    "propose_layout",
    "read",
    "refuse_same_file",
    "refuse_shared_rows",
]

__getattr__ = exports(
    __name__,
    {
        "csv_files": ("Proposal", "propose_layout"),
        "estat": ("estat_table",),
        "public_data": ("refuse_same_file", "refuse_shared_rows"),
        "read": ("files_of", "read"),
        "records": ("Records",),
    },
)
