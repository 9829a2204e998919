"""The link that opens the studio is in no command line: another user, who reads them all, sees none that works."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

PATIENCE = 300.0  # seconds, for a busy machine; nothing waits longer than it must
# In the place of the steward's browser: notes what it was given, waits until it was seen, and becomes the real one.
WATCHED = """#!{python}
import os, pathlib, sys, time
from urllib.parse import urlsplit
from urllib.request import url2pathname
place, given = pathlib.Path({place!r}), sys.argv[1]
address = urlsplit(given)
text = pathlib.Path(url2pathname(address.path)).read_text() if address.scheme == "file" else ""
(place / "partial").write_text(given + "\\n" + text)
(place / "pid").write_text(str(os.getpid()))
(place / "partial").rename(place / "given")
end = time.monotonic() + {patience}
while not (place / "seen").exists() and time.monotonic() < end:
    time.sleep(0.01)
flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--user-data-dir=" + str(place / "profile")]
os.execv({chromium!r}, [{chromium!r}, *flags, given])
"""
# The other user: every command line of the machine, again and again, each printed once.
READER = """
import os, sys
for become, who in zip((os.setgid, os.setuid), map(int, sys.argv[1:])):
    become is os.setgid and os.setgroups([])
    become(who)
seen = set()
while True:
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                line = file.read().replace(b"\\0", b" ").replace(b"\\n", b" ").decode(errors="replace")
        except OSError:
            continue
        if line not in seen:
            seen.add(line)
            print(line, flush=True)
"""


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def token_in(text: str) -> str:
    return re.search(r"token=([\w-]{43})", text)[1]


@pytest.fixture
def other_user() -> dict[str, object]:
    """Somebody else where we may become one; else ourselves, who see no fewer command lines."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="command lines cannot be seen: no /proc")
def test_whoever_reads_all_command_lines_sees_no_link(tmp_path, other_user):
    """From the start of the studio, through a real browser, until the link was used and the studio ended."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    place = tmp_path / "browser"
    place.mkdir()
    browser = place / "watched-browser"
    text = WATCHED.format(python=sys.executable, place=str(place), chromium=chromium, patience=PATIENCE)
    browser.write_text(text)
    browser.chmod(0o700)
    (tmp_path / "lines").touch()
    with (tmp_path / "lines").open("w") as lines:
        who = [str(other_user[key]) for key in ("group", "user") if key in other_user]
        reader = subprocess.Popen([sys.executable, "-c", READER, *who], stdout=lines, cwd="/")
    script = "from sudare.cli.studio import studio; studio()"
    studio = subprocess.Popen(
        [sys.executable, "-c", script, "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "BROWSER": f"{browser} %s", "XDG_RUNTIME_DIR": ""},
        stdout=subprocess.PIPE,
        text=True,
    )

    def seen() -> str:
        assert reader.poll() is None
        return (tmp_path / "lines").read_text()

    try:
        printed = studio.stdout.readline()
        wait_until((place / "given").exists)
        wait_until(lambda: "watched-browser" in seen())
        given, _, text = (place / "given").read_text().partition("\n")
        token = token_in(given + text)
        assert token not in seen()
        assert "token" not in printed
        page = Path(url2pathname(urlsplit(given).path))
        assert (page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        if other_user:
            read = subprocess.run(["cat", str(page)], capture_output=True, check=False, **other_user)
            assert read.returncode != 0
            assert read.stdout == b""
        # The real browser opens the page, and the link is used: then the page has another one.
        (place / "seen").touch()
        wait_until(lambda: token_in(page.read_text()) != token)
        wait_until(lambda: str(place / "profile") in seen())
        assert not {token, token_in(page.read_text())} & set(re.findall(r"[\w-]{43}", seen()))
        studio.send_signal(signal.SIGTERM)
        studio.wait(PATIENCE)
        assert not page.parent.exists()
    finally:
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((place / "pid").read_text()), signal.SIGKILL)
        for process in (reader, studio):
            process.kill()
            process.communicate()
