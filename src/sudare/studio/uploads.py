"""Uploads into a workspace: a file of records under a new name, written completely or not at all.

An upload never replaces a file, and never takes a name that the commands use: an uploaded ledger would be a new
budget, and an uploaded recipe or key would publish in the steward's name.
"""

from __future__ import annotations

import asyncio
import os
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from sudare.errors import InputError, system_reason
from sudare.privacy.fingerprint import KEY_ENDING
from sudare.privacy.private_files import locked, put_in_place
from sudare.privacy.settings import DEFAULT_NAME as LEDGER_NAME
from sudare.recipe.parts import Output
from sudare.studio.refusals import RequestError
from sudare.studio.sources import KNOWN, is_ledger
from sudare.studio.workspace import DEFAULT_NAME, UPLOAD, Workspace

UPLOAD_SECONDS = 600.0
_SIDE_FILES = ("-journal", "-wal", "-shm")
"""What SQLite writes beside a database, and takes for a part of it."""


def reserved_names(workspace: Workspace, contents: dict[str, Any] | None) -> frozenset[str]:
    """Names in the workspace, as `folded`, of the recipe, the ledger, the key and the release that ``contents`` name.

    Those that a recipe has by default are reserved as well: it may leave them out again.

    >>> found = reserved_names(Workspace(Path("/town"), "recipe.toml"), {"ledger": {"path": "books/2024.db"}})
    >>> sorted(name for name in found if "-" not in name)
    ['books', 'recipe.toml']
    """
    ledger, output = ((contents or {}).get(part) for part in ("ledger", "output"))
    ledgers = [LEDGER_NAME, _value(ledger, "path")]
    others = [DEFAULT_NAME, workspace.name, Output.model_fields["key"].default]
    others += [_value(output, "key"), _value(output, "folder")]
    sides = [f"{name}{end}" for name in ledgers if isinstance(name, str) for end in (*_SIDE_FILES, KEY_ENDING)]
    named = [name for name in [*ledgers, *sides, *others] if isinstance(name, str) and name]
    return frozenset(folded(first) for name in named for first in _first_parts(workspace, name))


def folded(name: str) -> str:
    """A name as the most forgiving of file systems would read it.

    >>> folded("Ｌedger.DB. ")
    'ledger.db'
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).rstrip(". ")


async def upload(
    workspace: Workspace, name: str, parts: AsyncIterator[bytes], most_bytes: int, contents: dict[str, Any] | None
) -> int:
    """Write an upload into the workspace; its size. ``contents`` is the recipe of the moment.

    Refuses odd names, names of the recipe, what is there already, what is a ledger, and too much.
    """
    path = workspace.inside(name)
    if "/" in name or not name.lower().endswith(KNOWN):
        raise RequestError(
            422,
            "files with this ending are not accepted",
            allowed="a name that ends in {endings}",
            endings=", ".join(KNOWN),
        )
    if folded(name) in reserved_names(workspace, contents):
        raise RequestError(
            422,
            "the name is reserved for the recipe, the ledger, the key or the release",
            value=name,
            hint="Give it another name.",
        )
    exists = RequestError(409, "a file of that name is there already", value=name, hint="Give it another name.")
    if path.exists() or path.is_symlink():
        raise exists
    partial = workspace.hidden / f"{UPLOAD}{os.urandom(8).hex()}"
    try:
        with locked(partial, remove=True) as handle:
            size = await _received(parts, handle, most_bytes)
            if is_ledger(partial):
                raise RequestError(
                    422,
                    "the file is a ledger, or another database of Sudare's own",
                    allowed="files of records",
                )
            put_in_place(partial, path)
    except FileExistsError:
        raise exists from None
    except OSError as problem:
        raise InputError("the file cannot be written: {reason}", value=name, reason=system_reason(problem)) from None
    return size


def _value(part: object, key: str) -> object:
    return part.get(key) if isinstance(part, dict) else None


def _first_parts(workspace: Workspace, name: str) -> set[str]:
    """The name directly in the workspace that a path of the recipe begins with: as written, and through links."""
    written = Path(os.path.normpath(workspace.folder / name))
    known = {workspace.shown(written)}
    if written.is_relative_to(workspace.folder):
        known.add(written.relative_to(workspace.folder).as_posix())
    return {each.partition("/")[0] for each in known if each}


async def _received(parts: AsyncIterator[bytes], handle: int, most_bytes: int) -> int:
    size = 0
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            with os.fdopen(handle, "wb", closefd=False) as file:
                async for part in parts:
                    size += len(part)
                    if size > most_bytes:
                        raise RequestError(
                            413, "the file is too large", allowed="{most_bytes:,} bytes", most_bytes=most_bytes
                        )
                    await asyncio.to_thread(file.write, part)
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
    except TimeoutError:
        raise RequestError(
            408, "the upload timed out", allowed="{upload_seconds:g} seconds", upload_seconds=UPLOAD_SECONDS
        ) from None
    return size
