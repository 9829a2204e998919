"""What pages, charts, notebooks and commands say, in English, in Japanese and in any language that is added.

Each language has a folder in ``locale``; `Words` looks messages up and writes numbers, shares and dates as the language
does. `text` says an error or a message, `said` any value. ``cards`` makes the small boxes that notebooks show.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.language.catalogue import LANGUAGES, Words, choose_language
    from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, said
    from sudare.language.translation import text

__all__ = [
    "LANGUAGES",
    "Lines",
    "OnProgress",
    "PageMessage",
    "Progress",
    "Stage",
    "Words",
    "choose_language",
    "said",
    "text",
]

__getattr__ = exports(
    __name__,
    {
        "catalogue": ("LANGUAGES", "Words", "choose_language"),
        "messages": ("Lines", "OnProgress", "PageMessage", "Progress", "Stage", "said"),
        "translation": ("text",),
    },
)
