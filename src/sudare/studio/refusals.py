"""The studio's refusals: what is wrong with a request, as JSON with the HTTP status that says of which kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from starlette.responses import JSONResponse, Response

from sudare.errors import Message, SudareError
from sudare.language.catalogue import ENGLISH, LANGUAGES, Words
from sudare.language.translation import text
from sudare.studio.models import ErrorParts, Refusal

Said = TypeVar("Said")


class RequestError(SudareError):
    """A request that is refused.

    >>> print(RequestError(413, "the request is too large", allowed="1,000 bytes"))
    the request is too large (allowed: 1,000 bytes)
    """

    code = "studio_request"

    def __init__(self, status: int, template: str | Message, **parts: Any) -> None:
        super().__init__(template, **parts)
        self.status = status


class StaleError(RequestError):
    """A change that was made to another version than the one that is there now: another tab was quicker."""

    code = "stale"

    def __init__(self, based_on: int, version: int) -> None:
        super().__init__(
            409,
            "the recipe was changed elsewhere in the meantime",
            value=based_on,
            allowed="version {version}",
            hint="Look at the recipe as it is now, then change it again.",
            version=version,
        )


def error_parts(problem: SudareError, words: Words = ENGLISH) -> ErrorParts:
    """An error's parts in English, and the one sentence they make in the language of the reader."""
    return ErrorParts(
        what=problem.what,
        value=None if problem.value is None else str(problem.value),
        allowed=problem.allowed,
        hint=problem.hint,
        message=text(problem, words.language),
        place=place if isinstance(place := problem.fields.get("place"), list) else [],
    )


def in_every_language(said: Callable[[Words], Said]) -> dict[str, Said]:
    """What is said now and may be read later in any language, as the store keeps it."""
    return {language: said(Words(language)) for language in LANGUAGES}


def in_language(kept: dict[str, Said], words: Words) -> Said:
    """What `in_every_language` made, in one; English in a language that was added since."""
    return kept.get(words.language, kept["en"])


def kept_error(problem: SudareError) -> dict[str, Any]:
    """An error for the store."""
    return in_every_language(lambda words: error_parts(problem, words).model_dump())


def answer(problem: SudareError, words: Words, status: int = 422) -> Response:
    """The refusal as a response; a mistake in a recipe, a file or a parameter is 422."""
    found = problem.status if isinstance(problem, RequestError) else status
    return JSONResponse(Refusal(error=error_parts(problem, words)).model_dump(), found)
