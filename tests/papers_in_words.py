"""What a reader of Japanese would find in English on a paper's page."""

import re

from sudare.language.catalogue import Words
from sudare.language.messages import lines
from sudare.papers.catalogue import BY_KEY
from sudare.papers.page import page
from sudare.papers.sheet import in_words

JAPANESE = Words("ja")


def untranslated(made):
    """Names of columns and rows that hold an English word (five letters or more) and have no translation; titles and
    captions that are the names of files; and facts without a letter of Japanese."""
    names = {str(each) for sheet in made.sheets for row in (sheet.header, *sheet.rows) for each in row}
    left = {name for name in names if re.search(r"[a-z]{5}", name) and in_words(name, JAPANESE) == name}
    left |= {one.name for one in made.sheets if one.title(made.key, JAPANESE).endswith(one.name)}
    drawn = [f"{made.key}.{name}" for name in made.figures]
    left |= {name for name in drawn if JAPANESE.label("paper_figure", name) == name}
    left |= {text for text in lines(made.facts, JAPANESE).values() if not re.search("[\u3040-\u9fff]", text)}
    assert page(BY_KEY[made.key], made, JAPANESE).startswith("<!DOCTYPE html>")
    return left
