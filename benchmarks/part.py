"""The entry that all parts share: measure, print, keep as JSON.

A part ends with ``run_part(rows)``; then ``python benchmarks/NAME.py [--quick] [--json FILE]`` prints its rows as
they are measured and exits with 1 if a goal is missed, with 2 if it broke down. What was measured before is kept in
either case.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from machine import machine, versions
from memory import peak_megabytes
from peers import CALLED
from row import Row, ratio, show

UNFINISHED = "it did not end"
Rows = Callable[[bool], Iterable[Row]]


def measure(rows: Rows, quick: bool, path: Path | None = None) -> dict[str, Any]:
    """Everything the scoreboard keeps of one run of a part; written after every row, so that nothing is lost."""
    os.environ["SUDARE_STATE"] = "off"  # ledgers here are thrown away, and this machine need not remember them
    found: list[Row] = []
    kept: dict[str, Any] = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "quick": quick, "machine": machine()}
    start, case = time.perf_counter(), ""

    def keep(failure: str) -> None:
        kept.update(
            seconds=round(time.perf_counter() - start, 1),
            megabytes=peak_megabytes(),
            failure=failure,
            versions=versions(),
            peers={name: asdict(called) for name, called in CALLED.items()},
            rows=[row.plain() for row in found],
        )
        if path:
            path.write_text(json.dumps(kept, indent=1) + "\n")

    try:
        for row in rows(quick):
            if row.case != case:
                print(f"{row.case}", flush=True)
                case = row.case
            found.append(row)
            print(_line(row, found), flush=True)
            keep(UNFINISHED)
    except Exception as problem:  # whatever breaks a part, what it measured before counts
        traceback.print_exc()
        keep(f"{type(problem).__name__}: {problem}")
    else:
        keep("")
    return kept


def run_part(rows: Rows) -> None:
    """The command line of a part."""
    parser = argparse.ArgumentParser(description="One part of the scoreboard.")
    parser.add_argument("--quick", action="store_true", help="small sizes and few repetitions")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the rows")
    options = parser.parse_args()
    kept = measure(rows, options.quick, options.json)
    if kept["failure"]:
        sys.exit(2)
    sys.exit(0 if all(Row(**row).met for row in kept["rows"]) else 1)


def _line(row: Row, rows: list[Row]) -> str:
    times = ratio(row, rows)
    line = f"  {row.name:48} {show(row.value):>12} {row.unit:16}"
    line += f" {show(times)} times {row.ratio_to}" if times is not None else ""
    line += f" (goal: {row.goal}{'' if row.met else ': MISSED'})" if row.goal else ""
    return f"{line}  {row.note}".rstrip()
