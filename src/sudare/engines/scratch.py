"""Temporary private files of a run: one folder per process, called its room, that only its user can enter.

A room is a folder ``sudare-run-...`` of mode 700 with a locked file in it, by which a later run of the same user tells
the rooms of dead processes from those in use, and removes them: see docs/how-to/private-bytes.md. Rooms are made in
``[data] scratch`` of the recipe, else in the folder named by the environment variable ``SUDARE_SCRATCH``, else in the
system's folder for temporary files.
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import stat
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from threading import RLock
from typing import Self

from sudare.errors import OutputError, ParameterError
from sudare.privacy.private_files import locked
from sudare.signals import undisturbed

VARIABLE = "SUDARE_SCRATCH"
PREFIX = "sudare-run-"
_LOCK, _ELSEWHERE = "lock", "elsewhere"
_NAME = re.compile(rf"{PREFIX}[0-9a-f]{{16}}")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def default_place() -> Path:
    """The folder in which rooms are made, unless a recipe names another."""
    named = os.environ.get(VARIABLE)
    if named and not Path(named).is_absolute():
        raise ParameterError(
            "{variable} is not an absolute path", value=named, allowed="an absolute path", variable=VARIABLE
        )
    return Path(named) if named else _system_place()


def _system_place() -> Path:
    return Path(gettempdir()).resolve()


@dataclass(frozen=True, eq=False)
class _Room:
    """The folder of one process in one place; ``held`` has its lock, and a note of it in the default place."""

    place: Path
    path: Path
    process: int
    held: ExitStack

    @classmethod
    def made(cls, place: Path) -> _Room:
        while True:
            path = place / f"{PREFIX}{secrets.token_hex(8)}"
            try:
                path.mkdir(mode=0o700)
                _require_private(path)
                held = ExitStack()
                held.enter_context(locked(path / _LOCK, wait=False))
            except (FileExistsError, FileNotFoundError, BlockingIOError):
                place.lstat()
                continue  # another process, cleaning up, removed the room before it was locked
            return cls(place, path, os.getpid(), held)

    @property
    def is_ours(self) -> bool:
        """Whether this process made it, and not the one that it was forked from."""
        return self.process == os.getpid()

    def close(self) -> None:
        """Remove everything in it, the lock last."""
        if self in _rooms:
            _rooms.remove(self)
        with suppress(OSError):
            _empty(self.path)
            self.held.close()
            (self.path / _LOCK).unlink(missing_ok=True)
            self.path.rmdir()


_rooms: list[_Room] = []
_guard = RLock()
_before_closing: list[Callable[[], object]] = []


@dataclass(frozen=True, eq=False)
class PrivateFolder:
    """A folder in this run's room. It is removed by `remove`, or when nobody refers to it, or when the process ends."""

    path: Path

    @classmethod
    def within(cls, place: str | Path | None = None, *, guarded: bool = True) -> Self:
        """A new folder in the room of ``place``, by default of the default place.

        Without ``guarded``, which is for protected values only, others who may write to ``place`` could remove it.
        """
        chosen = default_place() if place is None else Path(place).absolute()
        with (
            OutputError.from_system("the scratch folder cannot be made: {reason}", value=str(chosen)),
            undisturbed(),
            _guard,
        ):
            path = _room_in(chosen, guarded).path / secrets.token_hex(4)
            path.mkdir(mode=0o700)
            made = cls(path)
        weakref.finalize(made, _remove, path).atexit = False  # `close_rooms` is
        return made

    def remove(self) -> None:
        _remove(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def _room_in(place: Path, guarded: bool) -> _Room:
    """The room of this process in a place, made if there is none."""
    room = next((room for room in _rooms if room.place == place and room.is_ours and room.path.is_dir()), None)
    if room is None:
        atexit.unregister(close_rooms)
        atexit.register(close_rooms)
        if guarded:
            _require_place(place)
        room = _Room.made(place)
        _rooms.append(room)
        if place not in _known_places():
            # A note in the default place tells commands that know nothing of the recipe where to look.
            with suppress(OSError, OutputError):
                note = PrivateFolder.within()
                (note.path / _ELSEWHERE).write_text(str(room.path), encoding="utf-8", newline="\n")
                room.held.callback(note.remove)
    return room


def _remove(path: Path) -> None:
    with undisturbed(), _guard:
        for room in [room for room in _rooms if room.path == path.parent and room.is_ours]:
            shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):
                if all(each.name == _LOCK for each in room.path.iterdir()):
                    room.close()


