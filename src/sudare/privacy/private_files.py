"""Files of one owner: locks, and secrets that only the owner can read.

A lock is a lock of the operating system on a file (`locked`): one holder has it at a time, and the system frees it when
the holder dies. A file with a process number would not do, since numbers are reused, also in containers. The lock holds
between processes and between threads; children made by ``fork`` share it.

A secret is written beside its place and appears there complete or not at all (`write_secret`).
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FAR = 2**30
"""The byte that is locked on Windows, where others cannot read locked bytes: far beyond the file's content."""
_PAUSE_SECONDS = 0.02
"""Between two tries on Windows, which has no way to wait for a lock as long as it takes."""


@contextmanager
def locked(path: Path, *, wait: bool = True, remove: bool = False) -> Iterator[int]:
    """Hold the lock of ``path``, made with mode 600 if need be; gives its descriptor, to write what others may read.

    Without ``wait`` it raises BlockingIOError where somebody else holds it or looks at it. With ``remove`` the file is
    gone afterwards; all who lock it must then say so. OSError where it cannot be made or locked.
    """
    handle = _taken(path, wait)
    try:
        yield handle
    finally:
        if remove and sys.platform != "win32":  # before it is free: nobody takes a file that is about to go
            path.unlink(missing_ok=True)
        os.close(handle)
        if remove and sys.platform == "win32":  # which removes no file that anybody has open
            with suppress(OSError):
                path.unlink()


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock of ``path`` at this moment; several processes may test it at once."""
    try:
        handle = os.open(path, _FLAGS)
    except FileNotFoundError:
        return False
    try:
        _lock(handle, wait=False, shared=True)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _taken(path: Path, wait: bool) -> int:
    while True:
        handle = os.open(path, _FLAGS | os.O_CREAT, 0o600)
        try:
            _lock(handle, wait=wait)
            # On Windows no open file can be removed.
            if sys.platform == "win32" or _is_still(path, handle):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    """Whether the file of ``handle`` was not removed, and perhaps made anew by somebody else, while this one waited."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _lock(handle: int, *, wait: bool, shared: bool = False) -> None:
    if sys.platform == "win32":
        while not _tried(handle):
            if not wait:
                raise BlockingIOError
            time.sleep(_PAUSE_SECONDS)
    else:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


if sys.platform == "win32":

    def _tried(handle: int) -> bool:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True


NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""How a new file is opened by its descriptor; without the last, Windows would change line ends in its bytes."""


def write_secret(path: Path, content: bytes) -> None:
    """Write a new file of mode 600; `FileExistsError` where there is one already, else `OSError` for what fails.

    Written beside its place and linked there when whole: a kill leaves no half secret, a race only one.
    """
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(8)}")
    try:
        handle = os.open(partial, NEW_FILE, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(partial, path)
    finally:
        with suppress(OSError):
            partial.unlink()


def ensure_secret(path: Path, make: Callable[[], bytes]) -> None:
    """Write a new secret unless there is one: of two that make it at once, one is kept for both."""
    if not path.exists():
        with suppress(FileExistsError):
            write_secret(path, make())


def put_in_place(partial: Path, path: Path) -> None:
    """Give a whole file its name, unless another one has it: `FileExistsError`. A rename would replace it."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError from None
        partial.rename(path)
