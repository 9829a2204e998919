"""What the reports say of weights: how many rows they are worth, and means with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.language.catalogue import Words
from sudare.language.messages import Lines, PageMessage, lines
from sudare.privacy import Fact
from sudare.privacy.notebook import fact_message
from sudare.render.sections import Facts, Section, Table, Text
from sudare.reweight import Answers, Weighting
from sudare.reweight.answers import FLAGS
from sudare.reweight.rows import Rows
from sudare.reweight.space import Codes, Numeric


def headline(summary: dict[str, Any]) -> Lines:
    """Rows, how many they are worth, and warnings."""
    return {
        "weighted_rows": summary["public_rows"],
        "effective_rows": f"{summary['effective_sample_size']:,.1f}",
        "largest_weight": f"{summary['largest_weight']:,.4g}",
        **{
            PageMessage("line.warning", number=place): fact_message(Fact.from_text(warning))
            for place, warning in enumerate(summary["warnings"], 1)
        },
    }


def public_sections(made: Weighting, summary: dict[str, Any], words: Words) -> list[Section]:
    """From the weighted public rows and the summary that the certificate states."""
    facts = lines(headline(summary), words)
    return [
        Section(words("weights.title"), (Facts(facts),)),
        Section(words("weights.answers"), _answers(made, None, words), chapter="trust"),
    ]


def internal_sections(data: list[Rows], made: Weighting, words: Words) -> list[Section]:
    """The same answers beside those of the private rows: for the publisher."""
    (rows,) = data
    title = words("weights.answers_internal")
    return [Section(title, _answers(made, rows.shares @ functions(made, rows.codes), words), internal=True)]


def functions(made: Weighting, codes: Codes) -> NDArray[np.float64]:
    """The numbers, and the 0/1 columns of the categories, of codes (rows, attributes)."""
    columns = []
    for place, attribute in enumerate(made.model.space.attributes):
        if isinstance(attribute, Numeric):
            columns.append(attribute.decode(codes[:, place])[:, None])
        else:
            columns.append((codes[:, place, None] == np.arange(attribute.size)).astype(np.float64))
    return np.concatenate(columns, axis=1)


def labels(made: Weighting, words: Words) -> list[str]:
    """What each of the functions is."""
    names = []
    for attribute in made.model.space.attributes:
        if isinstance(attribute, Numeric):
            names.append(words("weights.mean_of", column=attribute.name))
        else:
            shares = [f"{attribute.name} {value}" for value in attribute.values.values]
            names += [words("weights.share_of", column=share) for share in shares]
    return names


def _answers(made: Weighting, true: NDArray[np.float64] | None, words: Words) -> tuple[Table | Text, ...]:
    """A table, and what is to be known of the intervals that the public rows support badly."""
    public, names = functions(made, made.features.codes), labels(made, words)
    answers: Answers = made.mean(public)
    plain = public.mean(axis=0)
    header = ["query", "weighted", "low", "high", "unweighted", *(["private"] if true is not None else [])]
    rows = []
    for place, label in enumerate(names):
        numbers = [answers.value[place], answers.low[place], answers.high[place], plain[place]]
        numbers += [] if true is None else [true[place]]
        rows.append((label, *(f"{number:,.4g}" for number in numbers)))
    shown = tuple(words(f"weights.{name}") for name in header)
    notes = []
    for flag in FLAGS:
        if flagged := [label for label, own in zip(names, answers.flags, strict=True) if own == flag]:
            notes.append(Text.of(f"{words.listing(flagged)}: {words(f'weights.flag_{flag}')}"))
    return (Table(words("weights.answers_caption"), shown, tuple(rows)), *notes)