def before_closing(end: Callable[[], object]) -> None:
    """Call ``end`` before rooms are closed at the end of the process, to stop what still writes into them."""
    _before_closing.append(end)


def close_rooms() -> None:
    """Remove all that this process has in rooms: at its end, or when a signal ends it."""
    with undisturbed(), _guard:
        while _before_closing:
            _before_closing.pop()()
        for room in [room for room in _rooms if room.is_ours]:
            room.close()


@dataclass(frozen=True)
class Leftovers:
    """Rooms of dead runs: those that were removed, and those that could not be."""

    removed: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()


def remove_leftovers(place: Path | None = None) -> Leftovers:
    """Remove what dead runs of this user left in the default place, in ``place``, and where notes found there point."""
    removed: list[Path] = []
    kept: list[Path] = []
    with undisturbed():
        for each in dict.fromkeys([*_known_places(), *([] if place is None else [place.absolute()])]):
            for room in _rooms_in(each):
                _remove_dead(room, removed, kept)
    return Leftovers(tuple(removed), tuple(kept))


def _known_places() -> list[Path]:
    return list(dict.fromkeys((default_place(), _system_place())))


def _rooms_in(place: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(room for room in place.iterdir() if _NAME.fullmatch(room.name))


def _remove_dead(room: Path, removed: list[Path], kept: list[Path]) -> None:
    """Remove a room whose lock is free, and the room that a note in it points to. A symbolic link is never a room."""
    try:
        known = room.lstat()
        own = _is_own(known) and (sys.platform == "win32" or stat.S_IMODE(known.st_mode) == 0o700)
        if not own or not stat.S_ISDIR(known.st_mode) or not _NAME.fullmatch(room.name):
            return
        if not (room / _LOCK).is_file() and any(room.iterdir()):
            return  # a folder that happens to have such a name
        with locked(room / _LOCK, wait=False, remove=True):
            for note in room.glob(f"*/{_ELSEWHERE}"):
                if note.is_file() and not note.is_symlink():
                    _remove_dead(Path(note.read_text(encoding="utf-8")), removed, kept)
            _empty(room)
        room.rmdir()
        removed.append(room)
    except (FileNotFoundError, BlockingIOError):
        return  # removed in the meantime, or in use
    except (OSError, ValueError):
        kept.append(room)


def _is_own(known: os.stat_result) -> bool:
    """Whether a file is this user's; assumed on Windows, which has no such ids."""
    return True if sys.platform == "win32" else known.st_uid == os.getuid()


def _empty(room: Path) -> None:
    """Remove all but the lock; links in it are removed and not followed."""
    for path in room.iterdir():
        if path.name == _LOCK:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _require_place(place: Path) -> None:
    """Refuse a place in which others could put something else under a room's name."""
    known = place.lstat()
    if stat.S_ISLNK(known.st_mode):
        raise OutputError("the scratch folder is a link", value=str(place), hint="Name the folder that it leads to.")
    if sys.platform != "win32" and known.st_mode & _OTHERS_WRITE and not known.st_mode & stat.S_ISVTX:
        raise OutputError(
            "others can remove and replace what is in the scratch folder",
            value=str(place),
            allowed="a folder that only you can write to, or one with the sticky bit",
            hint="Run chmod go-w or chmod +t on it, or name another one: scratch under [data], or {variable}.",
            variable=VARIABLE,
        )


def _require_private(room: Path) -> None:
    known = room.lstat()
    if not _is_own(known) or (sys.platform != "win32" and stat.S_IMODE(known.st_mode) & 0o077):
        room.rmdir()
        raise OutputError(
            "the disk of the scratch folder does not support private folders",
            value=str(room.parent),
            hint="Name a folder on another disk: scratch under [data], or {variable}.",
            variable=VARIABLE,
        )
