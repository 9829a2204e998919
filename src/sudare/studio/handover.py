"""The link that opens the studio, handed over in a file that only its user can read.

A link in the command line of a browser can be read by every user of the machine while the browser starts, and a link
that works is the studio. So the browser is given the path of a page, in a private folder, which leads on to the link.
The link works once; whenever it was used, the page gets another one, so that a tab that was closed by mistake can be
opened again for as long as the studio runs.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from html import escape
from pathlib import Path

from sudare.errors import InputError, system_reason
from sudare.privacy.secret_file import NEW_FILE

_NAME = "open.html"
_PAGE = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>Sudare</title>
<p><a href="{link}">Sudare</a></p>
"""


class Handover:
    """The page that leads to the studio at ``origin``, from `write` until `remove`."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="sudare-studio-", dir=_runtime_folder()))
        except OSError as problem:
            raise _unwritten(problem) from None
        self.page = self._folder / _NAME
        self.link = ""

    def write(self, token: str) -> None:
        """The page for the link with ``token``, in place of the one before."""
        # A fragment stays in the browser: no request, no log and no referrer has it.
        self.link = f"{self._origin}/data#token={token}"
        partial = self._folder / f"{_NAME}.partial"
        try:
            partial.unlink(missing_ok=True)
            private = os.open(partial, NEW_FILE, 0o600)
            with os.fdopen(private, "w", encoding="utf-8", newline="\n") as file:
                file.write(_PAGE.format(link=escape(self.link)))
            partial.replace(self.page)
        except OSError as problem:
            raise _unwritten(problem) from None

    def remove(self) -> None:
        """No page any more."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _unwritten(problem: OSError) -> InputError:
    return InputError(
        "the link to the studio cannot be written: {reason}",
        hint="Give XDG_RUNTIME_DIR or TMPDIR a folder of your own that can be written.",
        reason=system_reason(problem),
    )


def _runtime_folder() -> str | None:
    """The user's own folder for what lives as long as a session; None, for the one of temporary files, without it."""
    if sys.platform == "win32":  # where that one is the user's own already
        return None
    found = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    try:
        known = found.stat()
    except OSError:
        return None
    private = stat.S_ISDIR(known.st_mode) and not known.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return str(found) if found.is_absolute() and private and known.st_uid == os.getuid() else None
