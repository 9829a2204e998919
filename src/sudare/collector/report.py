"""The public report of a local collection: the same page as that of a release, from the reports alone.

Everything in it is computed from reports that were randomised on their senders' devices, so it costs nothing more. It
is refused while there are fewer reports than the survey's minimum.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from pathlib import Path

import numpy as np

from sudare.collector.answers import Answers
from sudare.collector.survey import Survey
from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import InputError, OutputError
from sudare.language.catalogue import Words
from sudare.local import Estimate, Reports, estimate
from sudare.privacy import readable
from sudare.render.charts import Spec
from sudare.render.curves import bars
from sudare.render.drawing import View
from sudare.render.outlines import countries
from sudare.render.place_charts import TileLayout, TileMap, tile_maps
from sudare.render.reports import Cover, public_page
from sudare.render.sections import Chart, Facts, Map, Section, Table, Text
from sudare.render.sections import Tiles as BigNumbers

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
        dataset=survey.ledger.dataset if survey.ledger else survey.name,
        created=datetime.datetime.now(datetime.UTC),
        guarantee=survey.guarantee,
        files=((exported.name, "parquet", len(content)),),
    )
    sections = collection_sections(survey, estimate(reports, method=survey.method), words, digest)
    made = public_page(cover, sections, words)
    partial = page.with_name(f".{page.name}.partial-{os.getpid()}")
    try:
        with OutputError.from_system("the page cannot be written: {reason}", value=str(page)):
            partial.write_text(made, encoding="utf-8", newline="\n")
            partial.replace(page)
    finally:
        partial.unlink(missing_ok=True)
    return page


def collection_sections(survey: Survey, made: Estimate, words: Words, digest: str) -> list[Section]:
    """What was collected, the estimate as a map or as bars, how far to trust it, and the method.

    ``digest`` is the SHA-256 of the reports' file: a collection has no certificate that would say it.
    """
    labels = _labels(survey, words)
    level = words.percent(made.level)
    facts = Facts({words("collected.question"): _question(survey, words)})
    numbers = BigNumbers(
        (
            (words.number(made.reports), words("collected.reports")),
            (words.number(survey.answers.size), words("collected.answers")),
        )
    )
    chart, note = _picture(survey.answers, labels, made, words)
    largest = np.argsort(-made.counts, kind="stable")[:MOST_ROWS]
    shown = np.sort(largest) if len(largest) == len(labels) else largest
    rows = tuple(
        (labels[place], *(words.number(round(float(column[place]))) for column in (made.counts, made.low, made.high)))
        for place in shown.tolist()
    )
    part = len(rows) < len(labels)
    caption = (
        words("collected.caption_largest", shown=len(rows), all=len(labels)) if part else words("collected.caption")
    )
    table = Table(
        caption,
        (words("collected.answer"), words("collected.estimate"), words("collected.low"), words("collected.high")),
        rows,
    )
    usual = words("collected.usual", error=round(float(np.median(made.standard_error))))
    method = Facts(
        {
            words("collected.encoding"): survey.encoding.name,
            words("collected.bytes"): words.number(survey.encoding.report_bytes),
            words("collected.epsilon"): words("method.epsilon", amount=readable(survey.encoding.epsilon)),
            words("collected.estimation"): words(f"collected.method_{made.method}"),
        }
    )
    identity = Facts(
        {words("collected.survey"): survey.fingerprint, words("collected.reports_hash"): digest}, exact=True
    )
    return [
        Section(words("collected.collected"), (Text.of(words("collected.text")), facts, numbers)),
        Section(words("collected.estimate_title"), (Text.of(*note), chart)),
        Section(words("trust.title"), (Text.of(words("collected.trust", level=level), usual), table), chapter="trust"),
        Section(words("method.title"), (method, identity), chapter="method"),
    ]


def _picture(answers: Answers, labels: list[str], made: Estimate, words: Words) -> tuple[Chart | Map, list[str]]:
    """A map where answers are places, else bars of the largest; and what must be said of it."""
    if isinstance(answers.attribute, Mesh):
        domain = Domain(mesh=answers.attribute)
        index = domain.index(*answers.attribute.cell(np.arange(answers.size)))
        order = np.argsort(index)
        table = CountTable.released(domain, index[order], made.counts[order])
        view = View.of(domain, words)
        content = view.map({words("collected.people"): table}, outline=countries())
        return Map("estimate", content), [words("collected.map")]
    if answers.places is not None:
        rows, columns = (list(axis) for axis in zip(*answers.places, strict=True))
        top = max(float(made.counts.max()), 1.0)
        one = TileMap(words("collected.people"), made.counts, domain=(0.0, top))
        return Chart("estimate", {0: tile_maps(TileLayout(labels, rows, columns), [one], columns=1)}), [
            words("collected.map")
        ]
    places = np.arange(answers.size)
    note = [words("collected.bars", level=words.percent(made.level))]
    if answers.size > MOST_BARS:
        places = np.sort(np.argsort(-made.counts, kind="stable")[:MOST_BARS])
        note.append(words("collected.largest", shown=MOST_BARS, all=answers.size))
    drawn: Spec = bars(
        [labels[place] for place in places.tolist()],
        made.counts[places],
        made.low[places],
        made.high[places],
        label_title=words("collected.answer"),
        what=words("collected.people"),
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
