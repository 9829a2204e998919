"""Reports in a PostgreSQL database: two tables in the connection's first schema, one collector at a time.

PostgreSQL keeps rows where there is room, and with the number of their transaction, so the order of batches can be
read off it. Within a batch rows come in the order of their random ids.
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
_PUBLISHED = (
    "CREATE TABLE IF NOT EXISTS sudare_published (single BOOLEAN PRIMARY KEY CHECK (single), tally TEXT NOT NULL)"
)
_PUBLISH = "INSERT INTO sudare_published VALUES (TRUE, %s) ON CONFLICT (single) DO UPDATE SET tally = EXCLUDED.tally"
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
        return self._connection

    def add(self, rows: Sequence[Row]) -> list[bool]:
        columns = [[row[part] for row in rows] for part in (0, 1)]
        with self._faults():
            new = {bytes(found) for (found,) in self._connection.execute(_INSERT, columns, binary=True)}
        fresh = []
        for identity, _ in rows:  # of two rows with one id the first is the one that counts
            fresh.append(identity in new)
            new.discard(identity)
        return fresh

    def publish(self, tally: str) -> None:
        with self._faults():
            self._connection.execute(_PUBLISH, [tally])

    def published(self) -> str | None:
        with self._faults():
            found = self._connection.execute("SELECT tally FROM sudare_published").fetchone()
        return None if found is None else str(found[0])

    def known(self, identities: Sequence[bytes]) -> set[bytes]:
        with self._faults():
            asked = "SELECT id FROM sudare_reports WHERE id = ANY(%s)"
            return {bytes(found) for (found,) in self._connection.execute(asked, [list(identities)], binary=True)}

    def chunks(self, rows: int) -> Iterator[bytes]:
        with (
            self._faults(),
            self._connection.transaction(),
            self._connection.cursor("sudare_chunks", binary=True) as cursor,
        ):
            cursor.execute("SELECT report FROM sudare_reports")
            while found := cursor.fetchmany(rows):
                yield b"".join(report for (report,) in found)

    def close(self) -> None:
        self._connection.close()

    def _prepare(self, identity: dict[str, Any], create: bool) -> None:
        run = self._connection.execute
        found = run("SHOW fsync").fetchone()
        if found is None or found[0] != "on":
            raise StorageError(
                "{where} runs with fsync off, so that acknowledged reports may be lost",
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
        run(_PUBLISHED)

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
