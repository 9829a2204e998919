"""The JSON addresses of the studio: the twins of the pages, and what they ask for.

Each is a line or two over the desk. They run in threads; what takes longer runs in processes of its own.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from sudare.domain.mesh import LEVELS
from sudare.language.catalogue import Words
from sudare.studio import models, rehearsals, releases
from sudare.studio import requests as bodies
from sudare.studio.access import Access
from sudare.studio.drawings import expected_svg, rehearsed_svg, values_svg
from sudare.studio.pages import chosen_language
from sudare.studio.refusals import RequestError
from sudare.studio.service import StudioService
from sudare.studio.tasks import shown, shown_lines
from sudare.studio.uploads import upload
from sudare.studio.windows import window

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
    400: "not understood",
    401: "no session",
    403: "from another page or for another host",
    404: "not there",
    405: "not done with it",
    408: "did not arrive",
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


def routes(desk: StudioService, access: Access) -> APIRouter:
    """The addresses over a desk."""
    api = APIRouter(responses=_REFUSALS)

    @api.post("/api/session")
    def post_session(asked: bodies.SessionRequest) -> models.SessionToken:
        """The session for the token of a link, once: send it with every request, as ``Authorization: Bearer``."""
        session = access.redeem(asked.token)
        if session is None:
            raise RequestError(
                401, "the link to the studio works once", hint="Open it again where the studio handed it over."
            )
        return models.SessionToken(session=session)

    @api.get("/api/session", status_code=204, response_class=Response)
    def get_session() -> Response:
        """Nothing: whoever gets as far as here has the session."""
        return Response(status_code=204)

    @api.post("/api/tickets", status_code=201)
    def post_ticket(asked: bodies.TicketRequest) -> models.Ticket:
        """An address for a file of a release that works once, within a minute, and without the session."""
        releases.file_of(desk.workspace, asked.file)
        return models.Ticket(address=f"/tickets/{access.ticket_for(asked.file)}")

    @api.get("/api/state")
    def get_state(words: Spoken) -> models.State:
        """The recipe, its versions, and whether it is valid."""
        return desk.state(words)

    @api.put("/api/recipe")
    def put_recipe(words: Spoken, asked: bodies.NewText) -> models.State:
        """Make a text the recipe; one that is not valid yet is kept too, and says so."""
        return desk.state(words, desk.versions.edit(asked.text, asked.based_on))

    @api.patch("/api/recipe")
    def patch_recipe(words: Spoken, asked: bodies.RecipeChanges) -> models.State:
        """Set or remove keys of the recipe; comments stay."""
        return desk.state(words, desk.change(asked.changes, asked.based_on))

    @api.post("/api/undo")
    def undo(words: Spoken, asked: bodies.BasedOn) -> models.State:
        """Back to the version before the last change."""
        return desk.state(words, desk.versions.undo(asked.based_on))

    @api.post("/api/redo")
    def redo(words: Spoken, asked: bodies.BasedOn) -> models.State:
        """Take back an undo."""
        return desk.state(words, desk.versions.redo(asked.based_on))

    @api.post("/api/versions/{version}")
    def go(words: Spoken, version: int, asked: bodies.BasedOn) -> models.State:
        """To an earlier version, as a new one."""
        return desk.state(words, desk.versions.go(version, asked.based_on))

    @api.get("/api/data")
    def get_data(
        words: Spoken, file: str | None = None, table: str | None = None, header: bool = False
    ) -> models.DataPage:
        """Files of the workspace, and names and types of the columns of one: never a value.

        A CSV file's first line is shown, and how the file seems to be written, only with ``header``.
        """
        return desk.data(words, file, table, header)

    @api.post(
        "/api/files/{name}",
        response_model=models.FileFacts,
        status_code=201,
        openapi_extra={"requestBody": {"required": True, **_BINARY}},
    )
    async def post_file(request: Request, name: str) -> Any:
        """Put a file into the workspace: its bytes are the body. Never in place of another."""
        announced = request.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > desk.upload_bytes:
            raise RequestError(
                413, "the file is too large", allowed="{upload_bytes:,} bytes", upload_bytes=desk.upload_bytes
            )
        contents = await run_in_threadpool(desk.contents)
        try:
            size = await upload(desk.workspace, name, request.stream(), desk.upload_bytes, contents)
            return models.FileFacts(name=name, bytes=size)
        except ClientDisconnect:
            raise RequestError(400, "the file ended before its end") from None

    @api.get("/api/mesh")
    def get_mesh(level: Level, south: Degrees, west: Degrees, north: Degrees, east: Degrees) -> models.Window:
        """The window of a mesh that a box in degrees touches."""
        return window(level, south, west, north, east)

    @api.get("/api/protect")
    def get_protect(words: Spoken, epsilon: Epsilon = None) -> models.ProtectPage:
        """What the recipe would promise, cost and be worth; at another value of its slider if one is given."""
        return desk.protect(words, epsilon)

    @api.get("/api/rehearse")
    def get_rehearse(words: Spoken) -> models.RehearsePage:
        """The rehearsals that are kept, and the last job."""
        return desk.rehearse_page(words)

    @api.post("/api/rehearse", status_code=202)
    def post_rehearse(words: Spoken, asked: bodies.RehearseRequest) -> models.JobStatus:
        """Begin a rehearsal on data that are not private."""
        return desk.rehearse(asked.based_on, asked.other).status(words)

    @api.get("/api/rehearsals/{name}")
    def get_rehearsal(words: Spoken, name: str) -> models.RehearsalFound:
        """What a rehearsal found."""
        found = rehearsals.get(desk.workspace, name)
        facts = shown_lines(found["facts"], words)
        return models.RehearsalFound(**{**found, "basis": shown(found["basis"], words), "facts": facts})

    @api.get("/api/rehearsals/{name}/{side}.bin", response_class=Response, responses={200: _BINARY})
    def get_grid(name: str, side: Literal["true", "released"]) -> Response:
        """A grid of a rehearsal: float32, little-endian, rows x columns, row 0 in the south."""
        return Response(rehearsals.grid(desk.workspace, name, side), media_type="application/octet-stream")

    @api.get("/api/publish")
    def get_publish(words: Spoken) -> models.PublishPage:
        """What a publication would spend, and what became of the last one."""
        return desk.publish_page(words)

    @api.post("/api/publish", status_code=202)
    def post_publish(words: Spoken, asked: bodies.PublishRequest) -> models.JobStatus:
        """Publish the recipe, once: it spends, and cannot be undone."""
        return desk.publish(asked.based_on, asked.confirm, words, asked.paid).status(words)

    @api.get("/api/jobs/{name}")
    def get_job(words: Spoken, name: str) -> models.JobStatus:
        """How far a job is."""
        return desk.processes.get(name).status(words)

    @api.delete("/api/jobs/{name}")
    def delete_job(words: Spoken, name: str) -> models.JobStatus:
        """Cancel a job that has not begun to spend."""
        return desk.processes.tasks.cancel(desk.processes.get(name).id).status(words)

    @api.get("/api/ledger")
    def get_ledger(words: Spoken) -> models.LedgerPage:
        """The books, and the releases of the workspace."""
        return desk.ledger(words)

    @api.post("/api/verify")
    def post_verify(words: Spoken, asked: bodies.VerifyRequest) -> models.Findings:
        """Check a release from its public bytes."""
        return releases.findings(desk.workspace, asked.release, words)

    @api.get("/api/charts/expected.svg", response_class=Response, responses={200: _SVG})
    def get_expected(words: Spoken, epsilon: Epsilon = None, width: Width = 720) -> Response:
        """Expected error by size of area, at the recipe's epsilon or another."""
        found = desk.protect(words, epsilon)
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
        found = [rehearsals.get(desk.workspace, name) for name in rehearsal]
        draw = rehearsed_svg if chart == "areas" else values_svg
        return _svg(draw(found, words, width))

    return api


def _svg(drawn: str) -> Response:
    return Response(drawn, media_type="image/svg+xml")
