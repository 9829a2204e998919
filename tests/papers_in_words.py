"""What a reader of Japanese would find in English on a paper's page."""

import re

from sudare.language.catalogue import Words
from sudare.language.messages import lines
from sudare.papers.sheet import NOT_TEXT, Phrase, in_words

JAPANESE = Words("ja")


def untranslated(made):
    """Names of columns and rows that hold an English word (five letters or more) and have no translation; texts of
    figures with as long an English word; titles and captions that are the names of files; and facts without a letter of
    Japanese."""
    entries = [each for sheet in made.sheets for row in (sheet.header, *sheet.rows) for each in row]
    names = {each if isinstance(each, str) else str(each) for each in entries}
    left = {name for name in names if re.search(r"[a-z]{5}", name) and in_words(name, JAPANESE) == name}
    left |= {one.name for one in made.sheets if one.title(made.key, JAPANESE).endswith(one.name)}
    drawn = [f"{made.key}.{name}" for name in made.figures]
    left |= {name for name in drawn if JAPANESE.label("paper_figure", name) == name}
    left |= {text for spec in made.figures.values() for text in english_in(spec)}
    left |= {text for text in lines(made.facts, JAPANESE).values() if not re.search("[\u3040-\u9fff]", text)}
    assert made.page(JAPANESE).startswith("<!DOCTYPE html>")
    return left


def english_in(spec):
    """The texts of a figure that have an English word and no translation; of those with gaps the template."""
    if isinstance(spec, dict):
        return {text for key, part in spec.items() if key not in NOT_TEXT for text in english_in(part)}
    if isinstance(spec, list):
        return {text for part in spec for text in english_in(part)}
    if not isinstance(spec, str):
        return set()
    template = spec.template if isinstance(spec, Phrase) else spec
    said = re.search(r"(?<!#)\b[A-Za-z]?[a-z]{4}", re.sub("{.*?}", "", template))
    return {template} if said and in_words(spec, JAPANESE) == spec else set()
