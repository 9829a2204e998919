"""This process and all that it started, as Linux counts them: memory and processor time, a JVM's included."""

from __future__ import annotations

import os
from pathlib import Path

from memory import peak_megabytes


def family() -> dict[int, list[str]]:
    """This process and all below it that still run, with what the kernel says of each after its name."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(entry.parent.name)] = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended meanwhile
    own = {os.getpid()}
    while more := {child for child, facts in found.items() if int(facts[1]) in own} - own:
        own |= more
    return {process: found[process] for process in own if process in found}


def family_megabytes() -> float | None:
    """Their peaks, added up: no less than they ever had together."""
    peaks = [peak_megabytes(process) for process in family()]
    return sum(peak for peak in peaks if peak) or None


def family_core_seconds() -> float:
    """Their processor time, with that of children that have ended."""
    ticks = sum(sum(map(int, facts[11:15])) for facts in family().values())
    return ticks / os.sysconf("SC_CLK_TCK")
