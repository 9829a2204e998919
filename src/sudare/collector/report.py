"""The public report of a local collection: the same page as that of a release, from the reports alone.

Everything in it is computed from reports that were randomised on their senders' devices, so it costs nothing more. It
is refused while there are fewer reports than the survey's minimum.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from itertools import combinations
from pathlib import Path

import numpy as np

from sudare.collector.answers import Answers
from sudare.collector.survey import Survey, Texts
from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import InputError, OutputError
from sudare.language.catalogue import Words
from sudare.local import Estimate, Reports, Several, Tally, estimate, joint
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
        title=survey.texts(words.language).title,
        dataset=survey.ledger.dataset if survey.ledger else survey.name,
        created=datetime.datetime.now(datetime.UTC),
        guarantee=survey.guarantee,
        files=((exported.name, "parquet", len(content)),),
    )
    sections = collection_sections(survey, reports, words, digest)
    made = public_page(cover, sections, words)
    partial = page.with_name(f".{page.name}.partial-{os.getpid()}")
    try:
        with OutputError.from_system("the page cannot be written: {reason}", value=str(page)):
            partial.write_text(made, encoding="utf-8", newline="\n")
            partial.replace(page)
    finally:
        partial.unlink(missing_ok=True)
    return page


def collection_sections(survey: Survey, reports: Reports, words: Words, digest: str) -> list[Section]:
    """What was collected, the estimates as maps or as bars, how far to trust them, and the method.

    ``digest`` is the SHA-256 of the reports' file: a collection has no certificate that would say it.
    """
    texts = survey.texts(words.language)
    facts = Facts({words("collected.question"): texts.question})
    several = len(texts.asked) > 1
    count = sum(each.answers.size for each in survey.asked)
    numbers = BigNumbers(
        (
            (words.number(len(reports)), words("collected.reports")),
            (words.number(count), words("collected.answers")),
        )
    )
    drawn, tables, errors = list[Section](), list[Table](), list[float]()
    for each, (question, labels) in zip(survey.asked, texts.asked, strict=True):
        made = estimate(reports, method=survey.method, question=each.name or None)
        chart, note = _picture(each.answers, list(labels), made, words, f"estimate{len(drawn) or ''}")
        title = question if several else words("collected.estimate_title")
        drawn.append(Section(title, (Text.of(*note), chart)))
        tables.append(_table(list(labels), made, words, question if several else ""))
        errors.append(float(np.median(made.standard_error)))
    if several:
        drawn.append(Section(words("collected.joint"), _joint_tables(survey, texts, reports, words)))
    usual = words("collected.usual", error=round(max(errors)))
    encoding = survey.encoding.layout.parts[0] if isinstance(survey.encoding, Several) else survey.encoding
    method = Facts(
        {
            words("collected.encoding"): encoding.name,
            words("collected.bytes"): words.number(survey.encoding.report_bytes),
            words("collected.epsilon"): words("method.epsilon", amount=readable(survey.encoding.epsilon)),
            words("collected.estimation"): words(f"collected.method_{made.method}"),
        }
    )
    identity = Facts(
        {words("collected.survey"): survey.fingerprint, words("collected.reports_hash"): digest}, exact=True
    )
    trust = Text.of(words("collected.trust", level=words.percent(made.level)), usual)
    return [
        Section(words("collected.collected"), (Text.of(words("collected.text")), facts, numbers)),
        *drawn,
        Section(words("trust.title"), (trust, *tables), chapter="trust"),
        Section(words("method.title"), (method, identity), chapter="method"),
    ]


def _joint_tables(survey: Survey, texts: Texts, reports: Reports, words: Words) -> tuple[Text | Table, ...]:
    """People by the answers to each two questions, with intervals."""
    tables = []
    tally = Tally(reports.encoding).add(reports)
    for (one, (question, rows)), (other, (asked, columns)) in combinations(
        zip(survey.asked, texts.asked, strict=True), 2
    ):
        made = joint(tally, one.name, other.name)
        shown = np.stack([made.counts, made.low, made.high], axis=-1).round()
        cells = [
            tuple(words("collected.cell", count=count, low=low, high=high) for count, low, high in row)
            for row in shown.tolist()
        ]
        lines = tuple((label, *row) for label, row in zip(rows, cells, strict=True))
        tables.append(Table(f"{question} / {asked}", ("", *columns), lines))
    return (Text.of(words("collected.joint_note", level=words.percent(made.level))), *tables)


def _table(labels: list[str], made: Estimate, words: Words, question: str) -> Table:
    """The largest counts with their intervals, under the ``question`` where there are several."""
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
    caption = question or caption
    columns = (words("collected.answer"), words("collected.estimate"), words("collected.low"), words("collected.high"))
    return Table(caption, columns, rows)


def _picture(
    answers: Answers, labels: list[str], made: Estimate, words: Words, name: str
) -> tuple[Chart | Map, list[str]]:
    """A map where answers are places, else bars of the largest; and what must be said of it."""
    if isinstance(answers.attribute, Mesh):
        domain = Domain(mesh=answers.attribute)
        index = domain.index(*answers.attribute.cell(np.arange(answers.size)))
        order = np.argsort(index)
        table = CountTable.released(domain, index[order], made.counts[order])
        view = View.of(domain, words)
        content = view.map({words("collected.people"): table}, outline=countries())
        return Map(name, content), [words("collected.map")]
    if answers.places is not None:
        rows, columns = (list(axis) for axis in zip(*answers.places, strict=True))
        top = max(float(made.counts.max()), 1.0)
        one = TileMap(words("collected.people"), made.counts, domain=(0.0, top))
        return Chart(name, {0: tile_maps(TileLayout(labels, rows, columns), [one], columns=1)}), [
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
    return Chart(name, {0: drawn}), note
