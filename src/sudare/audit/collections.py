"""Local collections: reports of devices recorded and replayed, through the files and the estimate of a collector.

Every device randomises its own value at the seam, so one person's other value must change that person's report alone,
and with the reports frozen nothing: neither the file that is handed on, nor the sums that a collector keeps, nor what
it estimates. A permanent encoding also has what devices remember: reports are drawn from that alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sudare.audit.finding import Finding
from sudare.audit.laws import encoding_of
from sudare.audit.replaying import Neighbour, Published, Replayed, replay, replay_finding
from sudare.local import ENCODINGS, Encoding, PermanentUnary, Reports, Tally, estimate
from sudare.local.files import write_json_lines, write_parquet
from sudare.noise import Source
from sudare.privacy import Budget

SIZE, DEVICES = 9, 60
"""Values: the last one has a byte of a bitmap to itself."""


def collected(reports: Reports, folder: Path) -> Published:
    """What leaves the house of a collector: the reports in both forms, their sums, and the estimate."""
    files = write_parquet(reports, folder / "reports.parquet"), write_json_lines(reports, folder / "reports.jsonl")
    made = estimate(reports)
    said = {"sums": Tally(reports.encoding).add(reports).to_json(), "estimate": made.to_json(), "summary": made.summary}
    return {path.name: path.read_bytes() for path in files} | {
        what: json.dumps(facts, default=str).encode() for what, facts in said.items()
    }


def neighbours(values: list[int], generated: int, seed: int) -> list[Neighbour]:
    """One device holds another value: the first, the last, the one nobody has, or any; and everybody another one."""
    generator = np.random.default_rng(seed)
    held = {"the first value": 0, "the last value": SIZE - 1, "a duplicate of somebody": values[1]}
    found = [Neighbour(name, [value, *values[1:]], rows=1) for name, value in held.items()]
    for _ in range(generated):
        at, value = int(generator.integers(0, len(values))), int(generator.integers(0, SIZE))
        found.append(Neighbour(f"device {at} replaced", [*values[:at], value, *values[at + 1 :]], rows=1))
    return [*found, Neighbour("everybody else", [SIZE - 1] * len(values), stranger=True)]


def replay_reports(encoding: Encoding, folder: Path, generated: int, seed: int) -> list[Replayed]:
    """Reports of one encoding, recorded once."""

    def run(values: list[int], source: Source) -> Published:
        if isinstance(encoding, PermanentUnary):
            memory = encoding.remember(values, source=source)
            # Drawn from what is remembered alone, with bits that are the same in the replay.
            return collected(encoding.report(memory, seed=seed), folder)
        return collected(encoding.randomize(values, source=source), folder)

    values = np.random.default_rng([seed, 2]).integers(0, SIZE - 1, DEVICES).tolist()
    return replay(run, values, neighbours(values, generated, seed), promised=Budget(epsilon=encoding.epsilon))


def collection_findings(folder: Path, generated: int, populations: int, **changed: Any) -> Iterator[Finding]:
    """A finding for every encoding, or for those of ``changed``."""
    encodings = changed or {name: encoding_of(name, SIZE, Fraction(1)) for name in ENCODINGS}
    folder.mkdir(exist_ok=True)
    for name, encoding in encodings.items():
        found = [one for seed in range(populations) for one in replay_reports(encoding, folder, generated, seed)]
        yield replay_finding(f"reports, {name}", found)
