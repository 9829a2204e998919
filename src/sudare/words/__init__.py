"""What pages, charts and notebooks say, in English and in Japanese.

One catalogue per language lies in ``messages``; `Words` looks messages up and writes numbers, shares and dates as the
language does. `sentence` is an error's. `card` and its parts are the small boxes that notebooks show.
"""

from sudare.words.card import bar, card, facts, picture, table
from sudare.words.catalogue import ENGLISH, LANGUAGES, Words, spoken_here
from sudare.words.dates import date, moment
from sudare.words.message import Lines, PageMessage, Value, lines, said
from sudare.words.numbers import chance, file_size, number, percent
from sudare.words.progress import OnProgress, Progress, Stage, unheard
from sudare.words.sentences import phrase, reworded, sentence

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "Lines",
    "PageMessage",
    "OnProgress",
    "Progress",
    "Stage",
    "Value",
    "Words",
    "bar",
    "card",
    "chance",
    "date",
    "facts",
    "file_size",
    "lines",
    "moment",
    "number",
    "percent",
    "phrase",
    "picture",
    "reworded",
    "said",
    "sentence",
    "spoken_here",
    "table",
    "unheard",
]
