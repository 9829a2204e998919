"""Writing a secret: a file that only its owner can read, there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

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
