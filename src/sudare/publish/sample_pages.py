"""What the reports say of a k-anonymous sample; the names of measures in the language of the page, if it has them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sudare.anonymity import Anonymized, Measure
from sudare.anonymity.assessment import public_measures
from sudare.report import Facts, Section, Table, Text
from sudare.words import Words


def public_sections(summary: dict[str, Any], words: Words) -> list[Section]:
    """From the summary that the certificate states: of the published rows and the terms alone."""
    numbers = {
        words("sample.published_rows"): summary["records"],
        words("sample.classes"): summary["classes"],
        words("sample.smallest_class"): summary["smallest_class"] or 0,
        words("sample.loss_ncp"): summary["measures"]["ncp"],
    }
    facts = {name: words.number(value) for name, value in numbers.items()}
    if summary["levels"] is not None:
        levels = [f"{name} {level}" for name, level in summary["levels"].items()]
        facts[words("sample.levels")] = words.listing(levels)
    return [
        Section(words("sample.title"), (Facts(facts),)),
        Section(words("sample.risk"), (_table(public_measures(summary), words),), chapter="trust"),
    ]


def internal_sections(made: Anonymized, words: Words) -> list[Section]:
    """With the counts behind the classes: for the publisher."""
    epsilon = made.epsilon_evaluated
    written = "∞" if math.isinf(epsilon) else f"{epsilon:.4f}"
    evaluated = Text.of(
        words("sample.evaluated_text"),
        f"{words('sample.evaluated_epsilon')}: {written}",
    )
    title = words("sample.risk_internal")
    return [Section(title, (_table(made.assessment.table, words), evaluated), internal=True)]


def _table(measures: Iterable[Measure], words: Words) -> Table:
    header = tuple(words(f"sample.{name}") for name in ("measure", "value", "meaning"))
    rows = tuple(
        (words.label("sample", measure.name), words.number(measure.value), words.label("sample", measure.meaning))
        for measure in measures
    )
    return Table(words("sample.measures"), header, rows, numbers=False)
