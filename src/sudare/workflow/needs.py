"""What a release needs of the machine: estimated, compared with what is there, and refused before it is paid for.

What this machine has left: memory within every limit that the system tells of, and space on a disk.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sudare.errors import CapacityError
from sudare.recipe.kind import Needs

_LIMITS = {"RLIMIT_AS": "VmSize", "RLIMIT_DATA": "VmData"}
"""Limits of a process (setrlimit), and what it has used of each."""


@dataclass(frozen=True)
class Group:
    """The files of a control group of Linux: its limit, its use, and what its caches could give back."""

    base: str
    limit: str
    use: str
    reclaimable: str


_GROUPS = {
    "": Group("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": Group("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""By the controllers that /proc/self/cgroup names: of version 2 none, of version 1 memory."""


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that this process may still take; None where the system does not tell. Swap is not counted.

    On Linux the least of what is free or can be freed, what the process's control groups (containers) leave, and what
    its own limits leave. On Windows the free physical memory; on macOS all of the physical memory, since what is free
    of it is not told: there only what could never fit is known. ``root`` is where the system's files are.
    """
    if sys.platform == "win32":
        return _free_on_windows()
    found = [*_free(root), *_left_in_groups(root), *_left_by_limits(root)]
    return max(0, min(found)) if found else _physical()


def free_disk(target: Path) -> int | None:
    """Bytes free where ``target`` will be, for this user; quotas are not known. None where it cannot be asked."""
    folder = target.absolute()
    with suppress(OSError):
        while not folder.exists():
            folder = folder.parent
        return shutil.disk_usage(folder).free
    return None


def _numbers(path: Path) -> dict[str, int]:
    """The lines of a system's file of names and numbers, in bytes."""
    found = {}
    with suppress(OSError):
        for line in path.read_text(encoding="ascii", errors="replace").splitlines():
            name, *words = line.replace(":", " ").split() or [""]
            if words and words[0].isdigit():
                found[name] = int(words[0]) * (1024 if words[-1] == "kB" else 1)
    return found


def _free(root: Path) -> Iterator[int]:
    known = _numbers(root / "proc/meminfo")
    if "MemAvailable" in known:
        yield known["MemAvailable"]


def _left_in_groups(root: Path) -> Iterator[int]:
    """What each control group leaves that the process is in, and each group around it.

    Within a container the path may be the host's and name nothing here: then the nearest folder above it is the
    container's own.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2) if line.count(":") > 1 else ("", "?", "")
        for group in [_GROUPS[name] for name in controllers.split(",") if name in _GROUPS]:
            inside = PurePosixPath(path.lstrip("/"))
            for folder in (inside, *inside.parents):
                yield from _left_in(root / group.base / folder, group)


def _left_in(folder: Path, group: Group) -> Iterator[int]:
    with suppress(OSError, ValueError):  # a limit that is "max" is none
        limit = int((folder / group.limit).read_text(encoding="ascii"))
        use = int((folder / group.use).read_text(encoding="ascii"))
        yield limit - use + _numbers(folder / "memory.stat").get(group.reclaimable, 0)


def _left_by_limits(root: Path) -> Iterator[int]:
    if sys.platform == "win32":
        return
    import resource

    used = _numbers(root / "proc/self/status")
    for name, use in _LIMITS.items():
        limit = resource.getrlimit(getattr(resource, name))[0]
        if limit != resource.RLIM_INFINITY and use in used:
            yield limit - used[use]


def _physical() -> int | None:
    if sys.platform == "win32":
        return None
    import os

    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _free_on_windows() -> int | None:  # pragma: no cover - only there
    import ctypes

    class Status(ctypes.Structure):
        """MEMORYSTATUSEX."""

        _fields_ = [
            ("length", ctypes.c_uint32),
            ("load", ctypes.c_uint32),
            ("total", ctypes.c_uint64),
            ("free", ctypes.c_uint64),
            ("others", ctypes.c_uint64 * 5),
        ]

    status = Status(length=ctypes.sizeof(Status))
    told = ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined,unused-ignore]
    return status.free if told else None


def refuse_scarce(needs: Needs, target: Path) -> None:
    """Refuse what would end for want of memory or disk after it was paid for.

    An estimate may rest on the private data, as the time that a run takes does. The refusal comes before anything
    is spent, is seen by the steward alone, who holds the data, and says a size of two digits at most; nothing of
    it enters a release, the ledger or a page. A release that is refused does not exist, so nobody else learns it.
    """
    memory, disk = available_memory(), free_disk(target)
    if needs.memory is not None and memory is not None and needs.memory > memory:
        raise CapacityError(
            "the release needs about {needed} of memory, and {left} is left",
            hint="Nothing was spent: take coarser cells or fewer columns, another method, a cluster (Spark) or a "
            "larger machine, or set output.confirm_resources = true if this is mistaken.",
            needed=rounded(needs.memory),
            left=rounded(memory, up=False),
        )
    if needs.disk is not None and disk is not None and needs.disk > disk:
        raise CapacityError(
            "the release needs about {needed} of disk, and {left} is free there",
            value=str(target),
            hint="Nothing was spent: make room, name another folder or fewer formats, or set "
            "output.confirm_resources = true if this is mistaken.",
            needed=rounded(needs.disk),
            left=rounded(disk, up=False),
        )


def rounded(size: int, *, up: bool = True) -> str:
    """Bytes in two digits, so that no exact number is given away.

    >>> rounded(11_444_000_000), rounded(11_444_000_000, up=False), rounded(0)
    ('12 GB', '11 GB', '0 B')
    """
    from sudare.language.writing import file_size

    step = 10 ** max(0, len(str(size)) - 2)
    return file_size((math.ceil if up else math.floor)(size / step) * step)


@contextmanager
def memory_refused() -> Iterator[None]:
    """A memory that is full (Python's, NumPy's and Arrow's errors say so alike) as a sentence of one line."""
    try:
        yield
    except CapacityError:
        raise
    except MemoryError:
        raise CapacityError(
            "the machine is out of memory", hint="Take coarser cells or fewer columns, or a larger machine."
        ) from None
