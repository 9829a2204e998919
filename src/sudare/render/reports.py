"""The two reports as pages: a public one for everybody, an internal one for the publisher.

The public report goes out beside a release; it is made from the release and its certificate alone. The internal report
shows true values beside released ones and the state of the ledger, and is never written into a release's folder.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sudare.errors import ParameterError
from sudare.language.catalogue import ENGLISH, Words
from sudare.language.writing import file_size
from sudare.privacy import Balance, Entry, Guarantee
from sudare.privacy.notebook import balance_facts, entry_time, entry_words
from sudare.render.promise import guarantee_sections
from sudare.render.sections import Facts, Section, Table, Text, lay_out


def internal_page(
    sections: Sequence[Section],
    words: Words = ENGLISH,
    *,
    title: str,
    facts: Mapping[str, str] | None = None,
) -> str:
    """A self-contained HTML page under a banner and a watermark, on paper too.

    ``facts`` are shown as they are (data, method, epsilon, ...).
    """
    time = words.moment(datetime.datetime.now(datetime.UTC))
    return lay_out("internal.html", sections, words, title=title, facts=dict(facts or {}), time=time)


def ledger_section(balance: Balance, entries: Sequence[Entry], words: Words) -> Section:
    """Cap, spending, what is left, and the rows of one data set."""
    rows = tuple((entry_time(entry, words), *entry_words(entry, words)) for entry in entries)
    header = (words("ledger.time"), words("ledger.entry"), words("ledger.amount"))
    parts = (Facts(balance_facts(balance, words)), Table(words("ledger.rows_caption"), header, rows, numbers=False))
    return Section(words("ledger.title"), parts, internal=True)


@dataclass(frozen=True)
class Cover:
    """What stands at the head and at the foot of a report.

    ``files`` are name, format and bytes of each. ``proof`` are facts to be copied letter by letter, such as hashes; a
    collection that has no certificate has none.
    """

    title: str
    dataset: str
    created: datetime.datetime
    guarantee: Guarantee
    files: tuple[tuple[str, str, int], ...] = ()
    proof: dict[str, str] = field(default_factory=dict)
    explored: bool = False
    """Whether `sudare explore` has more to offer than this page."""

    @classmethod
    def of_certificate(cls, certificate: dict[str, Any], content: bytes, words: Words) -> Cover:
        """From a certificate and the ``content`` of its file, whose SHA-256 the report names."""
        before = (certificate.get("series") or {}).get("predecessor")
        return cls(
            title=certificate["title"] or certificate["dataset"],
            dataset=certificate["dataset"],
            created=datetime.datetime.fromisoformat(certificate["created"]),
            guarantee=Guarantee.from_json(certificate["guarantee"]),
            files=tuple((name, facts["format"], facts["bytes"]) for name, facts in certificate["files"].items()),
            proof={
                words("check.command"): "sudare verify release.json --publisher KEY",
                words("check.hash"): hashlib.sha256(content).hexdigest(),
                words("check.release"): certificate["release_id"],
                words("check.publisher"): certificate["publisher"],
                words("check.ledger"): certificate["ledger_head"],
                words("check.recipe"): certificate["recipe_sha256"],
                **({words("check.before"): before["sha256"]} if before else {}),
                words("check.software"): f"Sudare {certificate['sudare']}",
            },
            explored=certificate.get("kind", "table") == "table",
        )


def public_page(cover: Cover, sections: Sequence[Section], words: Words) -> str:
    """A self-contained HTML page: it loads nothing, fits a phone, and prints.

    ``sections`` are those of the kind; what every release has in common (guarantee, files, proof) is added. A section
    that shows true values is refused.
    """
    if any(section.internal for section in sections):
        raise ParameterError("a section with true values has no place in a public report")
    chapters = {
        chapter: [one for one in sections if one.chapter == chapter] for chapter in ("released", "trust", "method")
    }
    whole = [
        *chapters["released"],
        *_files(cover, words),
        *guarantee_sections(cover.guarantee, words),
        *chapters["trust"],
        *chapters["method"],
        *_proof(cover, words),
    ]
    return lay_out("public.html", whole, words, cover=cover)


def _files(cover: Cover, words: Words) -> list[Section]:
    if not cover.files:
        return []
    header = (words("files.name"), words("files.format"), words("files.size"))
    rows = tuple((name, words.label("format", kind), file_size(size)) for name, kind, size in cover.files)
    links = tuple(name for name, _, _ in cover.files)
    table = Table(words("files.caption"), header, rows, numbers=False, links=links)
    return [Section(words("files.title"), (table, Text.of(words("files.explore") if cover.explored else "")))]


def _proof(cover: Cover, words: Words) -> list[Section]:
    if not cover.proof:
        return []
    return [Section(words("check.title"), (Text.of(words("check.text")), Facts(cover.proof, exact=True)))]
