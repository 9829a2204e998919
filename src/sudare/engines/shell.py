"""What the shared SQL needs from an engine: named views over one source, and answers in Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sudare.engines.dialect import Dialect

if TYPE_CHECKING:
    import pyarrow


class Shell(Protocol):
    """An engine opened on its records: the view ``source`` has the columns asked for, under their `Column.sql`.

    Views have short names here and whatever ``name`` makes of them in SQL. All end with the shell.
    """

    @property
    def dialect(self) -> Dialect:
        """How SQL is written here."""

    def name(self, view: str) -> str:
        """What SQL calls a view or a registered table."""

    def register(self, view: str, table: pyarrow.Table) -> None:
        """A small declared table."""

    def view(self, view: str, sql: str, *, few: bool = False) -> None:
        """A view, computed whenever it is asked; ``few`` says that it has few rows, to be joined with many."""

    def freeze(self, view: str, sql: str) -> None:
        """The rows of a query, looked at once: whatever becomes of the source, they stay, or the question fails."""

    def keep(self, view: str, sql: str) -> None:
        """The rows of a query, computed once where that is possible; for what is made of frozen rows."""

    def ask(self, sql: str) -> pyarrow.Table:
        """The rows of a query."""
