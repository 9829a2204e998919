"""A guarantee in plain words: what it promises, the odds behind its numbers, what stays possible, what it rests on.

The odds are upper bounds for somebody who guesses. Between two possibilities whose outcomes the guarantee calls close,
Bayes' rule multiplies the odds of one against the other by at most e**epsilon; that is exact for pure differential
privacy. With a delta, or in rho, single outcomes may reveal more, and the bound is on how often a guess between two
equally likely possibilities is right.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.privacy import Adjacency, Guarantee, epsilon_for, readable
from sudare.privacy.notebook import DIFFERENTIAL, NAMES, fact_text, headline, unit_words
from sudare.render.sections import Facts, Lead, Odds, Part, Points, Section, Table, Text

_EXACT = Context(prec=60)
_LARGEST = Fraction(300)  # beyond, e**epsilon means nothing to anybody, and 60 digits do not hold it


def factor(epsilon: Fraction) -> Decimal:
    """e**epsilon, to sixty digits.

    >>> round(factor(Fraction(1, 2)), 4)
    Decimal('1.6487')
    """
    return _EXACT.exp(_decimal(min(epsilon, _LARGEST)))


def suspicion(prior: Fraction, epsilon: Fraction) -> tuple[Decimal, Decimal]:
    """Between what a suspicion of probability ``prior`` can become by a release that is ``epsilon`` close.

    >>> low, high = suspicion(Fraction(1, 2), Fraction(1, 2))
    >>> round(low, 4), round(high, 4)
    (Decimal('0.3775'), Decimal('0.6225'))
    """
    if not 0 < prior < 1:
        raise ParameterError("a suspicion is not between 0 and 1", value=prior, allowed="0 < prior < 1")
    odds, times = _decimal(prior / (1 - prior)), factor(epsilon)
    low, high = (_EXACT.divide(one, 1 + one) for one in (_EXACT.divide(odds, times), _EXACT.multiply(odds, times)))
    return low, high


def right_guesses(guarantee: Guarantee, steps: int = 1) -> Decimal:
    """How often, at most, a guess between two equally likely possibilities is right once the release is seen.

    ``steps`` is how many neighbours lie between the two: 1 for the neighbours of the guarantee, 2 to exchange a unit
    under adding and removing. Pure and approximate: (e**eps + delta)/(1 + e**eps), with steps * eps, and delta times
    1 + e**eps + ... . In rho: half of 1 + TV, TV at most sqrt(steps**2 rho / 2) (Pinsker) and at most
    sqrt(1 - e**(-steps**2 rho)) (Bretagnolle and Huber), since rho-zCDP bounds the divergence of order 1 by rho.

    >>> round(right_guesses(Guarantee("epsilon-DP", epsilon=Fraction(1, 2))), 4)
    Decimal('0.6225')
    >>> round(right_guesses(Guarantee("rho-zCDP", rho=Fraction(1, 50))), 4)
    Decimal('0.5500')
    """
    if guarantee.rho is not None and guarantee.epsilon is None:
        divergence = _decimal(min(steps**2 * guarantee.rho, _LARGEST))
        pinsker = _EXACT.sqrt(divergence / 2)
        huber = _EXACT.sqrt(1 - _EXACT.exp(-divergence))
        return (1 + min(pinsker, huber, Decimal(1))) / 2
    if guarantee.epsilon is None:
        return Decimal(1)
    one = factor(guarantee.epsilon)
    times = factor(steps * guarantee.epsilon)
    delta = _decimal(guarantee.delta or Fraction(0)) * sum((one**step for step in range(steps)), Decimal(0))
    return min(Decimal(1), _EXACT.divide(times + delta, 1 + times))


def _decimal(number: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))


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
        if guarantee.epsilon is not None and guarantee.delta is None:
            question = next(iter(_questions(guarantee)))
            parts.append(
                Odds(float(guarantee.epsilon), words(f"odds.{question}", unit=unit_words(guarantee.unit, words)))
            )
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
