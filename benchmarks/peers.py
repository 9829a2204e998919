"""Peers from PyPI, each in an environment of its own: their pins exclude each other and ours."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent.parent / ".venv-peers"


def peer_python(name: str, requirements: Sequence[str]) -> Path:
    """The interpreter of the peer's environment, which is made where it is not there or its pins changed."""
    mark = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:12]
    folder = _FOLDER / name
    python, stamp = folder / "bin" / "python", folder / f"installed-{mark}"
    if not stamp.exists():
        venv.create(folder, clear=True, with_pip=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        subprocess.run(command, check=True)
        stamp.touch()
    return python


def run_peer(name: str, requirements: Sequence[str], script: str, *arguments: str) -> Any:
    """Run a script in the peer's environment; what it prints last is read as JSON."""
    command = [str(peer_python(name, requirements)), "-c", script, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the peer {name} failed:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])
