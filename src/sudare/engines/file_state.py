"""The files that records lie in, as they stood when they were first looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sudare.errors import InputError


@dataclass(frozen=True)
class FileState:
    """A file by what the file system says of it: a file that is written to or replaced has another state.

    ``size`` is in bytes, ``modified`` in nanoseconds, ``inode`` and ``device`` tell files of one name apart. A file
    that is not there has none of them.
    """

    path: Path
    size: int | None
    modified: int | None
    inode: int | None
    device: int | None

    @classmethod
    def of(cls, path: Path) -> FileState:
        """The state of now."""
        try:
            found = path.stat()
        except (OSError, ValueError):  # a name with a zero byte is no name
            return cls(path, None, None, None, None)
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev)


@dataclass(frozen=True)
class FilesState:
    """The states of all files of a source; none for what lies in memory or at an address of a cluster."""

    files: tuple[FileState, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> FilesState:
        """The states of now."""
        return cls(tuple(map(FileState.of, paths)))

    def with_more(self, paths: Iterable[Path]) -> FilesState:
        """These states, and those of files that were not looked at before."""
        known = {state.path for state in self.files}
        return FilesState((*self.files, *(FileState.of(path) for path in paths if path not in known)))

    def refuse_changed(self) -> None:
        """Refuse to go on if one of the files is not what it was: what was read may be of two files."""
        for state in self.files:
            if FileState.of(state.path) != state:
                raise InputError(
                    "the file changed while it was read",
                    value=str(state.path),
                    hint="Read it again when nobody writes to it, or read a copy.",
                )


NO_FILES = FilesState()


def unreadable(name: str) -> InputError:
    """The one refusal for whatever an engine says of a source that it cannot read: it may quote a value."""
    return InputError(
        "the records cannot be read",
        value=name,
        hint="They are damaged, out of reach, or changed while they were read: write or copy them again.",
    )
