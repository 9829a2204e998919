"""What the reports say of a k-anonymous sample; the names of measures in the language of the page, if it has them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sudare.anonymity import Anonymized, Measure
from sudare.anonymity.assessment import public_measures
from sudare.report import Facts, Section, Table, Text
from sudare.words import Words, phrase

_EVALUATED = "This evaluates one output and promises nothing. It rests on private counts and cannot be published."


def public_sections(summary: dict[str, Any], words: Words) -> list[Section]:
    """From the summary that the certificate states: of the published rows and the terms alone."""
    numbers = {
        "published rows": summary["records"],
        "classes": summary["classes"],
        "smallest class": summary["smallest_class"] or 0,
        "loss (NCP)": summary["measures"]["ncp"],
    }
    facts = {words.known("sample", name): words.number(value) for name, value in numbers.items()}
    if summary["levels"] is not None:
        levels = [f"{name} {level}" for name, level in summary["levels"].items()]
        facts[words.known("sample", "levels")] = words.listing(levels)
    return [
        Section(words.known("sample", "A k-anonymous sample"), (Facts(facts),)),
        Section(words.known("sample", "Risk and loss"), (_table(public_measures(summary), words),), chapter="trust"),
    ]


def internal_sections(made: Anonymized, words: Words) -> list[Section]:
    """With the counts behind the classes: for the publisher."""
    epsilon = made.epsilon_evaluated
    written = "infinite" if math.isinf(epsilon) else f"{epsilon:.4f}"
    evaluated = Text.of(
        words.known("sample", _EVALUATED),
        f"{words.known('sample', 'evaluated epsilon')}: {phrase(written, words)}",
    )
    title = words.known("sample", "Risk and loss, with the records behind the sample")
    return [Section(title, (_table(made.assessment.table, words), evaluated), internal=True)]


def _table(measures: Iterable[Measure], words: Words) -> Table:
    header = tuple(words.known("sample", name) for name in ("measure", "value", "meaning"))
    rows = tuple(
        (words.known("sample", measure.name), words.number(measure.value), words.known("sample", measure.meaning))
        for measure in measures
    )
    return Table(words.known("sample", "measures of the sample"), header, rows, numbers=False)
