"""A release appears whole or not at all: files are written beside their final folder, which is then renamed."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sudare.errors import Message, OutputError, SudareError, system_reason
from sudare.privacy.private_files import locked

_REASONS = {
    errno.ENOSPC: Message("no space is left on the disk"),
    errno.EFBIG: Message("a file would be too large for the disk"),
    errno.EDQUOT: Message("the disk quota is used up"),
    errno.EACCES: Message("writing is not permitted there"),
    errno.EROFS: Message("the disk is read-only"),
    errno.ENOTDIR: Message("a part of its path is a file"),
    errno.ENAMETOOLONG: Message("its name is too long"),
}
CERTIFICATE = "release.json"
_PRIVATE = re.compile(r"\.(.+)-internal\.html\.partial-[0-9a-f]{16}")
"""What a page of the internal report is called until it is whole."""


def is_there(path: Path) -> bool:
    """Whether a path leads to anything; one that the system refuses to look up, such as a name too long, does not.

    >>> is_there(Path("x" * 300))
    False
    """
    try:
        return path.exists()
    except OSError:
        return False


def refuse_existing(folder: Path) -> None:
    """Nothing is ever overwritten, not even by something better."""
    try:
        # A link that leads nowhere is there too, and so is what a path that goes down and up again leads to.
        exists = os.path.lexists(folder) or Path(os.path.realpath(folder)).exists()
    except OSError as problem:
        raise _unwritable(folder, problem) from None
    if exists:
        what = Message("folder") if folder.is_dir() else Message("file")
        raise OutputError(
            "the output {what} exists already", value=str(folder), hint="Name another one in the recipe.", what=what
        )


def lock_path(folder: Path) -> Path:
    """The file that a run holds locked while it makes the release in ``folder``: one for all paths that lead there."""
    place = Path(os.path.realpath(folder))
    return place.with_name(f".{place.name}.lock")


@contextmanager
def taken(folder: Path) -> Iterator[None]:
    """Reserve ``folder`` for one run, before anything is spent for it; the system frees it when the run dies.

    Whoever comes second is refused at once while the first one is at work, and afterwards because of what it made.
    What killed runs left beside a folder goes first, also where it is then refused: it may be true values.
    """
    with ExitStack() as held:
        try:
            lock = lock_path(folder)
            lock.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(locked(lock, wait=False, remove=True))
            remove_leftovers(folder)
            _remove_private_leftovers(folder)
        except BlockingIOError:
            raise OutputError(
                "another publication into this folder is under way",
                value=str(folder),
                hint="Nothing was spent by this one. Wait for the other.",
            ) from None
        except OSError as problem:
            refuse_existing(folder)
            raise _unwritable(folder, problem) from None
        refuse_existing(folder)
        yield


def nearest_folder(folder: Path) -> Path:
    """The folder that is there already and holds ``folder``, or what it lies in; refuses a path that leads to none."""
    if folder.name in ("", "..") or "\0" in folder.name:
        raise OutputError(
            "the output folder has no name of its own", value=str(folder), allowed="a path that ends in a new name"
        )
    for place in (folder, *folder.parents):
        if is_there(place) and place != folder:
            if not place.is_dir():
                raise _unwritable(folder, OSError(errno.ENOTDIR, ""))
            return place
        if os.path.islink(place):  # noqa: PTH114 - the other one fails at a name too long
            raise OutputError(
                "a link in the path of the output folder leads nowhere",
                value=str(folder),
                hint="Name another one in the recipe.",
            )
    raise _unwritable(folder, OSError(errno.ENOENT, "No such file or directory"))


def refuse_unusable(folder: Path) -> None:
    """Refuse a place where the release could not appear in the end: so that this is not found out when it is paid for.

    A folder with the longest name that a publication uses beside ``folder`` is made, renamed and removed. Whether
    there is room for the files is another question (`Needs`).
    """
    place = nearest_folder(folder)
    for left in [path for path in _within(place) if _PRIVATE.fullmatch(path.name)]:
        with suppress(OSError):  # an empty folder, of a run that was killed right here; pages are files
            left.rmdir()
    drawn = secrets.token_hex(7)
    probes = [place / f".{folder.name}-internal.html.partial-{drawn}{number:02x}" for number in range(2)]
    try:
        probes[0].mkdir()
        with suppress(FileNotFoundError):  # who has this place may have removed it, as what a kill has left
            probes[0].rename(probes[1])
            probes[1].rmdir()
    except SudareError:
        raise
    except OSError as problem:
        raise _unwritable(folder, problem) from None
    finally:
        for probe in probes:
            shutil.rmtree(probe, ignore_errors=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into, renamed to ``folder`` at the end; on any failure it is removed."""
    refuse_existing(folder)
    # Drawn, not the process's number: in containers that number comes back, and so would what a kill left behind.
    partial = folder.with_name(f".{folder.name}.partial-{secrets.token_hex(8)}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        partial.mkdir()
        yield partial
        for path in partial.iterdir():
            flush(path)
        flush(partial)
        refuse_existing(folder)
        partial.rename(folder)
        flush(folder.parent)
    except OSError as problem:
        raise _unwritable(folder, problem) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what runs that were killed left half done for ``folder``; whoever calls it has that place for itself.

    Beside protected files these may be a page with true values, of the internal report, which lies next to the folder;
    in the folder, if it is there, pages of the public one and their list.
    """
    name = re.escape(folder.name)
    _remove(folder.parent, re.compile(rf"\.{name}(-internal\.html|-report(\.[a-z]+)?\.html)?\.partial-[0-9a-f]+"))
    _remove(folder, re.compile(r"\.(report(\.[a-z]+)?\.html|reports\.json)\.partial-[0-9a-f]{16}"))


def _remove_private_leftovers(folder: Path) -> None:
    """Remove pages with true values that killed runs left beside ``folder``, unless a run is at work there.

    A release whose page was cut off is out already: perhaps nobody publishes into its folder any more.
    """
    names = {found[1] for path in _within(folder.parent) if (found := _PRIVATE.fullmatch(path.name))}
    for name in names - {folder.name}:
        with suppress(OSError), locked(lock_path(folder.with_name(name)), wait=False, remove=True):
            _remove(folder.parent, re.compile(rf"\.{re.escape(name)}-internal\.html\.partial-[0-9a-f]{{16}}"))


def _remove(place: Path, names: re.Pattern[str]) -> None:
    for left in [path for path in _within(place) if names.fullmatch(path.name)]:
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _within(folder: Path) -> list[Path]:
    """The contents of a folder; nothing where it is not a folder or cannot be read."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _unwritable(folder: Path, problem: OSError) -> OutputError:
    reason = _REASONS.get(problem.errno or 0) or system_reason(problem)
    return OutputError("the release cannot be written: {reason}", value=str(folder), reason=reason)


def flush(path: Path) -> None:
    """Make a file or folder survive a power cut; on Windows a file, since folders cannot be opened there."""
    windows = sys.platform == "win32"
    if windows and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if windows else os.O_RDONLY)  # Windows syncs only what it may write
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
