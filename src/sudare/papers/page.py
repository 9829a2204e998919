"""A paper's experiment as a page that holds everything it shows: its numbers beside ours, and the figures."""

from __future__ import annotations

import base64
from pathlib import Path

from sudare.errors import OutputError
from sudare.language.catalogue import LANGUAGES, Words
from sudare.language.messages import lines
from sudare.papers.catalogue import BY_KEY, Paper
from sudare.papers.doors import doors_of, header
from sudare.papers.reproduction import Reproduction, file_name
from sudare.render.sections import Facts, Lead, Section, Table, Text, lay_out


def write_pages(folder: Path, made: Reproduction) -> tuple[Path, ...]:
    """The page in every language, beside the files of the experiment, whose pictures it embeds."""
    written = []
    for language in LANGUAGES:
        path = folder / file_name("page", "html", language)
        with OutputError.from_system("a page cannot be written: {reason}", value=str(path)):
            path.write_text(page(BY_KEY[made.key], made, Words(language)), encoding="utf-8", newline="\n")
        written.append(path)
    return tuple(written)


def page(paper: Paper, made: Reproduction, words: Words) -> str:
    """The page as HTML."""
    facts = {
        words("paper.column.near"): paper.text("near", words),
        words("paper.column.function"): paper.function.replace("`", ""),
        words("paper.column.recipe"): paper.recipe.replace("`", ""),
        words("paper.column.command"): f"sudare reproduce {paper.key}",
        **lines(made.facts, words),
    }
    said = Section(_upper(words("paper.column.says")), (Lead(paper.text("says", words)), Facts(facts)))
    sections = [said, Section(_upper(words("paper.found")), (Text.of(paper.text("found", words)),))]
    for sheet in made.sheets:
        title = sheet.title(paper.key, words)
        sections.append(Section(title, (Table(title, sheet.text_header(words), tuple(sheet.text_rows(words))),)))
    doors = tuple(door.row(words) for door in doors_of(paper))
    title = words("paper.doors")
    sections.append(Section(title, (Table(title, header(words), doors, numbers=False),)))
    pictures = [
        (words.label("paper_figure", f"{paper.key}.{name}"), base64.b64encode(path.read_bytes()).decode())
        for name, language, path in made.drawn
        if language == words.language
    ]
    origin = f"{paper.text('authors', words)}{paper.dated}"
    return lay_out("paper.html", sections, words, title=paper.text("title", words), origin=origin, pictures=pictures)


def _upper(text: str) -> str:
    """With a capital letter first, as a heading begins."""
    return text[:1].upper() + text[1:]
