"""The internal report: true beside released, for the publisher alone. Nothing of it ever enters a release."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from sudare.report.layout import lay_out
from sudare.report.parts import Section
from sudare.words import ENGLISH, Words


def internal_page(
    sections: Sequence[Section],
    words: Words = ENGLISH,
    *,
    title: str,
    facts: Mapping[str, str] | None = None,
    created: datetime.datetime | None = None,
) -> str:
    """A self-contained HTML page under a banner and a watermark, on paper too.

    ``facts`` are shown as they are (data, method, epsilon, ...).
    """
    time = words.moment(created or datetime.datetime.now(datetime.UTC))
    return lay_out("internal.html", sections, words, title=title, facts=dict(facts or {}), time=time)
