"""The bodies of requests to the studio; unknown keys are refused."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class RequestBody(BaseModel):
    """A request: nothing in it that is not described."""

    model_config = ConfigDict(extra="forbid")


class BasedOn(RequestBody):
    """A change of what the page has seen."""

    based_on: int = Field(ge=1, lt=2**53, description="the version that the change was made to; another one is refused")


class NewText(BasedOn):
    """The whole recipe."""

    text: str


class RecipeChanges(BasedOn):
    """Keys of the recipe: dotted, as in TOML; null removes one."""

    changes: dict[str, Any] = Field(min_length=1, max_length=200)


class RehearseRequest(BasedOn):
    """A rehearsal of the recipe, and of another version of it to compare with."""

    other: int | None = Field(default=None, ge=1, lt=2**53)


class PublishRequest(BasedOn):
    """A publication; ``confirm`` is the name of the data set, typed out.

    ``paid`` is for a release that was paid for and is not out: complete it at no cost, or pay for another one instead.
    """

    confirm: str
    paid: Literal["complete", "anew"] | None = None


class VerifyRequest(RequestBody):
    """A release of the workspace: its folder, or its release.json."""

    release: str


class SessionRequest(RequestBody):
    """The token of a link, for the session; it is good once."""

    token: str


class TicketRequest(RequestBody):
    """A file of a release, by its name inside the workspace."""

    file: str
