"""The scoreboard: every part in a process of its own, one after the other, then RESULTS.md and its plots.

    python benchmarks/run.py [PART ...]               all parts, or those named
    python benchmarks/run.py --quick [PART ...]       with small sizes, into out/benchmarks
    python benchmarks/run.py --report                 RESULTS.md again from what was kept, without measuring
    python benchmarks/run.py --list                   the parts

What a part measured is kept as JSON in benchmarks/results. A part that breaks down does not stop the others: RESULTS.md
says which it was, and the exit code is 1. A missed goal is shown, and is no failure of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from grids import data_folder
from machine import machine, versions
from part import UNFINISHED
from parts import PARTS
from results import write_results

FOLDER = Path(__file__).resolve().parent
KEPT = FOLDER / "results"
QUICK = FOLDER.parent / "out" / "benchmarks"
IMAGES = FOLDER.parent / "docs" / "images"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For products of matrices, ours and those of peers: threads that wait for each other would count as processor time."""
LONGEST = 3600
"""Seconds after which a part is stopped."""


def run_one(name: str, quick: bool, folder: Path) -> dict[str, Any]:
    """Run a part and keep what it measured; the same, with a ``failure`` where it has none to give."""
    path = folder / f"{name}.json"
    path.unlink(missing_ok=True)
    command = [sys.executable, "-u", str(FOLDER / f"{name}.py"), "--json", str(path), *(["--quick"] if quick else [])]
    data = data_folder()
    environment = {**os.environ, **ONE_THREAD, **({"SUDARE_DATA": str(data.resolve())} if data.is_dir() else {})}
    before, start = machine(), time.perf_counter()
    try:
        code = subprocess.run(command, check=False, env=environment, timeout=LONGEST).returncode
        failure = "" if code in (0, 1) and path.exists() else f"it ended with exit code {code}"
    except subprocess.TimeoutExpired:
        failure = f"it was stopped after {LONGEST} s"
    seconds = round(time.perf_counter() - start, 1)
    kept = wrapped(json.loads(path.read_text()) if path.exists() else [], before, seconds, quick)
    if kept["failure"] in ("", UNFINISHED):  # else the part itself says more
        kept["failure"] = failure
    path.write_text(json.dumps(kept, indent=1) + "\n")
    return kept


def wrapped(found: Any, before: dict[str, Any], seconds: float, quick: bool) -> dict[str, Any]:
    """What a part gave, with the frame that parts without `run_part` lack."""
    frame = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "quick": quick,
        "machine": before,
        "seconds": seconds,
        "megabytes": None,
        "failure": "",
        "versions": versions(),
        "peers": {},
    }
    return frame | (found if isinstance(found, dict) else {"rows": found})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", metavar="PART", help="all without a name")
    parser.add_argument("--quick", action="store_true", help="small sizes, into out/benchmarks")
    parser.add_argument("--report", action="store_true", help="write RESULTS.md from what was kept")
    parser.add_argument("--list", action="store_true", help="name the parts")
    options = parser.parse_args()
    if unknown := [name for name in options.parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    if options.list:
        for name, part in PARTS.items():
            print(f"{name:22} {part.title}")
        return
    folder, target, images = (QUICK, QUICK, QUICK) if options.quick else (KEPT, FOLDER, IMAGES)
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in [] if options.report else options.parts or PARTS:
        print(f"== {name}: {PARTS[name].title}", flush=True)
        kept = run_one(name, options.quick, folder)
        print(f"   {kept['seconds']:.0f} s{': ' + kept['failure'] if kept['failure'] else ''}", flush=True)
        if kept["failure"]:
            failed.append(name)
    write_results(folder, target / "RESULTS.md", images)
    print(f"written: {(target / 'RESULTS.md').relative_to(FOLDER.parent)}")
    if failed:
        sys.exit(f"broken parts: {', '.join(failed)}")


if __name__ == "__main__":
    main()
