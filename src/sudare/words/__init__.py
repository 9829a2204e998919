"""What pages, charts and notebooks say, in English and in Japanese.

One catalogue per language lies in ``messages``; `Words` looks messages up and writes numbers, shares and dates as the
language does. `text` says an error or a message. `card` and its parts are the small boxes that notebooks show.
"""

from sudare.words.card import bar, card, facts, picture, table
from sudare.words.catalogue import ENGLISH, LANGUAGES, Words, spoken_here
from sudare.words.dates import date, moment
from sudare.words.numbers import chance, file_size, number, percent
from sudare.words.sentences import phrase
from sudare.words.translation import text

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "Words",
    "bar",
    "card",
    "chance",
    "date",
    "facts",
    "file_size",
    "moment",
    "number",
    "percent",
    "phrase",
    "picture",
    "spoken_here",
    "table",
    "text",
]
