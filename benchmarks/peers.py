"""Peers from PyPI, each in an environment of its own: their pins exclude each other and ours."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory import FOOTER
from row import Row

_FOLDER = Path(__file__).resolve().parent.parent / ".venv-peers"
_FURTHER = ("numpy", "pandas", "pyspark")

OPENDP = ("opendp", ("opendp==0.16.0", "numpy==2.4.6"))
OPENDP_POLARS = ("opendp-polars", ("opendp[polars]==0.16.0",))
DIFFPRIVLIB = ("diffprivlib", ("diffprivlib==0.6.6", "scikit-learn==1.5.2"))  # later scikit-learn breaks its import
TUMULT = ("tumult", ("tmlt.analytics==0.21.0", "tmlt.core==0.19.1", "pyspark==3.5.9"))
MBI = ("mbi", ("mbi==2.0.0",))
PYWAVELETS = ("pywavelets", ("PyWavelets==1.9.0", "numpy==2.4.6"))


class PeerError(Exception):
    """A peer that could not be installed or run; the last line says why."""


@dataclass(frozen=True)
class Called:
    """What is known of a peer after it has run: versions by distribution, and the peak of its memory."""

    versions: dict[str, str]
    megabytes: float


CALLED: dict[str, Called] = {}
"""The peers that this process has called, with the largest memory of any call; the part's JSON names them."""


def peer_python(name: str, requirements: Sequence[str]) -> Path:
    """The interpreter of the peer's environment, which is made where it is not there or its pins changed."""
    mark = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:12]
    folder = _FOLDER / name
    python, stamp = folder / "bin" / "python", folder / f"installed-{mark}"
    if not stamp.exists():
        venv.create(folder, clear=True, with_pip=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise PeerError(f"{name} cannot be installed: {_reason(done.stderr)}")
        stamp.touch()
    return python


def run_peer(name: str, requirements: Sequence[str], script: str, *arguments: str, seconds: float | None = None) -> Any:
    """Run a script in the peer's environment, for so long at most; what it prints last is read as JSON."""
    names = [re.split(r"[<>=!~\[; ]", requirement)[0] for requirement in requirements]
    footer = FOOTER % (list(dict.fromkeys([*names, *_FURTHER])),)
    command = [str(peer_python(name, requirements)), "-c", script + footer, *arguments]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise PeerError(f"{name} did not end within {seconds:.0f} s by the clock") from None
    if done.returncode:
        raise PeerError(f"{name} failed: {_reason(done.stderr)}")
    *_, answer, mark = done.stdout.strip().splitlines()
    seen = json.loads(mark)
    before = CALLED[name].megabytes if name in CALLED else 0.0
    CALLED[name] = Called(seen["versions"], max(before, seen["megabytes"]))
    return json.loads(answer)


@contextmanager
def missing(rows: list[Row], *lacking: Row) -> Iterator[None]:
    """Where a peer fails inside, ``rows`` get what is lacking, with the reason as their note."""
    try:
        yield
    except PeerError as failure:
        rows += [Row(each.name, None, each.unit, each.ratio_to, str(failure), each.case) for each in lacking]


def _reason(text: str) -> str:
    """The last line of what a program complained about, without the paths of this machine."""
    lines = [line for line in text.strip().splitlines() if line.strip() and not line.startswith("WARNING")]
    return re.sub(r"(?:/[\w.+-]+){2,}", "...", lines[-1] if lines else "it gave no reason")
