"""The public report of a local collection: the same page as that of a release, from the reports alone.

Everything in it is computed from reports that were randomised on their senders' devices, so it costs nothing more. It
is refused while there are fewer reports than the survey's minimum.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from sudare.collector.answers import Answers
from sudare.collector.survey import Survey
from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import InputError, OutputError, system_reason
from sudare.language.catalogue import Words
from sudare.local import Estimate, Reports, estimate
from sudare.privacy import readable
from sudare.render.charts import Spec
from sudare.render.curves import bars
from sudare.render.drawing import View
from sudare.render.place_charts import TileLayout, TileMap, tile_maps
from sudare.render.reports import Cover, public_page
from sudare.render.sections import Chart, Facts, Section, Table, Text
from sudare.render.sections import Tiles as BigNumbers
from sudare.tables.pages import MAP_LAYOUTS

MOST_BARS, MOST_ROWS = 60, 300


def write_report(survey: Survey, reports: Reports, exported: Path, page: Path, words: Words) -> Path:
    """Write the public page of the ``reports`` that were exported into a file; whole, or not at all."""
    if len(reports) < max(survey.minimum, 1):
        raise InputError(
            "there are too few reports for a public page",
            allowed="from {minimum:,} reports on",
            minimum=max(survey.minimum, 1),
        )
    content = exported.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    cover = Cover(
        title=_title(survey, words),
        dataset=survey.books.dataset if survey.books else survey.name,
        created=datetime.datetime.now(datetime.UTC),
        guarantee=survey.guarantee,
        files=((exported.name, "parquet", len(content)),),
    )
    sections = collection_sections(survey, estimate(reports, method=survey.method), words, digest)
    made = public_page(cover, sections, words)
    partial = page.with_name(f".{page.name}.partial-{os.getpid()}")
    try:
        partial.write_text(made, encoding="utf-8", newline="\n")
        partial.replace(page)
    except OSError as problem:
        raise OutputError(
            "the page cannot be written: {reason}", value=str(page), reason=system_reason(problem)
        ) from None
    finally:
        partial.unlink(missing_ok=True)
    return page


def collection_sections(survey: Survey, made: Estimate, words: Words, digest: str) -> list[Section]:
    """What was collected, the estimate as a map or as bars, how far to trust it, and the method.

    ``digest`` is the SHA-256 of the reports' file: a collection has no certificate that would say it.
    """
    text = _texts(words.language)
    labels = _labels(survey, words)
    level = words.percent(made.level)
    facts = Facts({text("question"): _question(survey, words)})
    numbers = BigNumbers(
        ((words.number(made.reports), text("reports")), (words.number(survey.answers.size), text("answers")))
    )
    chart, note = _picture(survey.answers, labels, made, words)
    largest = np.argsort(-made.counts, kind="stable")[:MOST_ROWS]
    shown = np.sort(largest) if len(largest) == len(labels) else largest
    rows = tuple(
        (labels[place], *(words.number(round(float(column[place]))) for column in (made.counts, made.low, made.high)))
        for place in shown.tolist()
    )
    part = len(rows) < len(labels)
    caption = text("caption_largest", shown=len(rows), all=len(labels)) if part else text("caption")
    table = Table(caption, (text("answer"), text("estimate"), text("low"), text("high")), rows)
    usual = text("usual", error=round(float(np.median(made.standard_error))))
    method = Facts(
        {
            text("encoding"): survey.encoding.name,
            text("bytes"): words.number(survey.encoding.report_bytes),
            text("epsilon"): words("method.epsilon", amount=readable(survey.encoding.epsilon)),
            text("estimation"): text(f"method.{made.method}"),
        }
    )
    identity = Facts({text("survey"): survey.fingerprint, text("reports_hash"): digest}, exact=True)
    return [
        Section(text("collected"), (Text.of(text("text")), facts, numbers)),
        Section(text("estimate_title"), (Text.of(*note), chart)),
        Section(words("trust.title"), (Text.of(text("trust", level=level), usual), table), chapter="trust"),
        Section(words("method.title"), (method, identity), chapter="method"),
    ]


def _picture(answers: Answers, labels: list[str], made: Estimate, words: Words) -> tuple[Chart, list[str]]:
    """A map where answers are places, else bars of the largest; and what must be said of it."""
    text = _texts(words.language)
    if isinstance(answers.attribute, Mesh):
        domain = Domain(mesh=answers.attribute)
        index = domain.index(*answers.attribute.cell(np.arange(answers.size)))
        order = np.argsort(index)
        table = CountTable.released(domain, index[order], made.counts[order])
        view = View.of(domain, words)
        layouts = {needed: view.released(table, width, narrow) for needed, width, narrow in MAP_LAYOUTS}
        return Chart("estimate", layouts), [text("map")]
    if answers.places is not None:
        rows, columns = (list(axis) for axis in zip(*answers.places, strict=True))
        top = max(float(made.counts.max()), 1.0)
        one = TileMap(text("people"), made.counts, domain=(0.0, top))
        return Chart("estimate", {0: tile_maps(TileLayout(labels, rows, columns), [one], columns=1)}), [text("map")]
    places = np.arange(answers.size)
    note = [text("bars", level=words.percent(made.level))]
    if answers.size > MOST_BARS:
        places = np.sort(np.argsort(-made.counts, kind="stable")[:MOST_BARS])
        note.append(text("largest", shown=MOST_BARS, all=answers.size))
    drawn: Spec = bars(
        [labels[place] for place in places.tolist()],
        made.counts[places],
        made.low[places],
        made.high[places],
        label_title=text("answer"),
        what=text("people"),
        words=words,
    )
    return Chart("estimate", {0: drawn}), note


def _title(survey: Survey, words: Words) -> str:
    translation = survey.translations.get(words.language)
    return (translation and translation.title) or survey.title or survey.name


def _question(survey: Survey, words: Words) -> str:
    translation = survey.translations.get(words.language)
    return (translation and translation.question) or survey.question


def _labels(survey: Survey, words: Words) -> list[str]:
    translation = survey.translations.get(words.language)
    return list((translation and translation.labels) or survey.answers.labels)


def _texts(language: str) -> Callable[..., str]:
    """The messages of the page: ``text(key, gap=value)``, whole numbers grouped."""
    messages = report_messages(language)

    def text(key: str, **gaps: str | int) -> str:
        written = {name: value if isinstance(value, str) else f"{value:,}" for name, value in gaps.items()}
        return messages[key].format(**written)

    return text


@cache
def report_messages(language: str) -> dict[str, str]:
    """The catalogue of the page in one language."""
    path = files("sudare.collector") / "messages" / f"report.{language}.json"
    messages: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return messages
