"""A guarantee in plain words: what it promises, the odds behind its numbers, what stays possible, what it rests on."""

from __future__ import annotations

import math
from fractions import Fraction

from sudare.privacy import Adjacency, Guarantee, epsilon_for, readable
from sudare.privacy.shown import DIFFERENTIAL, NAMES, fact_text, headline, unit_words
from sudare.report.odds import factor, right_guesses, suspicion
from sudare.report.parts import Facts, Lead, Part, Points, Section, Table, Text
from sudare.words import Words

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
"""Suspicions before, shown in the table of odds."""
READ_AT = Fraction(1, 10**6)
"""The delta at which rho is read as an epsilon."""
FAMILY = 4


def guarantee_sections(guarantee: Guarantee, words: Words) -> tuple[Section, Section]:
    """The promise and what it rests on: the same for every kind, from the guarantee alone."""
    return promise_section(guarantee, words), basis_section(guarantee, words)


def promise_section(guarantee: Guarantee, words: Words) -> Section:
    """What is promised, in words, odds and terms."""
    name, unit = NAMES[guarantee.notion], unit_words(guarantee.unit, words)
    paragraphs = [_meaning(guarantee, words)]
    if guarantee.holds and guarantee.unit.max_rows > 1:
        paragraphs.append(words("guarantee.rows", unit=unit, rows=guarantee.unit.max_rows))
    if name in ("pk", "k") and guarantee.epsilon is not None:
        paragraphs.append(words(f"guarantee.{name}.epsilon", epsilon=readable(guarantee.epsilon)))
    parts: list[Part] = [Lead(headline(guarantee, words)), Text.of(*paragraphs)]
    if name in DIFFERENTIAL:
        parts.append(odds_table(guarantee, words))
    if prevented := _prevented(name, guarantee, words):
        parts.append(Points(words("prevented.title"), prevented, "prevented"))
    if possible := _possible(name, guarantee, words):
        parts.append(Points(words("possible.title"), possible, "possible"))
    if guarantee.holds:
        replaced = guarantee.adjacency == Adjacency.REPLACED
        terms = {
            words("guarantee.notion"): words(f"notion.{name}"),
            words("guarantee.unit"): str(guarantee.unit) if words.language == "en" else unit,
            words("guarantee.neighbours"): words("guarantee.replace" if replaced else "guarantee.add_remove"),
        }
        parts.append(Facts(terms))
    return Section(words("guarantee.title"), tuple(parts))


def basis_section(guarantee: Guarantee, words: Words) -> Section:
    """What is taken as public, and what is assumed."""
    public = tuple(fact_text(fact, words) for fact in guarantee.public) or (words("basis.nothing_public"),)
    assumed = tuple(fact_text(fact, words) for fact in guarantee.assumptions)
    if NAMES[guarantee.notion] in (*DIFFERENTIAL, "pk"):
        assumed += (words("basis.noise"), words("basis.machine"))
        assumed += (words("guarantee.in_no_ledger" if guarantee.in_no_ledger else "basis.ledger"),)
    parts = [Points(words("basis.public"), public)]
    if assumed:
        parts.append(Points(words("basis.assumed"), assumed))
    return Section(words("basis.title"), tuple(parts))


def odds_table(guarantee: Guarantee, words: Words) -> Table:
    """What a suspicion can become; where single outcomes may say more (delta, rho), how often a guess is right."""
    unit = unit_words(guarantee.unit, words)
    questions = _questions(guarantee)
    if guarantee.epsilon is not None and guarantee.delta is None:
        rows = []
        for prior in PRIORS:
            row = [words.percent(float(prior))]
            for steps in questions.values():
                low, high = suspicion(prior, steps * guarantee.epsilon)
                low_text, high_text = words.chance(low, up=False), words.chance(high, up=True)
                row.append(words("odds.range", low=low_text, high=high_text))
            rows.append(tuple(row))
        header = (words("odds.before"), *(words(f"odds.{question}", unit=unit) for question in questions))
        return Table(words("odds.caption"), header, tuple(rows))
    return Table(
        words("odds.guess_caption"),
        (words("odds.guess"), words("odds.guess_before"), words("odds.guess_after")),
        tuple(
            (
                words(f"odds.guess_{question}", unit=unit),
                words.percent(0.5),
                words.chance(right_guesses(guarantee, steps), up=True),
            )
            for question, steps in questions.items()
        ),
    )


def _questions(guarantee: Guarantee) -> dict[str, int]:
    """What an attacker may ask, and how many neighbours lie between the two answers.

    Exchanging a unit for another is a removal and an addition. Where neighbours are replaced records, presence is
    not protected, and a value is one step away.
    """
    return {"value": 1} if guarantee.adjacency == Adjacency.REPLACED else {"presence": 1, "value": 2}


def _meaning(guarantee: Guarantee, words: Words) -> str:
    name = NAMES[guarantee.notion]
    if not guarantee.holds or name == "k":
        return words(f"guarantee.{name}.value")
    unit = unit_words(guarantee.unit, words)
    if name == "pk":
        return words("guarantee.pk.value", unit=unit)
    question = "value" if name == "local" or guarantee.adjacency == Adjacency.REPLACED else "presence"
    gaps: dict[str, str] = {"unit": unit}
    if guarantee.rho is not None and guarantee.epsilon is None:
        gaps |= {"delta": readable(READ_AT), "epsilon": _three_digits_up(epsilon_for(guarantee.rho, READ_AT), words)}
    elif guarantee.epsilon is not None:
        gaps["factor"] = words.number(_up(float(factor(guarantee.epsilon))))
    if guarantee.delta is not None:
        one_in = words("guarantee.one_in", number=int(1 / guarantee.delta))
        gaps |= {"delta": readable(guarantee.delta), "one_in": one_in}
    return words(f"guarantee.{name}.{question}", **gaps)


def _prevented(name: str, guarantee: Guarantee, words: Words) -> tuple[str, ...]:
    unit = unit_words(guarantee.unit, words)
    if name in DIFFERENTIAL:
        question = "presence" if "presence" in _questions(guarantee) else "value"
        return words(f"prevented.{question}", unit=unit), words("prevented.later")
    if name == "pk":
        return words("prevented.link", unit=unit), words("prevented.later")
    return (words("prevented.alone", unit=unit),) if name == "k" else ()


def _possible(name: str, guarantee: Guarantee, words: Words) -> tuple[str, ...]:
    if not guarantee.holds:
        return ()
    if name == "k":
        return words("possible.known"), words("possible.same"), words("possible.combine")
    points = [words("possible.groups")]
    if guarantee.adjacency == Adjacency.REPLACED or name in ("local", "pk"):
        points.append(words("possible.presence"))
    if name in ("pure", "local") and guarantee.epsilon is not None and guarantee.unit.name != "row":
        _, high = suspicion(Fraction(1, 2), FAMILY * guarantee.epsilon)
        points.append(words("possible.together", number=FAMILY, high=words.chance(high, up=True)))
    if guarantee.unit.period:
        points.append(words("possible.periods", unit=unit_words(guarantee.unit, words)))
    if guarantee.unit.name == "row":
        points.append(words("possible.rows"))
    return (*points, words("possible.releases"))


def _up(value: float) -> float:
    """Three digits, rounded up: a promise may not sound stronger than it is."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / step) * step


def _three_digits_up(value: Fraction, words: Words) -> str:
    return words.number(_up(float(value))) if value else "0"
