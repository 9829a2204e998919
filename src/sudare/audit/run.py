"""`audit`: everything that is tried, one part after the other."""

from __future__ import annotations

import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from sudare.audit.behaviour import layout_findings, refusal_findings, timings
from sudare.audit.exact import exact_findings
from sudare.audit.finding import Audit, Finding, Wanted, every, page, said
from sudare.audit.laws import law_findings
from sudare.audit.ledger_checks import book_findings, completed_findings
from sudare.audit.neighbours import EVERY, REPLACED
from sudare.audit.promises import promise_findings, quick_pairs, slow_pairs
from sudare.audit.publications import publication_findings
from sudare.audit.recorded import recorded_findings
from sudare.audit.releases import collection_findings, replay_findings
from sudare.audit.replaying import key_findings
from sudare.audit.sampling import sampling_findings
from sudare.audit.statements import statement_findings
from sudare.errors import OutputError, SudareError
from sudare.language.catalogue import ENGLISH, Words
from sudare.language.messages import OnProgress, Progress, Stage, unheard
from sudare.privacy.history import nothing_remembered


@dataclass(frozen=True)
class Effort:
    """How often things are tried: neighbours generated for each of so many populations, draws of each noise and of
    those on tapes, trials of what is quick to draw, releases of what is not, records of enumerated samples, timed runs.
    """

    generated: int
    populations: int
    draws: int
    recorded: int
    trials: int
    releases: int
    records: int
    timed: int


QUICK = Effort(1, 1, 50_000, 10_000, 50_000, 0, 5, 0)
"""No releases one by one for the distinguishers: at a false alarm of 1e-9, fewer than 150 of them show nothing at all,
not even a release without any noise. The replays look at the same releases."""
FULL = Effort(10, 3, 1_000_000, 50_000, 1_000_000, 3_000, 11, 20)


def audit(
    folder: str | Path | None = None,
    *,
    quick: bool = False,
    exact: bool = False,
    words: Words = ENGLISH,
    progress: OnProgress = unheard,
    processes: int = 1,
    more: Callable[[Path], Iterator[Finding]] | None = None,
) -> Audit:
    """Try to find a breach in this very installation, on invented people. No private data are needed or touched.

    ``folder`` gets ``audit.json`` and ``audit.html``, the page in the language of ``words``; ``quick`` takes a
    minute instead of several; ``exact`` goes through all outcomes of small tables instead (`sudare.audit.exact`). With
    more than one of ``processes``, so many parts are tried at a time, in fresh ones. ``more`` gives findings of upper
    layers, such as the collector's, from a scratch folder of their own.
    """
    effort, start = QUICK if quick else FULL, time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="sudare-audit-") as name, nothing_remembered():
        work = Path(name)
        findings = []
        if exact:
            tried = exact_findings()
        else:
            tried = _findings(work, effort) if processes == 1 else _side_by_side(work, effort, processes)
            if more is not None:
                tried = chain(tried, to_its_end("behaviour", more(work / "more")))
        for finding in tried:
            findings.append(finding)
            progress(Progress(Stage.FINDING, detail=f"{finding.part}: {finding.name}"))
        measured = timings(work, effort.timed) if effort.timed and not exact else {}
    form = "exact" if exact else "quick" if quick else "full"
    made = Audit(tuple(findings), measured, form, (*EVERY, *REPLACED), time.perf_counter() - start)
    if folder is not None:
        write(made, Path(folder), words)
    return made


def write(made: Audit, folder: Path, words: Words = ENGLISH) -> tuple[Path, Path]:
    """``audit.json`` and ``audit.html`` in ``folder``."""
    paths = folder / "audit.json", folder / "audit.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths[0].write_text(
            json.dumps(made.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
        )
        paths[1].write_text(page(made, words), encoding="utf-8", newline="\n")
    except OSError as problem:
        raise OutputError(
            "the audit cannot be written: {type}", value=str(folder), type=type(problem).__name__
        ) from None
    return paths


def _findings(work: Path, effort: Effort) -> Iterator[Finding]:
    for part, findings in parts_of(work, effort):
        yield from to_its_end(part, findings)


def _side_by_side(work: Path, effort: Effort, processes: int) -> Iterator[Finding]:
    """The same findings in the same order, of parts that are tried at the same time."""
    context = multiprocessing.get_context("spawn")
    names = [part for part, _ in parts_of(work, effort)]
    longest_first = sorted(range(len(names)), key=lambda place: names[place] != "distinguishers")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        begun = {place: pool.submit(_one_part, work / f"part {place}", effort, place) for place in longest_first}
        for place in range(len(names)):
            yield from begun[place].result()


def _one_part(folder: Path, effort: Effort, place: int) -> list[Finding]:
    folder.mkdir()
    with nothing_remembered():
        return list(to_its_end(*parts_of(folder, effort)[place]))


def parts_of(work: Path, effort: Effort, wanted: Wanted = every) -> tuple[tuple[str, Iterator[Finding]], ...]:
    """Everything that is tried, in the order in which it is, none of it begun.

    Of the parts that replay, record or publish, only the checks that are ``wanted`` by name; the others are quick, and
    are run as a whole.
    """
    quick = effort == QUICK
    return (
        ("replay", publication_findings(work / "publications", effort.generated, quick=quick, wanted=wanted)),
        ("replay", replay_findings(work, effort.generated, effort.populations, quick=quick, wanted=wanted)),
        ("replay", collection_findings(work / "reports", effort.generated, effort.populations)),
        ("laws", key_findings()),
        ("laws", law_findings(effort.draws)),
        ("laws", recorded_findings(effort.recorded, wanted)),
        ("distinguishers", promise_findings(quick_pairs(), effort.trials)),
        # Half of the full form's time: two parts, so that two processes share it.
        ("distinguishers", promise_findings(islice(slow_pairs(), 0, None, 2), effort.releases)),
        ("distinguishers", promise_findings(islice(slow_pairs(), 1, None, 2), effort.releases)),
        ("sampling", sampling_findings(effort.records, effort.draws)),
        ("behaviour", refusal_findings(work, wanted)),
        ("behaviour", layout_findings(work)),
        ("behaviour", book_findings(work / "books")),
        ("behaviour", completed_findings(work / "completed", wanted)),
        ("behaviour", statement_findings()),
    )


def to_its_end(part: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """The findings of a part. Where a release in it is refused, that is one of them, and the next part is tried."""
    try:
        yield from findings
    except SudareError as mistake:
        stopped = said("seen_stopped", problem=mistake.message)
        yield Finding(part, "the part does not come to its end", False, 1, stopped, said("allowed_end"), stopped=True)
