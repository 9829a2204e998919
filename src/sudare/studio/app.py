"""The studio's web service: the pages, files of releases, the JSON addresses (`api`), and errors as sentences.

The guards stand before all of them: see `guards`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

import sudare
from sudare.errors import LedgerError, Message, SudareError
from sudare.language.translation import pydantic_reason
from sudare.studio import releases
from sudare.studio.access import Access
from sudare.studio.api import Spoken, routes, spoken
from sudare.studio.pages import COOKIE, PAGES, REPORT, page
from sudare.studio.refusals import RequestError, answer
from sudare.studio.service import StudioService


def create_app(service: StudioService, access: Access, default_language: str | None = None) -> FastAPI:
    """The web application of ``service``, which it closes at its end; ``access`` has its tokens and tickets."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="Sudare studio",
        version=sudare.__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.language = default_language
    app.include_router(routes(service, access))

    @app.get("/releases/{name:path}", response_class=FileResponse, include_in_schema=False)
    def get_release(name: str) -> Response:
        """A file of a release: its data, certificate or public report."""
        path, kind = releases.file_of(service.workspace, name)
        shown = kind in ("text/html", "application/json")
        made = FileResponse(path, media_type=kind, filename=None if shown else path.name)
        made.headers["content-security-policy"] = releases.REPORT_POLICY
        return made

    @app.get("/tickets/{ticket}", response_class=FileResponse, include_in_schema=False)
    def get_ticket(request: Request, ticket: str) -> Response:
        """The file of a release that a ticket stands for, once; a tab that is loaded again asks for another ticket."""
        name, good = access.spend(ticket) or ("", False)
        if good:
            return get_release(name)
        if name and request.headers.get("sec-fetch-dest") == "document":
            return RedirectResponse(f"/{REPORT}#{urlencode({'file': name})}", 303)
        raise RequestError(
            404,
            "this address works only once, and has been used or has expired",
            hint="Ask for the file again on a page of the studio.",
        )

    @app.get("/", include_in_schema=False)
    def get_beginning() -> Response:
        """Whoever types the address alone begins with the first page."""
        return RedirectResponse(f"/{PAGES[0]}", 303)

    @app.get("/{name}", response_class=HTMLResponse, include_in_schema=False)
    def get_page(request: Request, words: Spoken, name: str) -> Response:
        """One of the pages, without content."""
        if name not in (*PAGES, REPORT):
            raise RequestError(404, "there is no such page", allowed=PAGES)
        made = HTMLResponse(page(name, words.language))
        if request.query_params.get("language") == words.language:
            made.set_cookie(COOKIE, words.language, httponly=True, samesite="strict", path="/", max_age=400 * 86_400)
        return made

    app.mount("/static/map", StaticFiles(directory=str(files("sudare.render") / "map"), check_dir=False))
    app.mount("/static", StaticFiles(directory=str(files("sudare.studio") / "static"), check_dir=False))
    app.add_exception_handler(SudareError, _refused)
    app.add_exception_handler(RequestValidationError, _not_as_described)
    app.add_exception_handler(HTTPException, _not_here)
    app.add_exception_handler(Exception, _failed)
    return app


async def _refused(request: Request, problem: Any) -> Response:
    return answer(problem, spoken(request), 503 if isinstance(problem, LedgerError) else 422)


async def _not_as_described(request: Request, problem: Any) -> Response:
    """Where the request differs from its description; never what was in it."""
    first = problem.errors()[0]
    if first["type"] == "json_invalid":
        return answer(RequestError(422, "the request is not JSON"), spoken(request))
    place = ".".join(str(step) for step in first["loc"] if not isinstance(step, int))
    refusal = RequestError(
        422,
        "{place} does not match the description of this address"
        if place
        else "the request does not match the description of this address",
        hint="{reason}.",
        place=place,
        reason=pydantic_reason(first),
    )
    return answer(refusal, spoken(request))


async def _failed(request: Request, problem: Any) -> Response:
    """A defect of the studio: its type alone, since its text could quote anything."""
    return answer(RequestError(500, "the studio failed: {type}", type=type(problem).__name__), spoken(request))


async def _not_here(request: Request, problem: Any) -> Response:
    known = {404: Message("there is no such address"), 405: Message("this address does not accept this HTTP method")}
    refusal = RequestError(problem.status_code, known.get(problem.status_code) or str(problem.detail).lower())
    made = answer(refusal, spoken(request))
    for name, value in (problem.headers or {}).items():
        made.headers[name] = value
    return made
