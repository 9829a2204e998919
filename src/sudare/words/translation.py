"""Errors and messages in the language of the reader.

``locale/<language>/LC_MESSAGES/errors.po`` has each English template of the code and what a reader of the language
sees, with the same fields; ``errors.mo`` is made from it by ``make messages``. A sentence of which one part is not
known is said in English as a whole: never half in one language and half in the other.
"""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

from sudare.errors import Message, SudareError, one_line


def text(thing: Message | SudareError, language: str) -> str:
    """An error or a message in a language.

    >>> from sudare.errors import ParameterError
    >>> wrong = ParameterError("{name} is not positive", name="epsilon", value=-1, allowed="a finite number > 0")
    >>> print(text(wrong, "ja"))
    epsilon が正の数ではありません（値：-1、許容：0 より大きい有限の数）。
    """
    if language == "en":
        return str(thing)
    try:
        return one_line(thing.said(translations(language).gettext))
    except UnknownTemplateError:
        return str(thing)


class UnknownTemplateError(LookupError):
    """A catalogue does not have a template."""


class _Unknown(NullTranslations):
    def gettext(self, message: str) -> str:
        raise UnknownTemplateError(message)


@cache
def translations(language: str, domain: str = "errors") -> NullTranslations:
    """The compiled catalogue of a language; one that knows nothing where there is none."""
    path = files("sudare.words") / "locale" / language / "LC_MESSAGES" / f"{domain}.mo"
    if not path.is_file():
        return _Unknown()
    with path.open("rb") as file:
        found = GNUTranslations(file)
    found.add_fallback(_Unknown())
    return found
