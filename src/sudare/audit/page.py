"""The audit as a page that holds everything it shows, in English or Japanese."""

from __future__ import annotations

import datetime

from sudare.audit.distinguish import FALSE_ALARM
from sudare.audit.finding import PARTS, Audit, Finding, limits
from sudare.report import Facts, Lead, Points, Section, Table, Text, Tiles
from sudare.report.layout import lay_out
from sudare.words import ENGLISH, Words


def page(made: Audit, words: Words = ENGLISH, created: datetime.datetime | None = None) -> str:
    """A self-contained HTML page."""
    failed = [finding for finding in made.findings if not finding.passed]
    tiles = Tiles(
        [
            (f"{len(made.findings):,}", words("audit.checks")),
            (f"{sum(finding.times for finding in made.findings):,}", words("audit.trials")),
            (f"{len(failed):,}", words("audit.failures")),
        ]
    )
    lead = words("audit.nothing_found") if made.passed else words("audit.found", failed=len(failed))
    alarm = Text.of(words("audit.false_alarm", chance=f"{made.false_alarm:.1e}"))
    listed = (_table(words("audit.failures"), failed, words),) if failed else ()
    sections = [Section(words("audit.result"), (Lead(lead), tiles, alarm, *listed))]
    for part in PARTS:
        if found := list(made.of(part)):
            title, text = words(f"audit.{part}"), _text(part, words)
            tried = (_neighbours(made, words),) if part == "replay" and made.neighbours else ()
            sections.append(Section(title, (Text.of(text), *tried, _table(title, found, words))))
    watched = {words.label("audit_name", name): one.said()(words) for name, one in made.measured.items()}
    if watched:
        sections.append(Section(words("audit.watched"), (Text.of(words("audit.watched_text")), Facts(watched))))
    sections.append(
        Section(words("audit.limits"), (Points(words("audit.not_shown"), tuple(limits(words)), "possible"),))
    )
    return lay_out(
        "audit.html",
        sections,
        words,
        time=words.moment(created or datetime.datetime.now(datetime.UTC)),
        form=words("audit.quick" if made.quick else "audit.full"),
    )


def _text(part: str, words: Words) -> str:
    gaps = {"chance": f"{FALSE_ALARM:g}"} if part in ("laws", "distinguishers") else {}
    return words(f"audit.{part}_text", **gaps)


def _neighbours(made: Audit, words: Words) -> Points:
    return Points(words("audit.neighbours"), tuple(words.label("audit_name", name) for name in made.neighbours))


def _table(caption: str, findings: list[Finding], words: Words) -> Table:
    rows = tuple(
        (
            one.named(words),
            words("audit.passed" if one.passed else "audit.failed"),
            f"{one.times:,}",
            one.figure(words),
            one.allowed(words),
        )
        for one in findings
    )
    header = tuple(words(f"audit.column_{name}") for name in ("what", "result", "trials", "seen", "allowed"))
    return Table(caption, header, rows, numbers=False)
