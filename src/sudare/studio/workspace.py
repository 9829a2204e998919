"""The workspace: one folder, one recipe file in it, and what the studio keeps for itself in a hidden folder.

Names that come over the web are looked up here: they stay inside the folder, also through symbolic links, and never
reach what is hidden.

The studio's own file there is SQLite, for versions of recipes and for jobs. Every session opens and closes its own
connection. What has been committed survives a killed process and a power cut. `alone` is a lock between all servers and
jobs of a workspace; the system frees it when its holder dies.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sudare.errors import InputError, MissingFileError, system_reason
from sudare.language.catalogue import ENGLISH, Words
from sudare.privacy.private_files import is_locked, locked
from sudare.privacy.sqlite_faults import Fault, connect, faults_as
from sudare.recipe.model import contents_of_text, recipe_text
from sudare.studio.refusals import RequestError
from sudare.workflow.folder import flush
from sudare.workflow.job import Job

HIDDEN = ".sudare-studio"
DEFAULT_NAME = "recipe.toml"
UPLOAD = "upload-"
"""How the name of a file in the hidden folder begins until it is whole; until then it is locked."""
_OWN_NAME = re.compile(r"([0-9]+-)?[0-9a-f]+")
"""How the name of a file that is not whole ends; other files of the steward may begin like one."""
_LONGEST_PART, _LONGEST_PATH = 200, 1000
_STARTER = """\
# {head}
# {edited}
kind = "table"
dataset = {dataset}

[data]
path = ""

[privacy]
epsilon = 1.0

[output]
folder = "release"
"""


@dataclass(frozen=True)
class Workspace:
    """The folder of ``name``, a recipe file."""

    folder: Path
    name: str

    @classmethod
    def open(cls, recipe: str | Path | None = None, words: Words = ENGLISH) -> Workspace:
        """The workspace of a recipe file that is there; without one, of ``recipe.toml`` here, begun if need be."""
        path = Path(DEFAULT_NAME if recipe is None else recipe)
        with InputError.from_system("the recipe cannot be used: {reason}", value=str(path)):
            path = path.resolve()
            if recipe is None and not path.exists():
                dataset = path.parent.name.replace("\\", "").replace('"', "") or "data"
                said = {"head": words("studio.starter.head"), "edited": words("studio.starter.edited")}
                path.write_text(_STARTER.format(dataset=f'"{dataset}"', **said), encoding="utf-8", newline="\n")
            if not path.is_file():
                raise MissingFileError(
                    "there is no such recipe", value=str(recipe), hint="Give the path of a TOML file."
                )
            made = cls(path.parent, path.name)
            text = recipe_text(path)
            if not made.hidden.exists():
                contents_of_text(text)
            made.hidden.mkdir(mode=0o700, exist_ok=True)
        made._sweep()
        return made

    def _sweep(self) -> None:
        """Remove what processes that died left half done: replacements of the recipe, uploads."""
        kept = {f".{self.name}.partial-": self.folder, UPLOAD: self.hidden}
        with suppress(OSError), locked(self.lock):  # whoever replaces the recipe holds it
            for start, folder in kept.items():
                for left in folder.glob(f"{glob.escape(start)}*"):
                    if _OWN_NAME.fullmatch(left.name.removeprefix(start)) and not is_locked(left):
                        left.unlink(missing_ok=True)

    @property
    def recipe(self) -> Path:
        """The recipe file."""
        return self.folder / self.name

    @property
    def hidden(self) -> Path:
        """What the studio keeps: versions, jobs, rehearsals."""
        return self.folder / HIDDEN

    @property
    def lock(self) -> Path:
        """What whoever reads and then replaces the recipe keeps locked."""
        return self.hidden / "recipe.lock"

    def inside(self, name: str) -> Path:
        """The file or folder ``name`` of the workspace; refuses what leads out of it or is hidden.

        >>> Workspace(Path("/home/steward"), "recipe.toml").inside("release/report.html").as_posix()
        '/home/steward/release/report.html'
        """
        parts = name.split("/")
        plain = all(part and not part.startswith(".") and len(part) <= _LONGEST_PART for part in parts)
        odd = any(not character.isprintable() or character == "\\" for character in name)
        if not plain or odd or len(name) > _LONGEST_PATH:
            raise RequestError(
                404,
                "there is no such file in the workspace",
                allowed="a name inside of the workspace that is not hidden",
            )
        path = self.folder.joinpath(*parts)
        try:
            leaves = not path.resolve().is_relative_to(self.folder.resolve())
        except (OSError, RuntimeError):  # links that go in circles
            leaves = True
        if leaves:
            raise RequestError(404, "the name leads out of the workspace", allowed="a name inside of the workspace")
        return path

    def shown(self, path: Path) -> str | None:
        """The name of a path inside the workspace; None for one outside.

        >>> Workspace(Path("/home/steward"), "recipe.toml").shown(Path("/home/steward/out/release"))
        'out/release'
        """
        with suppress(ValueError, OSError, RuntimeError):
            return path.resolve().relative_to(self.folder.resolve()).as_posix()
        return None

    def job(self, text: str) -> Job:
        """The job of a recipe's text, whose paths are relative to the folder."""
        return Job.open(contents_of_text(text), self.folder)


