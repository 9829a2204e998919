"""The audit as a page that holds everything it shows."""

from __future__ import annotations

import datetime

from sudare.audit.distinguish import FALSE_ALARM
from sudare.audit.finding import PARTS, Audit, Finding
from sudare.report import Facts, Lead, Points, Section, Table, Text, Tiles
from sudare.report.layout import lay_out
from sudare.words import ENGLISH

_TITLES = {
    "replay": "Record and replay",
    "laws": "Laws of the noise",
    "distinguishers": "Distinguishers",
    "sampling": "Samples, enumerated",
    "behaviour": "Behaviour",
}
_TEXTS = {
    "replay": "Each release was recorded on one data set and replayed, with its noise frozen, on neighbours. The "
    "published bytes must be the same, and the exact measurements no farther apart than the declared sensitivity.",
    "laws": "Draws against the law they should have, and against the same law 30 % off, which must not fit. "
    f"A right law fails with probability {FALSE_ALARM:g}.",
    "distinguishers": "Lower bounds of epsilon and delta from many releases of two neighbours, wrong with probability "
    f"at most {FALSE_ALARM:g} each. They must stay below what is promised.",
    "sampling": "The exact delta of samples, from every sample of small data sets.",
    "behaviour": "Refusals of neighbours in the same words, and files of the same names, columns and types.",
}


def page(made: Audit, created: datetime.datetime | None = None) -> str:
    """A self-contained HTML page."""
    time = ENGLISH.moment(created or datetime.datetime.now(datetime.UTC))
    failed = [finding for finding in made.findings if not finding.passed]
    tiles = Tiles(
        [
            (f"{len(made.findings):,}", "checks"),
            (f"{sum(finding.times for finding in made.findings):,}", "trials"),
            (f"{len(failed):,}", "failures"),
        ]
    )
    lead = "Nothing was found." if made.passed else f"{len(failed)} checks failed."
    sections = [Section("Result", (Lead(lead), tiles, *([_table("Failures", failed)] if failed else [])))]
    for part in PARTS:
        if found := list(made.of(part)):
            tried = (Points("Adversarial neighbours", made.neighbours),) if part == "replay" and made.neighbours else ()
            sections.append(Section(_TITLES[part], (Text.of(_TEXTS[part]), *tried, _table(_TITLES[part], found))))
    sections.append(Section("Measured, without a bound", (Facts(made.measured),)))
    sections.append(Section("Limits", (Points("What this audit does not show", made.limits, "possible"),)))
    return lay_out("audit.html", sections, ENGLISH, time=time, form="quick" if made.quick else "full")


def _table(caption: str, findings: list[Finding]) -> Table:
    rows = tuple(
        (one.name, "passed" if one.passed else "FAILED", f"{one.times:,}", one.figure, one.allowed) for one in findings
    )
    return Table(caption, ("what", "result", "trials", "seen", "allowed"), rows, numbers=False)
