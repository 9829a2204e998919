"""`audit`: everything that is tried, one part after the other."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sudare.audit.behaviour import layout_findings, refusal_findings, timings
from sudare.audit.finding import Audit, Finding
from sudare.audit.laws import law_findings
from sudare.audit.neighbours import ODD, REPLACED
from sudare.audit.page import page
from sudare.audit.promises import promise_findings
from sudare.audit.releases import replay_findings
from sudare.audit.sampling import sampling_findings
from sudare.errors import OutputError

LIMITS = (
    "The time and the memory of a run grow with the rows and the populated cells: who can watch the machine can learn "
    "about them. Nothing is done against it.",
    'With outside = "error" a run stops where a record lies outside the domain: that it stopped shows that one does.',
    "Under a public total, a record that is replaced by one outside the domain changes that total.",
    "The coins of a sample are not on the tape; its theorem is checked by enumeration of small data sets instead.",
    "A distinguisher gives lower bounds: little found is no proof. The proofs are in the docstrings of the methods.",
    "Releases computed inside Spark, the collector and the choice of levels of a sample are not part of this audit.",
)


@dataclass(frozen=True)
class Effort:
    """How often things are tried."""

    generated: int
    populations: int
    draws: int
    trials: int
    releases: int
    pairs_per_method: int
    records: int
    timed: int


QUICK = Effort(1, 1, 100_000, 50_000, 150, 1, 5, 2)
FULL = Effort(10, 5, 1_000_000, 1_000_000, 10_000, 3, 11, 30)


def audit(
    folder: str | Path | None = None,
    *,
    quick: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Try to find a breach in this very installation, on invented people. No private data are needed or touched.

    ``folder`` gets ``audit.json`` and ``audit.html``; ``quick`` takes seconds instead of a quarter of an hour.
    """
    effort = QUICK if quick else FULL
    with tempfile.TemporaryDirectory(prefix="sudare-audit-") as name:
        work = Path(name)
        findings = []
        for finding in _findings(work, effort):
            findings.append(finding)
            progress(f"{finding.part}: {finding.name}")
        measured = timings(work, effort.timed)
    made = Audit(tuple(findings), measured, LIMITS, quick, (*ODD, *REPLACED))
    if folder is not None:
        write(made, Path(folder))
    return made


def write(made: Audit, folder: Path) -> tuple[Path, Path]:
    """``audit.json`` and ``audit.html`` in ``folder``."""
    paths = folder / "audit.json", folder / "audit.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths[0].write_text(json.dumps(made.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        paths[1].write_text(page(made), encoding="utf-8")
    except OSError as problem:
        raise OutputError(f"the audit cannot be written: {type(problem).__name__}", value=str(folder)) from None
    return paths


def _findings(work: Path, effort: Effort) -> Iterator[Finding]:
    yield from replay_findings(work, effort.generated, effort.populations)
    yield from law_findings(effort.draws)
    yield from promise_findings(effort.trials, effort.releases, effort.pairs_per_method)
    yield from sampling_findings(effort.records, effort.draws)
    yield from refusal_findings(work)
    yield from layout_findings(work)
