"""Every change of the recipe is a version; undo and redo walk along them, and add one themselves.

A number that is changed again within `SLIDE`, as a slider does at every key, is one version: the last one is listed,
and undo leads to what was there before the first. Those it passed can still be asked for by their numbers.

A change is on the disk as a version before the recipe file is replaced. A process that dies between the two leaves a
version that is not written yet: whoever looks next finds the file as it was before and finishes the replacement. A file
that is neither was edited by somebody else, and that edit becomes a version of its own. So nothing that was confirmed
is lost, neither here nor in an editor.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

from sudare.recipe.model import recipe_text
from sudare.studio.models import ListedVersion
from sudare.studio.refusals import RequestError, StaleError
from sudare.studio.workspace import Workspace, alone, replace_file, session

Change = Literal["start", "edit", "text", "undo", "redo", "back", "outside"]
PASSED = "passed"
"""The change of a version that a slider passed."""
SLIDE = timedelta(seconds=3)
"""The longest pause within a slide."""
SHOWN = 200
"""Versions that are listed; older ones can still be reached by undo."""
MOST_BYTES = 1_000_000
_ABSENT = object()
_MOST_KEYS, _LONGEST = 3, 60
"""How many changes a version is named by, and how long each is."""


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


class Versions:
    """The versions of the recipe of a workspace; ``is_valid`` judges a text when it becomes one."""

    def __init__(self, workspace: Workspace, is_valid: Callable[[str], bool]) -> None:
        self._workspace, self._is_valid = workspace, is_valid

    def current(self) -> Version:
        """The version that the file is, after taking in what was edited outside."""
        with alone(self._workspace):
            return self._current()

    def listed(self) -> list[ListedVersion]:
        """The last versions, newest first."""
        with session(self._workspace) as store:
            rows = store.execute(
                "SELECT version, time, change, valid, text FROM versions WHERE recipe = ? AND change <> ? "
                "ORDER BY version DESC LIMIT ?",
                [self._workspace.name, PASSED, SHOWN + 1],
            ).fetchall()
        before = [*(row["text"] for row in rows[1:]), ""]
        return [
            ListedVersion(
                version=row["version"],
                when=row["time"],
                change=row["change"],
                valid=row["valid"],
                keys=list(changed_keys(older, row["text"])),
            )
            for row, older in zip(rows[:SHOWN], before, strict=False)
        ]

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
            if change == "edit" and self._is_slide(now, text):
                made = self._add(now, text, change, back=now.back, forward=())
                self._update(now.version, "change", PASSED)
                return made
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

    def _is_slide(self, now: Version, text: str) -> bool:
        """Whether ``text`` changes, soon after, the one number that the last version changed."""
        pause = datetime.now(UTC) - datetime.fromisoformat(now.time)
        if now.change != "edit" or now.back is None or not timedelta(0) <= pause <= SLIDE:
            return False
        before = self.get(now.back).text
        key = changed_number(before, now.text)
        return key is not None and key == changed_number(now.text, text) == changed_number(before, text)

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
                self._update(now.version, "written", 1)
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
        self._update(version.version, "written", 1)

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

    def _update(self, number: int, column: Literal["written", "change"], value: str | int) -> None:
        with session(self._workspace) as store:
            store.execute(
                f"UPDATE versions SET {column} = ? WHERE recipe = ? AND version = ?",  # noqa: S608 - one of two names
                [value, self._workspace.name, number],
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


@lru_cache(maxsize=4 * SHOWN)
def changed_keys(before: str, after: str) -> tuple[str, ...]:
    r"""The keys that differ between two texts of a recipe, with their new values; none where one is no TOML.

    >>> changed_keys('[privacy]\nepsilon = 1\n', '[privacy]\nepsilon = 0.5\n')
    ('privacy.epsilon = 0.5',)
    """
    changes = _changes(before, after)
    said = [f"− {name}" if new is _ABSENT else f"{name} = {new}" for name, (_, new) in changes.items()]
    return tuple(each if len(each) <= _LONGEST else f"{each[:_LONGEST]}…" for each in said[:_MOST_KEYS])


def changed_number(before: str, after: str) -> str | None:
    r"""The key that differs between two texts, if it is a single one with a number in both.

    >>> changed_number('epsilon = 1\n', 'epsilon = 0.5\n'), changed_number('title = "a"\n', 'title = "b"\n')
    ('epsilon', None)
    """
    changes = _changes(before, after)
    numbers = [name for name, values in changes.items() if all(type(each) in (int, float) for each in values)]
    return numbers[0] if len(numbers) == len(changes) == 1 else None


def _changes(before: str, after: str) -> dict[str, tuple[Any, Any]]:
    """The old and the new value of each key that differs; none where a text is empty or no TOML."""
    try:
        old, new = _flat(tomllib.loads(before)), _flat(tomllib.loads(after))
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return {}
    pairs = {name: (old.get(name, _ABSENT), new.get(name, _ABSENT)) for name in {**old, **new}} if old else {}
    return {name: pair for name, pair in pairs.items() if str(pair[0]) != str(pair[1])}


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
