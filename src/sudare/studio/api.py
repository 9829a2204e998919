"""The JSON addresses of the studio: what its pages ask for, and everything that they show.

Each calls the `StudioService` in one or two lines. They run in threads; longer work runs in processes of its own.
Unknown keys in the body of a request are refused.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from sudare.domain.mesh import LEVELS
from sudare.language.catalogue import Words
from sudare.render.map_data import WORLD, world
from sudare.studio import models, rehearsals, releases
from sudare.studio.access import Access
from sudare.studio.drawings import expected_svg, rehearsed_svg, values_svg
from sudare.studio.pages import chosen_language
from sudare.studio.protection import window
from sudare.studio.refusals import RequestError
from sudare.studio.service import StudioService
from sudare.studio.uploads import upload

Level = Literal["80km", "10km", "1km", "500m", "250m", "125m"]
assert set(Level.__args__) == set(LEVELS)  # type: ignore[attr-defined]  # noqa: S101 - a literal has its choices there
Degrees = Annotated[float, Query(ge=-360, le=360, allow_inf_nan=False)]
Epsilon = Annotated[float | None, Query(gt=0, allow_inf_nan=False)]
Width = Annotated[int, Query(ge=240, le=1400)]


def spoken(request: Request, language: Annotated[str | None, Query(max_length=10)] = None) -> Words:
    """The language of an answer: asked for, chosen before, the command's or the browser's."""
    headers, asked = request.headers, language or request.query_params.get("language")
    kept, accepted = headers.get("cookie", ""), headers.get("accept-language", "")
    return Words(chosen_language(asked, kept, accepted, request.app.state.language))


Spoken = Annotated[Words, Depends(spoken)]
_STATUSES = {
    400: "malformed request",
    401: "no session",
    403: "from another page or for another host",
    404: "not found",
    405: "method not allowed",
    408: "timed out",
    409: "changed in the meantime, or too late",
    413: "too large",
    415: "not JSON",
    422: "a mistake in the request or the recipe",
    503: "the ledger or the studio's file cannot be used",
}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": models.Refusal, "description": text} for status, text in _STATUSES.items()
}
_BINARY = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
_SVG = {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}


def routes(service: StudioService, access: Access) -> APIRouter:
    """The addresses, which call ``service``."""
    api = APIRouter(responses=_REFUSALS)

    @api.post("/api/session")
    def post_session(asked: SessionRequest) -> models.SessionToken:
        """The session for the token of a link, once: send it with every request, as ``Authorization: Bearer``."""
        session = access.redeem(asked.token)
        if session is None:
            raise RequestError(
                401,
                "the link to the studio works only once, and is used up or wrong",
                hint="Open it again where the studio handed it over.",
            )
        return models.SessionToken(session=session)

    @api.get("/api/session", status_code=204, response_class=Response)
    def get_session() -> Response:
        """An empty answer, which shows that the session is valid."""
        return Response(status_code=204)

    @api.post("/api/tickets", status_code=201)
    def post_ticket(asked: TicketRequest) -> models.Ticket:
        """An address for a file of a release that works once, within a minute, and without the session."""
        releases.file_of(service.workspace, asked.file)
        return models.Ticket(address=f"/tickets/{access.ticket_for(asked.file)}")

    @api.get("/api/state")
    def get_state(words: Spoken) -> models.State:
        """The recipe, its versions, and whether it is valid."""
        return service.state(words)

    @api.put("/api/recipe")
    def put_recipe(words: Spoken, asked: NewText) -> models.State:
        """Make a text the recipe; one that is not valid yet is kept too, and says so."""
        return service.state(words, service.versions.edit(asked.text, asked.based_on))

    @api.patch("/api/recipe")
    def patch_recipe(words: Spoken, asked: RecipeChanges) -> models.State:
        """Set or remove keys of the recipe; comments stay."""
        return service.state(words, service.change(asked.changes, asked.based_on))

    @api.post("/api/undo")
    def undo(words: Spoken, asked: BasedOn) -> models.State:
        """Back to the version before the last change."""
        return service.state(words, service.versions.undo(asked.based_on))

    @api.post("/api/redo")
    def redo(words: Spoken, asked: BasedOn) -> models.State:
        """Take back an undo."""
        return service.state(words, service.versions.redo(asked.based_on))

    @api.post("/api/versions/{version}")
    def go(words: Spoken, version: int, asked: BasedOn) -> models.State:
        """Return to an earlier version, which becomes a new one."""
        return service.state(words, service.versions.go(version, asked.based_on))

    @api.get("/api/data")
    def get_data(
        words: Spoken, file: str | None = None, table: str | None = None, header: bool = False
    ) -> models.DataPage:
        """Files of the workspace, and names and types of the columns of one: never a value.

        A CSV file's first line is shown, and how the file seems to be written, only with ``header``.
        """
        return service.data(words, file, table, header)

    @api.post(
        "/api/files/{name}",
        response_model=models.FileFacts,
        status_code=201,
        openapi_extra={"requestBody": {"required": True, **_BINARY}},
    )
    async def post_file(request: Request, name: str) -> Any:
        """Put a file into the workspace: its bytes are the body. Never in place of another."""
        announced = request.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > service.upload_bytes:
            raise RequestError(
                413, "the file is too large", allowed="{upload_bytes:,} bytes", upload_bytes=service.upload_bytes
            )
        contents = await run_in_threadpool(service.contents)
        try:
            size = await upload(service.workspace, name, request.stream(), service.upload_bytes, contents)
            return models.FileFacts(name=name, bytes=size)
        except ClientDisconnect:
            raise RequestError(400, "the upload stopped before the file was complete") from None

    @api.get("/api/mesh")
    def get_mesh(level: Level, south: Degrees, west: Degrees, north: Degrees, east: Degrees) -> models.Window:
        """The window of a mesh that a box in degrees touches."""
        return window(level, south, west, north, east)

    @api.get("/api/protect")
    def get_protect(words: Spoken, epsilon: Epsilon = None) -> models.ProtectPage:
        """What the recipe would promise, cost and be worth; at another value of its slider if one is given."""
        return service.protect(words, epsilon)

    @api.get("/api/rehearse")
    def get_rehearse(words: Spoken) -> models.RehearsePage:
        """The rehearsals that are kept, and the last job."""
        return service.rehearse_page(words)

    @api.post("/api/rehearse", status_code=202)
    def post_rehearse(words: Spoken, asked: RehearseRequest) -> models.JobStatus:
        """Begin a rehearsal on data that are not private."""
        return service.rehearse(asked.based_on, asked.other).status(words)

    @api.get("/api/rehearsals/{name}")
    def get_rehearsal(words: Spoken, name: str) -> models.RehearsalFound:
        """What a rehearsal found."""
        return models.RehearsalFound(**rehearsals.get(service.workspace, name, words))

    @api.get("/api/rehearsals/{name}/map", responses={200: {"content": {"application/json": {}}}})
    def get_map(name: str) -> Response:
        """The map of a rehearsal: the true and the released table, packed for the page's own script."""
        return Response(rehearsals.map_text(service.workspace, name), media_type="application/json")

    @api.get("/api/world", responses={200: {"content": {"application/json": {}}}})
    def get_world(
        west: Degrees = WORLD[0], south: Degrees = WORLD[1], east: Degrees = WORLD[2], north: Degrees = WORLD[3]
    ) -> Response:
        """Countries, where they are installed, and the recipe's own outlines: a window is drawn on them.

        Coasts around a part of the earth are as fine as they are on a map of it.
        """
        box = (west, south, east, north) if west < east and south < north else WORLD
        return Response(json.dumps(world(service.outline(), box)), media_type="application/json")

    @api.post("/api/check")
    def post_check(words: Spoken, asked: BasedOn) -> models.Look:
        """A private look at the data of the recipe: for the steward alone, and it spends nothing."""
        return service.check(asked.based_on, words)

    @api.get("/api/publish")
    def get_publish(words: Spoken) -> models.PublishPage:
        """What a publication would spend, and what became of the last one."""
        return service.publish_page(words)

    @api.post("/api/publish", status_code=202)
    def post_publish(words: Spoken, asked: PublishRequest) -> models.JobStatus:
        """Publish the recipe, once: it spends, and cannot be undone."""
        return service.publish(asked.based_on, asked.confirm, words, asked.paid).status(words)

    @api.get("/api/jobs/{name}")
    def get_job(words: Spoken, name: str) -> models.JobStatus:
        """How far a job is."""
        return service.processes.get(name).status(words)

    @api.delete("/api/jobs/{name}")
    def delete_job(words: Spoken, name: str) -> models.JobStatus:
        """Cancel a job that has not begun to spend."""
        return service.processes.tasks.cancel(service.processes.get(name).id).status(words)

    @api.get("/api/ledger")
    def get_ledger(words: Spoken) -> models.LedgerPage:
        """The books, and the releases of the workspace."""
        return service.ledger(words)

    @api.post("/api/verify")
    def post_verify(words: Spoken, asked: VerifyRequest) -> models.Findings:
        """Check a release from its public bytes."""
        return releases.findings(service.workspace, asked.release, words)

    @api.get("/api/charts/expected.svg", response_class=Response, responses={200: _SVG})
    def get_expected(words: Spoken, epsilon: Epsilon = None, width: Width = 720) -> Response:
        """Expected error by size of area, at the recipe's epsilon or another."""
        found = service.protect(words, epsilon)
        method = words.label("method_name", (found.plan or {}).get("method") or "")
        return _svg(expected_svg(found.error_by_area, method, words, width))

    @api.get("/api/charts/{chart}.svg", response_class=Response, responses={200: _SVG})
    def get_chart(
        words: Spoken,
        chart: Literal["areas", "values"],
        rehearsal: Annotated[list[str], Query(min_length=1, max_length=2)],
        width: Width = 720,
    ) -> Response:
        """Errors of one or two rehearsals, by size of area or by true count."""
        found = [rehearsals.get(service.workspace, name) for name in rehearsal]
        draw = rehearsed_svg if chart == "areas" else values_svg
        return _svg(draw(found, words, width))

    return api


def _svg(drawn: str) -> Response:
    return Response(drawn, media_type="image/svg+xml")


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
