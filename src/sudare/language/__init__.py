"""What pages, charts, notebooks and commands say, in English, in Japanese and in any language that is added.

Each language has a folder in ``locale``; `Words` looks messages up and writes numbers, shares and dates as the language
does. `text` says an error or a message. `card` and its parts are the small boxes that notebooks show.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.language.cards import bar, card, facts, picture, table
    from sudare.language.catalogue import ENGLISH, LANGUAGES, Words, choose_language, current_language
    from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, Value, lines, said, unheard
    from sudare.language.translation import text
    from sudare.language.writing import chance, file_size, number, percent

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "Lines",
    "OnProgress",
    "PageMessage",
    "Progress",
    "Stage",
    "Value",
    "Words",
    "bar",
    "card",
    "chance",
    "choose_language",
    "current_language",
    "facts",
    "file_size",
    "lines",
    "number",
    "percent",
    "picture",
    "said",
    "table",
    "text",
    "unheard",
]

__getattr__ = exports(
    __name__,
    {
        "cards": ("bar", "card", "facts", "picture", "table"),
        "catalogue": ("ENGLISH", "LANGUAGES", "Words", "choose_language", "current_language"),
        "messages": ("Lines", "OnProgress", "PageMessage", "Progress", "Stage", "Value", "lines", "said", "unheard"),
        "translation": ("text",),
        "writing": ("chance", "file_size", "number", "percent"),
    },
)
