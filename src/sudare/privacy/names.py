"""Names of data sets: one spelling for each, and no two that look alike.

A budget belongs to a typed name, so a name that looks like another one would be a second, unnoticed budget. `skeleton`
maps names that look the same to the same text, after the idea of Unicode Technical Standard 39: forms of width
and style (NFKC), case, spaces, invisible signs, punctuation, digits of all scripts, and the letters of other scripts
that look like Latin ones, or like one another in Japanese.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from sudare.errors import LedgerError, Message, ParameterError

_LONGEST_NAME = 200
# Signs, and what they are taken for: of the table of TS 39 what is typed as a letter or a digit. Capitals of Greek come
# first, for they look like other letters than their small forms; the rest is looked up after case is folded.
_CAPITALS = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX")
_SMALL = str.maketrans(
    "авсԁеһіјӏкмнорԛгѕтѵԝхуүзбьё" + "αβγεζηικμνοπρτυχωϲϳ" + "օսոհցյզք" + "ɑɡı01|i" + "ニロカエタハトヘリーペベ",
    "abcdehljlkmhopqrstvwxyy36bë" + "abyeznlkuvonptuxwcj" + "ounhgjqp" + "aglolll" + "二口力工夕八卜へり一ぺべ",
)
# Letters and marks that no font draws; those of category C are in no name.
_INVISIBLE = dict.fromkeys((0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, *range(0xFE00, 0xFE10)))


def skeleton(name: str) -> str:
    """What ``name`` looks like: two names of one skeleton are taken for the same.

    Punctuation counts between digits alone, whichever it is: days are told apart that are written without zeros.

    >>> skeleton("Census 2025") == skeleton("сеnsus２０２５"), skeleton("census") == skeleton("censor")
    (True, False)
    >>> skeleton("census_2025-11") == skeleton("Census-2025.11"), skeleton("day 1-11") == skeleton("day 11-1")
    (True, False)
    """
    seen = unicodedata.normalize("NFKC", name.translate(_INVISIBLE)).translate(_CAPITALS).casefold()
    signs = "".join(_plain(sign) for sign in seen if not sign.isspace())
    parted = re.sub(r"(?<=\d)-+(?=\d)", " ", signs).replace("-", "")
    return unicodedata.normalize("NFKC", parted.translate(_INVISIBLE).translate(_SMALL))


def _plain(sign: str) -> str:
    if unicodedata.category(sign).startswith("P"):
        return "-"
    digit = unicodedata.decimal(sign, None)
    return sign if digit is None else str(digit)


def declared(text: str, what: Message) -> str:
    """``text`` in one spelling: two names that are the same must not have two budgets."""
    name = unicodedata.normalize("NFC", text)
    invisible = any(unicodedata.category(character).startswith("C") for character in name)
    if not name or name != name.strip() or invisible or len(name) > _LONGEST_NAME:
        raise ParameterError(
            "{what} is not a name",
            value=text,
            allowed="1 to {longest_name} visible characters without spaces around them",
            what=what,
            longest_name=_LONGEST_NAME,
        )
    return name


def dataset_name(text: str) -> str:
    """The declared name of a data set."""
    return declared(text, Message("the name of a data set"))


def account_name(text: str) -> str:
    """The declared name of an account of people."""
    return declared(text, Message("the name of an account"))


def refuse_look_alike(name: str, known: Iterable[str]) -> None:
    """Refuse a new data set whose name looks like that of one which the ledger knows."""
    names, seen = tuple(known), skeleton(name)
    if name in names:
        return
    if alike := [other for other in names if skeleton(other) == seen]:
        raise LedgerError(
            "data set {name!r} would be new in the ledger, and its name looks like that of another one",
            value=", ".join(alike),
            allowed="one name for one data set",
            hint="Write the name as the ledger has it; if two data sets are meant, confirm it:"
            " confirm_similar_name = true under [ledger], or --confirm.",
            name=name,
        )