_FORMAT = 2
_TABLES = """
CREATE TABLE versions (
  recipe TEXT NOT NULL, version INTEGER NOT NULL, time TEXT NOT NULL, change TEXT NOT NULL, text TEXT NOT NULL,
  valid INTEGER NOT NULL, back INTEGER, forward TEXT NOT NULL, before TEXT NOT NULL, written INTEGER NOT NULL,
  PRIMARY KEY (recipe, version));
CREATE TABLE jobs (
  id TEXT PRIMARY KEY, recipe TEXT NOT NULL, verb TEXT NOT NULL, task TEXT NOT NULL, time TEXT NOT NULL,
  state TEXT NOT NULL, stage TEXT NOT NULL, fraction REAL NOT NULL, error TEXT, result TEXT);
"""


@contextmanager
def session(workspace: Workspace) -> Iterator[sqlite3.Connection]:
    """A transaction that holds the write lock; committed at the end, or without a trace after an exception."""
    path = workspace.hidden / "studio.db"

    def refusal(fault: Fault) -> InputError:
        return InputError(
            "the studio's file {fault}", value=str(path), hint="Move it away to start over.", fault=fault.sentence
        )

    with faults_as(refusal), closing(connect(path, "rwc", timeout=20)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("BEGIN IMMEDIATE")
        _prepare(connection, workspace)
        yield connection
        connection.execute("COMMIT")


def _prepare(connection: sqlite3.Connection, workspace: Workspace) -> None:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found == _FORMAT:
        return
    if found > _FORMAT:
        raise InputError("the studio's file is of another version of Sudare", value=found, allowed=[_FORMAT])
    if found:  # jobs and rehearsals were kept in another form; versions of the recipe are as they were
        connection.execute("DELETE FROM jobs")
        shutil.rmtree(workspace.hidden / "rehearsals", ignore_errors=True)
    else:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_FORMAT}")


@contextmanager
def alone(workspace: Workspace) -> Iterator[None]:
    """No other process or thread reads and replaces the recipe at the same time."""
    with locked(workspace.lock):
        yield


def replace_file(path: Path, text: str) -> None:
    """Put ``text`` in the place of a file: whole or not at all, also after a power cut."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            partial.chmod(path.stat().st_mode & 0o777)
        partial.replace(path)
        flush(path.parent)
    except OSError as problem:
        partial.unlink(missing_ok=True)
        raise InputError(
            "the recipe cannot be written: {reason}", value=path.name, reason=system_reason(problem)
        ) from None
