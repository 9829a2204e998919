"""The collector's web service: six addresses, and nothing kept about who used them.

``GET /survey`` says all that a device needs; ``POST /reports`` takes one report or a batch and answers when they are on
the disk; ``GET /estimate`` shows what they amount to; ``GET /`` and ``GET /device`` are pages. Requests are read
without a model in between: `intake` checks them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hmac import compare_digest
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

import sudare
from sudare.collector.collection import Collection, EstimateService
from sudare.collector.intake import MOST_REPORTS, RateLimit, largest_body, most_reports, rows_of
from sudare.collector.pages import HEADERS, language_of, page
from sudare.collector.serving import Watch
from sudare.collector.storage import RequestError, StorageError
from sudare.errors import Message, SudareError
from sudare.language.translation import text

BODY_SECONDS = 20.0
_SAFE = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store"}
_NOT_HERE = {404: Message("not found"), 405: Message("method not allowed")}
_log = logging.getLogger("sudare.collector")
_REPORT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "report"],
    "properties": {"id": {"type": "string", "pattern": "^[0-9a-f]{32}$"}, "report": {"type": "string"}},
}
_BODY = {
    "type": "object",
    "required": ["survey"],
    "properties": {
        "survey": {"type": "string"},
        **_REPORT["properties"],  # type: ignore[dict-item]  # a mapping in a mapping of several types
        "reports": {"type": "array", "items": _REPORT},
    },
}


def create_app(collection: Collection, watch: Watch | None = None) -> FastAPI:
    """The service for an open collection, which is closed when the service ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(collection.close)

    app = FastAPI(
        title="Sudare collector", version=sudare.__version__, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    survey = collection.survey
    # A batch above the rate could never be taken, however often it is sent.
    most = min(most_reports(survey.encoding), survey.rate or MOST_REPORTS)
    content = survey.to_json() | {"most_reports": most}
    estimates = EstimateService(collection)
    limit = RateLimit(survey.rate)
    most_bytes = largest_body(survey.encoding)

    def check_unchanged() -> None:
        if watch is not None:
            watch.check()

    @app.get("/survey")
    async def show_survey() -> JSONResponse:
        """All that a device needs to answer."""
        check_unchanged()
        return JSONResponse(content)

    @app.post("/reports", openapi_extra={"requestBody": {"content": {"application/json": {"schema": _BODY}}}})
    async def take_reports(request: Request) -> JSONResponse:
        """Store reports; an answer of 200 means that they are on the disk."""
        address = _address(request, survey.behind_proxy)
        limit.take(address, 1)
        check_unchanged()
        rows = rows_of(await _body(request, most_bytes), survey)
        limit.take(address, len(rows) - 1)
        receipt = await asyncio.wrap_future(collection.add(rows))
        return JSONResponse({"stored": receipt.stored, "known": receipt.known})

    @app.get("/estimate")
    async def show_estimate(request: Request) -> JSONResponse:
        """The counts that the reports amount to, with intervals."""
        if survey.token is not None:
            limit.take(_address(request, survey.behind_proxy), 1)
            _check_token(request, survey.token)
        return JSONResponse(await run_in_threadpool(estimates.current))

    @app.get("/", response_class=HTMLResponse)
    async def estimate_page(request: Request) -> HTMLResponse:
        """The estimate as a map or as bars."""
        return _html("estimate", request, collection)

    @app.get("/device", response_class=HTMLResponse)
    async def device_page(request: Request) -> HTMLResponse:
        """The question, answered in the browser."""
        if survey.law is None:
            return _html("no_device", request, collection, 404)
        return _html("device", request, collection)

    app.mount("/static", StaticFiles(directory=str(files("sudare.collector") / "static")))
    if survey.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(survey.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["content-type"],
        )
    app.add_exception_handler(RequestError, _refused)
    app.add_exception_handler(StorageError, _not_stored)
    app.add_exception_handler(HTTPException, _not_here)
    return app


async def _body(request: Request, most_bytes: int) -> bytes:
    """The body of a request, read no further than allowed and not forever."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError(415, "reports come as JSON", allowed="content-type: application/json")
    if "content-encoding" in request.headers:
        raise RequestError(415, "reports come as they are", allowed="no content-encoding")
    if request.scope["http_version"] not in ("1.0", "1.1", "2"):
        raise RequestError(400, "the request is of an unknown version of HTTP", allowed="HTTP/1.1")
    announced = request.headers.get("content-length", "")
    if announced and "transfer-encoding" in request.headers:
        raise RequestError(400, "the request has two lengths", allowed="content-length or transfer-encoding")
    if announced.isdigit() and int(announced) > most_bytes:
        raise RequestError(413, "the request is too large", allowed="{most_bytes:,} bytes", most_bytes=most_bytes)
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > most_bytes:
                    raise RequestError(
                        413, "the request is too large", allowed="{most_bytes:,} bytes", most_bytes=most_bytes
                    )
                parts.append(part)
    except TimeoutError:
        raise RequestError(
            408, "the request did not arrive", allowed="{body_seconds:g} seconds", body_seconds=BODY_SECONDS
        ) from None
    except ClientDisconnect:
        raise RequestError(400, "the request ended before its end") from None
    return b"".join(parts)


def _address(request: Request, behind_proxy: bool) -> str:
    """Whose request it is, for the rate limit alone; behind a proxy, what the proxy itself added."""
    if behind_proxy:
        return request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return request.client.host if request.client else ""


def _check_token(request: Request, token: str) -> None:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(given.strip().encode(), token.encode()):
        raise RequestError(401, "the estimate is for those who have its token", allowed="Authorization: Bearer ...")


def _html(name: str, request: Request, collection: Collection, status: int = 200) -> HTMLResponse:
    language = language_of(request.query_params.get("lang"), request.headers.get("accept-language", ""))
    return HTMLResponse(page(name, collection.survey, language), status, {**_SAFE, **HEADERS})


def _sentence(request: Request, status: int, problem: SudareError, **headers: str) -> JSONResponse:
    """An error in the language that a browser asks for; programs ask for none and read English."""
    language = language_of(request.query_params.get("lang"), request.headers.get("accept-language", ""))
    return JSONResponse({"error": text(problem, language)}, status, {**_SAFE, **headers})


async def _refused(request: Request, problem: Any) -> Response:
    headers = {"retry-after": str(problem.retry_after)} if problem.retry_after else {}
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    return _sentence(request, problem.status, problem, **headers)


async def _not_stored(request: Request, problem: Any) -> Response:
    """Where the database is concerns the steward, not the senders."""
    _log.error("%s", problem)
    refusal = RequestError(503, "the collector cannot store reports just now", hint="Send them again later.")
    return _sentence(request, 503, refusal, **{"retry-after": "5"})


async def _not_here(request: Request, problem: Any) -> Response:
    refusal = RequestError(problem.status_code, _NOT_HERE.get(problem.status_code) or str(problem.detail).lower())
    return _sentence(request, problem.status_code, refusal, **(problem.headers or {}))
