"""Reports in a PostgreSQL database: two tables in the connection's first schema, one collector at a time.

PostgreSQL keeps rows where there is room, so their place can tell roughly when they came: each commit writes its
rows in the order of their random ids, and the order of commits remains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sudare.collector.storage import Row, StorageError, canonical, check_identity
from sudare.errors import Message

_WAIT_FOR_LOCK = "10s"  # a killed collector's session ends when the server notices
_TABLES: tuple[LiteralString, ...] = (
    "CREATE TABLE IF NOT EXISTS sudare_survey (single BOOLEAN PRIMARY KEY CHECK (single), identity TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS sudare_reports (id BYTEA PRIMARY KEY, report BYTEA NOT NULL)",
)
_KEEP = "INSERT INTO sudare_survey VALUES (TRUE, %s) ON CONFLICT DO NOTHING"
_LOCK = "SELECT pg_advisory_lock(hashtext('sudare collector'), hashtext(current_schema()))"
_INSERT = (
    "INSERT INTO sudare_reports SELECT * FROM unnest(%s::bytea[], %s::bytea[]) ON CONFLICT DO NOTHING RETURNING id"
)


class PostgresStore:
    """The reports of one survey in the database at ``url``, whose password appears in no message."""

    def __init__(self, url: str, identity: dict[str, Any], *, create: bool = True) -> None:
        try:
            parts = conninfo_to_dict(url)
        except psycopg.Error:
            raise StorageError("service.storage is not an address of PostgreSQL") from None
        name, host = parts.get("dbname", ""), parts.get("host")
        self._where = (
            Message("the database {name} on {host}", name=name, host=host)
            if host
            else Message("the database {name} on the local server", name=name)
        )
        with self._faults():
            self._connection = psycopg.connect(url, autocommit=True, connect_timeout=10)
        try:
            with self._faults():
                self._prepare(identity, create)
        except StorageError:
            self._connection.close()
            raise

    @property
    def connection(self) -> psycopg.Connection[tuple[Any, ...]]:
        """The open connection."""
        return self._connection

    def add(self, rows: Sequence[Row]) -> list[bool]:
        """Store what is new, in one transaction that is on the disk when this returns; True for each new row."""
        # A stable sort: of two rows with one id the first to come is the one that counts.
        ordered = sorted(range(len(rows)), key=lambda place: rows[place][0])
        columns = [[rows[place][part] for place in ordered] for part in (0, 1)]
        with self._faults():
            new = {bytes(found) for (found,) in self._connection.execute(_INSERT, columns, binary=True)}
        fresh = [False] * len(rows)
        for place in ordered:
            if rows[place][0] in new:
                new.discard(rows[place][0])
                fresh[place] = True
        return fresh

    def chunks(self, rows: int) -> Iterator[bytes]:
        """All reports, at most ``rows`` at a time, end to end."""
        with (
            self._faults(),
            self._connection.transaction(),
            self._connection.cursor("sudare_chunks", binary=True) as cursor,
        ):
            cursor.execute("SELECT report FROM sudare_reports")
            while found := cursor.fetchmany(rows):
                yield b"".join(report for (report,) in found)

    def close(self) -> None:
        """Give the database back."""
        self._connection.close()

    def _prepare(self, identity: dict[str, Any], create: bool) -> None:
        run = self._connection.execute
        found = run("SHOW fsync").fetchone()
        if found is None or found[0] != "on":
            raise StorageError(
                "{where} runs with fsync off, so that a report acknowledged may be lost",
                hint="Set fsync = on in the server's configuration.",
                where=self._where,
            )
        # A role or a database may have switched it off; "on" waits for the log to be on the disk.
        run("SET synchronous_commit = on")
        run(f"SET lock_timeout = '{_WAIT_FOR_LOCK}'")
        try:
            run(_LOCK)
        except psycopg.errors.LockNotAvailable:
            raise StorageError(
                "{where} is used by another collector",
                hint="Stop that one first, or give this survey a schema of its own.",
                where=self._where,
            ) from None
        run("RESET lock_timeout")
        if create:
            for table in _TABLES:
                run(table)
            run(_KEEP, [canonical(identity)])
        kept = run("SELECT identity FROM sudare_survey").fetchone()
        check_identity("" if kept is None else kept[0], identity, self._where)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Every fault of PostgreSQL as one sentence, without the address that may hold a password."""
        try:
            yield
        except psycopg.Error as error:
            raise StorageError(
                "{where} cannot be used: {name}" if error.sqlstate else "{where} cannot be used: no connection",
                hint="Look at the server, then try again.",
                where=self._where,
                name=type(error).__name__,
            ) from None
