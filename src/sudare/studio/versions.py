"""Every change of the recipe is a version; undo and redo walk along them, and add one themselves.

A change is on the disk as a version before the recipe file is replaced. A process that dies between the two leaves a
version that is not written yet: whoever looks next finds the file as it was before and finishes the replacement. A file
that is neither was edited by somebody else, and that edit becomes a version of its own. So nothing that was confirmed
is lost, neither here nor in an editor.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sudare.recipe.model import recipe_text
from sudare.studio.refusals import RequestError, StaleError
from sudare.studio.store import alone, replace_file, session
from sudare.studio.workspace import Workspace

Change = Literal["start", "edit", "text", "undo", "redo", "back", "outside"]
SHOWN = 200
"""Versions that are listed; older ones can still be reached by undo."""
MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Version:
    """One state of the recipe; ``back`` is what undo leads to, ``forward`` what redo leads to, nearest first."""

    version: int
    time: str
    change: str
    text: str
    valid: bool
    back: int | None
    forward: tuple[int, ...]

    @classmethod
    def of(cls, row: sqlite3.Row) -> Version:
        """From the store."""
        forward = tuple(json.loads(row["forward"]))
        number, time, change, text = (row[name] for name in ("version", "time", "change", "text"))
        return cls(number, time, change, text, bool(row["valid"]), row["back"], forward)


@dataclass(frozen=True)
class VersionSummary:
    """A version without its text."""

    version: int
    time: str
    change: str
    valid: bool


class Versions:
    """The versions of the recipe of a workspace; ``is_valid`` judges a text when it becomes one."""

    def __init__(self, workspace: Workspace, is_valid: Callable[[str], bool]) -> None:
        self._workspace, self._is_valid = workspace, is_valid

    def current(self) -> Version:
        """The version that the file is, after taking in what was edited outside."""
        with alone(self._workspace):
            return self._current()

    def listed(self) -> list[VersionSummary]:
        """The last versions, newest first."""
        with session(self._workspace) as store:
            rows = store.execute(
                "SELECT version, time, change, valid FROM versions WHERE recipe = ? ORDER BY version DESC LIMIT ?",
                [self._workspace.name, SHOWN],
            ).fetchall()
        return [VersionSummary(row["version"], row["time"], row["change"], bool(row["valid"])) for row in rows]

    def get(self, version: int) -> Version:
        """A version by its number."""
        with session(self._workspace) as store:
            return self._get(store, version)

    def edit(self, text: str, based_on: int, change: Change = "text") -> Version:
        """Make ``text`` the recipe; a text that is there already makes no version."""
        if len(text.encode(errors="replace")) > MOST_BYTES or "\0" in text:
            raise RequestError(
                413, "the recipe is too long", allowed="{most_bytes:,} bytes of text", most_bytes=MOST_BYTES
            )
        with alone(self._workspace):
            now = self._checked(based_on)
            if text == now.text:
                return now
            return self._add(now, text, change, back=now.version, forward=())

    def undo(self, based_on: int) -> Version:
        """Back to the version before the last change."""
        with alone(self._workspace):
            now = self._checked(based_on)
            if now.back is None:
                raise RequestError(409, "there is nothing to undo")
            target = self.get(now.back)
            return self._add(now, target.text, "undo", target.back, (now.version, *now.forward))

    def redo(self, based_on: int) -> Version:
        """Take back an undo."""
        with alone(self._workspace):
            now = self._checked(based_on)
            if not now.forward:
                raise RequestError(409, "there is nothing to redo")
            target = self.get(now.forward[0])
            return self._add(now, target.text, "redo", target.back, now.forward[1:])

    def go(self, version: int, based_on: int) -> Version:
        """An earlier version, as a change of its own that can be undone."""
        text = self.get(version).text
        return self.edit(text, based_on, "back")

    def _checked(self, based_on: int) -> Version:
        now = self._current()
        if based_on != now.version:
            raise StaleError(based_on, now.version)
        return now

    def _current(self) -> Version:
        """The last version; with the lock held, brought together with the file."""
        found = self._file_text()
        with session(self._workspace) as store:
            last = store.execute(
                "SELECT * FROM versions WHERE recipe = ? ORDER BY version DESC LIMIT 1", [self._workspace.name]
            ).fetchone()
        if last is None:
            return self._insert(1, found, "start", None, (), written=True)
        now = Version.of(last)
        if found == now.text:
            if not last["written"]:
                self._mark(now.version)
            return now
        if not last["written"] and _digest(found) == last["before"]:
            self._write(now)
            return now
        return self._insert(now.version + 1, found, "outside", now.version, (), written=True)

    def _add(self, now: Version, text: str, change: Change, back: int | None, forward: tuple[int, ...]) -> Version:
        made = self._insert(now.version + 1, text, change, back, forward, written=False, before=now.text)
        self._write(made)
        return made

    def _write(self, version: Version) -> None:
        replace_file(self._workspace.recipe, version.text)
        self._mark(version.version)

    def _insert(
        self,
        number: int,
        text: str,
        change: Change,
        back: int | None,
        forward: tuple[int, ...],
        *,
        written: bool,
        before: str = "",
    ) -> Version:
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        made = Version(number, time, change, text, self._is_valid(text), back, forward)
        values = [self._workspace.name, number, time, change, text, made.valid, back, json.dumps(forward)]
        with session(self._workspace) as store:
            store.execute(
                "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [*values, _digest(before), written]
            )
        return made

    def _mark(self, number: int) -> None:
        with session(self._workspace) as store:
            store.execute(
                "UPDATE versions SET written = 1 WHERE recipe = ? AND version = ?", [self._workspace.name, number]
            )

    def _get(self, store: sqlite3.Connection, number: int) -> Version:
        row = None
        if 0 < number < 2**63:
            row = store.execute(
                "SELECT * FROM versions WHERE recipe = ? AND version = ?", [self._workspace.name, number]
            ).fetchone()
        if row is None:
            raise RequestError(404, "there is no such version", value=number)
        return Version.of(row)

    def _file_text(self) -> str:
        """What the file says; a file that is gone says nothing."""
        return recipe_text(self._workspace.recipe) if self._workspace.recipe.exists() else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
