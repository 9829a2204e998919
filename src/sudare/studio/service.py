"""The studio's web service: the five pages, files of releases, the JSON addresses (`api`), and errors as sentences.

The guards stand before all of them: see `guards`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

import sudare
from sudare.errors import LedgerError, SudareError
from sudare.studio import releases
from sudare.studio.api import Spoken, routes, spoken
from sudare.studio.desk import Desk
from sudare.studio.pages import COOKIE, PAGES, page
from sudare.studio.refusals import RequestError, answer


def create_app(desk: Desk, default_language: str | None = None) -> FastAPI:
    """The service over a desk, which is closed when the service ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

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
    app.include_router(routes(desk))

    @app.get("/releases/{name:path}", response_class=FileResponse, include_in_schema=False)
    def get_release(name: str) -> Response:
        """A file of a release: its data, certificate or public report."""
        path, kind = releases.file_of(desk.workspace, name)
        shown = kind in ("text/html", "application/json")
        made = FileResponse(path, media_type=kind, filename=None if shown else path.name)
        made.headers["content-security-policy"] = releases.REPORT_POLICY
        return made

    @app.get("/{name}", response_class=HTMLResponse, include_in_schema=False)
    def get_page(request: Request, words: Spoken, name: str) -> Response:
        """One of the five pages."""
        if name not in PAGES:
            raise RequestError(404, "there is no such page", allowed=", ".join(PAGES))
        twins: dict[str, Callable[[], dict[str, Any]]] = {
            "data": lambda: desk.data(words),
            "protect": lambda: desk.protect(words),
            "rehearse": lambda: desk.rehearse_page(words),
            "publish": lambda: desk.publish_page(words),
            "ledger": lambda: desk.ledger(words),
        }
        made = HTMLResponse(page(name, words.language, desk.state(words), twins[name]()))
        if request.query_params.get("language") == words.language:
            made.set_cookie(COOKIE, words.language, httponly=True, samesite="strict", path="/", max_age=400 * 86_400)
        return made

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
    place = ".".join(str(step) for step in first["loc"] if not isinstance(step, int))
    broken = first["type"] == "json_invalid"
    what = "the request is not JSON" if broken else f"{place or 'the request'} is not as described"
    hint = None if broken else f"{str(first['msg'])[:200]}."
    return answer(RequestError(422, what, hint=hint), spoken(request))


async def _failed(request: Request, problem: Any) -> Response:
    """A defect of the studio: its type alone, since its text could quote anything."""
    return answer(RequestError(500, f"the studio failed: {type(problem).__name__}"), spoken(request))


async def _not_here(request: Request, problem: Any) -> Response:
    what = {404: "there is no such address", 405: "this address is not used that way"}
    refusal = RequestError(problem.status_code, what.get(problem.status_code, str(problem.detail).lower()))
    made = answer(refusal, spoken(request))
    for name, value in (problem.headers or {}).items():
        made.headers[name] = value
    return made
