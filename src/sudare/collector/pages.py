"""The two web pages, for people who answer and for people who look, in English and Japanese.

All texts come from the catalogue (``collect.``), and scripts find theirs in the page: it loads nothing from elsewhere.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from typing import Any

from babel import Locale
from jinja2 import Environment, PackageLoader, StrictUndefined

from sudare.collector.survey import Survey
from sudare.language.catalogue import LANGUAGES, Words
from sudare.privacy import readable

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "permissions-policy": "geolocation=(self)",
}


def language_of(asked: str | None, accepted: str) -> str:
    """The language of a page: the one asked for, else the first of the browser's that there is, else English.

    >>> language_of(None, "fr;q=0.9, ja-JP;q=0.8, en;q=0.5"), language_of("en", "ja"), language_of("xx", "")
    ('ja', 'en', 'en')
    """
    if asked in LANGUAGES:
        return str(asked)
    wishes = []
    for place, part in enumerate(accepted.split(",")[:20]):
        tag, _, quality = part.strip().partition(";q=")
        try:
            weight = float(quality or 1)
        except ValueError:
            continue
        wishes.append((-weight, place, tag.partition("-")[0].lower()))
    return next((tag for _, _, tag in sorted(wishes) if tag in LANGUAGES), LANGUAGES[0])


@cache
def messages(language: str) -> dict[str, Any]:
    """What both pages and their scripts say in one language, by the rest of the key."""
    return {key.removeprefix("collect."): text for key, text in Words(language).messages("collect.").items()}


def page(name: str, survey: Survey, language: str) -> str:
    """The page ``device`` or ``estimate``; ``no_device`` says why there is no page to answer on."""
    shown = survey.texts(language)
    asked = [{"question": question, "labels": labels} for question, labels in shown.asked]
    cost = (survey.cost.epsilon or Fraction(0)) if name == "device" else survey.encoding.epsilon
    data = {"survey": survey.to_json(), "asked": asked, "messages": messages(language), "language": language}
    return (
        _environment()
        .get_template(f"{name}.html")
        .render(
            title=shown.title,
            question=shown.question,
            text=messages(language),
            language=language,
            languages={each: Locale.parse(each).get_language_name() for each in LANGUAGES},
            survey=survey,
            epsilon=readable(cost).lstrip("~"),
            times=few_digits(math.exp(cost)),
            # "<" never appears as itself, so no text of the survey can end the script.
            data=json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        )
    )


def few_digits(number: float) -> str:
    """A number as one reads it aloud, rounded up: a promise may not sound stronger than it is.

    >>> few_digits(math.exp(0.5)), few_digits(math.exp(4)), few_digits(math.exp(64))
    ('1.65', '54.6', '6.24e+27')
    """
    if number >= 1e6:
        return f"{number:.2e}"
    places = 2 if number < 10 else 1
    return f"{math.ceil(number * 10**places) / 10**places:,}"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("sudare.collector"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
