"""The result of an audit: one `Finding` for each check, all of them as an `Audit`, and its self-contained HTML page."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sudare.audit.distinguish import FALSE_ALARM
from sudare.errors import Message, ParameterError, SudareError
from sudare.language.catalogue import ENGLISH, Words
from sudare.language.translation import text
from sudare.render.sections import Facts, Lead, Points, Section, Table, Text, Tiles, lay_out

Wanted = Callable[[str, str], bool]
"""Whether the check of this part and name is run: a part that is asked for some of its checks leaves the others out."""
PARTS = ("replay", "laws", "distinguishers", "sampling", "behaviour", "exact")
"""The parts of an audit, in the order they are run; the last is a form of its own."""

FORMS = ("quick", "full", "exact")


def every(_part: str, _name: str) -> bool:
    """All checks are `Wanted`."""
    return True


@dataclass(frozen=True)
class Said:
    """A message of the catalogue with what fills its gaps, so that a page can say it in its own language."""

    key: str
    gaps: tuple[tuple[str, str | Message | SudareError], ...] = ()

    def __call__(self, words: Words = ENGLISH) -> str:
        return words(f"audit.{self.key}", **{name: _worded(value, words) for name, value in self.gaps})


def _worded(piece: str | Message | SudareError, words: Words) -> str:
    """A piece of a name, a number, or the refusal that was seen."""
    if isinstance(piece, SudareError):
        return f"{type(piece).__name__}: {text(piece, words.language)}"
    if isinstance(piece, Message):
        return text(piece, words.language)
    return name_in_words(piece, words)


def name_in_words(name: str, words: Words) -> str:
    """A name of what is tried, by its code in the catalogue; the name itself where it has none (numbers, methods)."""
    code = re.sub(r"\W+", "_", name.lower()).strip("_")
    found = words.label("audit_name", code)
    return name if found == code else found


def said(key: str, **gaps: str | Message | SudareError) -> Said:
    """A message and what fills its gaps."""
    return Said(key, tuple(gaps.items()))


@dataclass(frozen=True)
class Finding:
    """One thing that was tried: ``times`` says how often, ``figure`` what was seen, ``allowed`` what it may be.

    ``alarm`` bounds the probability that a sound package fails here by chance; 0 where nothing is left to chance.
    ``stopped`` says that nothing was compared: a release was refused, and the rest of the part was not tried.

    >>> seen, allowed = said("seen_fit", right="0.3", wrong="0"), said("allowed_fit", limit="1e-09")
    >>> Finding("laws", "a coin", True, 1000, seen, allowed, 1e-9).figure()
    'p = 0.3; 30 % off: p = 0'
    """

    part: str
    name: str
    passed: bool
    times: int
    figure: Said
    allowed: Said
    alarm: float = 0.0
    stopped: bool = False

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ParameterError("no such part of an audit", value=self.part, allowed=PARTS)
        if self.times < 1:
            raise ParameterError("a finding needs at least one trial", value=self.name)

    def named(self, words: Words = ENGLISH) -> str:
        """The name, each piece of it in words where there are some."""
        return ", ".join(_worded(piece, words) for piece in self.name.split(", "))

    def to_json(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "name": self.name,
            "passed": self.passed,
            "times": self.times,
            "figure": self.figure(),
            "allowed": self.allowed(),
            "false_alarm": self.alarm,
        }


@dataclass(frozen=True)
class Watched:
    """What ``runs`` releases of one data set showed to who watches the machine.

    ``seconds`` are the tenth, the half and nine tenths, ``mebibytes`` the peak of memory, ``slower`` the share of
    runs that took longer than that of the first data set before it; None for the first one.
    """

    seconds: tuple[float, float, float]
    mebibytes: float
    runs: int
    slower: float | None = None

    def said(self) -> Said:
        low, middle, high = (f"{each:.4f}" for each in self.seconds)
        facts = {"low": low, "middle": middle, "high": high, "memory": f"{self.mebibytes:.2f}", "runs": f"{self.runs}"}
        if self.slower is None:
            return said("timed_first", **facts)
        return said("timed", **facts, slower=f"{self.slower:.0%}")

    def to_json(self) -> dict[str, Any]:
        return {"seconds": list(self.seconds), "mebibytes": self.mebibytes, "runs": self.runs, "slower": self.slower}


@dataclass(frozen=True)
class Audit:
    """All findings of a run, what was measured without a bound, and its ``form``: quick, full or exact.

    ``measured`` maps a data set to what its releases showed; ``neighbours`` names the adversarial ones.
    """

    findings: tuple[Finding, ...]
    measured: dict[str, Watched]
    form: str
    neighbours: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return bool(self.findings) and all(finding.passed for finding in self.findings)

    @property
    def false_alarm(self) -> float:
        """The probability that a sound package fails this audit, at most: that of each check, added up."""
        return sum(finding.alarm for finding in self.findings)

    def of(self, part: str) -> tuple[Finding, ...]:
        """The findings of one part."""
        return tuple(finding for finding in self.findings if finding.part == part)

    def facts(self, words: Words = ENGLISH) -> dict[str, str]:
        """What a person wants to read first."""
        failed = sum(not finding.passed for finding in self.findings)
        found = words("audit.fact_failures", failed=failed, all=len(self.findings))
        return {
            words("audit.fact_result"): words("audit.fact_nothing") if self.passed else found,
            words("audit.fact_form"): words(f"audit.fact_{self.form}"),
            **{words(f"audit.short_{part}"): _summed(of, words) for part in PARTS if (of := self.of(part))},
            words("audit.fact_alarm"): words("audit.fact_alarm_text", chance=f"{self.false_alarm:.1e}"),
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "form": self.form,
            "quick": self.form == "quick",
            "seconds": round(self.seconds, 1),
            "false_alarm": self.false_alarm,
            "findings": [finding.to_json() for finding in self.findings],
            "neighbours": list(self.neighbours),
            "measured": {name: watched.to_json() for name, watched in self.measured.items()},
            "limits": limits(ENGLISH),
        }


LIMITS = ("time", "stopped", "total", "lower_bounds", "elsewhere", "sizes")
"""What an audit does not show: messages of the catalogue."""


def limits(words: Words) -> list[str]:
    """What an audit does not show, a sentence each."""
    return [words(f"audit.limit_{name}") for name in LIMITS]


def _summed(findings: tuple[Finding, ...], words: Words) -> str:
    failed = sum(not finding.passed for finding in findings)
    tried = sum(finding.times for finding in findings)
    bad = failed or words("audit.fact_none")
    return words("audit.fact_part", checks=len(findings), trials=tried, failed=bad)


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
    watched = {name_in_words(name, words): one.said()(words) for name, one in made.measured.items()}
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
        form=words(f"audit.{made.form}_form"),
    )


def _text(part: str, words: Words) -> str:
    gaps = {"chance": f"{FALSE_ALARM:g}"} if part in ("laws", "distinguishers") else {}
    return words(f"audit.{part}_text", **gaps)


def _neighbours(made: Audit, words: Words) -> Points:
    return Points(words("audit.neighbours"), tuple(name_in_words(name, words) for name in made.neighbours))


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
