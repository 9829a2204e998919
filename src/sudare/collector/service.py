"""The collector's web service, and no record of who used it.

``POST /reports`` answers 200 when reports are on the disk, and 202 when they wait for their batch and must be sent
again. `intake` checks requests directly, without a Pydantic model, for speed.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from hmac import compare_digest
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

import sudare
from sudare.collector.collection import Collection, EstimateService
from sudare.collector.group_commit import Receipt
from sudare.collector.intake import (
    MOST_REPORTS,
    MOST_SEALED,
    RateLimit,
    largest_body,
    most_reports,
    rows_of,
    sealed_rows,
)
from sudare.collector.pages import HEADERS, language_of, page
from sudare.collector.sealing import OVERHEAD, sealing_text
from sudare.collector.storage import RequestError, StorageError
from sudare.errors import Message, SudareError
from sudare.language.translation import text
from sudare.workflow.reports import public_text

try:
    from sudare.collector.direct import direct_protocol
except ImportError:  # a Uvicorn whose inner classes are elsewhere: every report takes the long way
    direct_protocol = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from sudare.collector.serving import Watch

BODY_SECONDS = 20.0
HOLD_SECONDS = 2.0
"""How long a request waits for its batch before its sender is asked to come back."""
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


def create_app(
    collection: Collection,
    watch: Watch | None = None,
    key: Ed25519PrivateKey | None = None,
    sealing: X25519PrivateKey | None = None,
) -> FastAPI:
    """The service for an open collection, which is closed when the service ends.

    ``key`` signs the survey; with ``sealing`` reports are taken from a relay only, sealed for that key.
    """

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
    if sealing is not None:
        content["sealing"] = sealing_text(sealing)
    key = key or Ed25519PrivateKey.generate()
    estimates = EstimateService(collection)
    limit = RateLimit(survey.rate)
    most_bytes = largest_body(survey.encoding)

    def check_unchanged() -> None:
        if watch is not None:
            watch.check()

    signed = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {"sudare-signature": key.sign(signed).hex(), "sudare-key": public_text(key)}

    @app.get("/survey")
    async def show_survey() -> Response:
        """All that a device needs to answer; the signature is of the bytes of this answer."""
        check_unchanged()
        return Response(signed, media_type="application/json", headers=headers)

    @app.post("/reports", openapi_extra={"requestBody": {"content": {"application/json": {"schema": _BODY}}}})
    async def take_reports(request: Request) -> JSONResponse:
        """Store reports; an answer of 200 means that they are on the disk."""
        address = _address(request, survey.behind_proxy)
        limit.take(address, 1)
        check_unchanged()
        if sealing is not None:
            raise RequestError(403, "reports to this survey go to its relay", allowed=survey.shuffler)
        rows = rows_of(await body_of(request, most_bytes), survey)
        limit.take(address, len(rows) - 1)
        return await receipt_of(collection.add(rows), len(rows), survey.batch_seconds)

    def take(host: str, forwarded: str, body: bytes) -> tuple[Future[Receipt], int]:
        """Reports that `direct` recognised; their errors are told by the route above."""
        check_unchanged()
        rows = rows_of(body, survey)
        limit.take(forwarded.rpartition(",")[2].strip() if survey.behind_proxy else host, len(rows))
        return collection.add(rows), len(rows)

    if sealing is None and direct_protocol is not None:
        app.state.http = direct_protocol(take, HOLD_SECONDS, retry_seconds(survey.batch_seconds))
    if sealing is not None:

        @app.post("/sealed")
        async def take_sealed(request: Request) -> JSONResponse:
            """A batch of the relay's, opened and stored; an answer of 200 means that it is on the disk."""
            check_unchanged()
            most_sealed = 1024 + MOST_SEALED * (2 * OVERHEAD + 2 * survey.encoding.report_bytes)
            body = await body_of(request, most_sealed)
            rows = await run_in_threadpool(sealed_rows, body, survey, sealing)
            return await receipt_of(collection.add(rows), len(rows), survey.batch_seconds, hold=None)

    @app.get("/estimate")
    async def show_estimate(request: Request) -> JSONResponse:
        """The counts that the reports amount to, with intervals."""
        if survey.token is not None:
            limit.take(_address(request, survey.behind_proxy), 1)
            _check_token(request, survey.token)
        return JSONResponse(await run_in_threadpool(estimates.current))

    @app.get("/health")
    async def health() -> JSONResponse:
        """200 while reports can be stored, 503 while the database is away."""
        return JSONResponse({"storing": collection.storing}, 200 if collection.storing else 503)

    @app.get("/metrics")
    async def metrics() -> Response:
        """For Prometheus. Reports are those that the estimate shows: a count of each one would tell when it came."""
        figures = {"storing": int(collection.storing), "reports_shown": collection.shown().reports}
        lines = [f"# TYPE sudare_{name} gauge\nsudare_{name} {value}\n" for name, value in figures.items()]
        return Response("".join(lines), media_type="text/plain; version=0.0.4")

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
            expose_headers=["sudare-key", "sudare-signature"],
        )
    answered(app)
    return app


def answered(app: Starlette) -> None:
    """Turn every error of a service into an answer of one sentence."""
    app.add_exception_handler(RequestError, _refused)
    app.add_exception_handler(StorageError, _not_stored)
    app.add_exception_handler(HTTPException, _not_here)


def retry_seconds(batch_seconds: int) -> int:
    """When reports that wait for their batch are to be sent again."""
    return min(60, max(1, batch_seconds // 5))


async def receipt_of(
    stored: Future[Receipt], reports: int, seconds: int, known: int = 0, hold: float | None = HOLD_SECONDS
) -> JSONResponse:
    """200 once the reports are on the disk; 202 where their batch is not full yet, with when to send them again."""
    own = asyncio.wrap_future(stored)
    done, _ = await asyncio.wait([own], timeout=hold)
    if not done:
        own.add_done_callback(lambda late: late.exception())  # heard by whoever sends the reports again
        return JSONResponse({"waiting": reports}, 202, {"retry-after": str(retry_seconds(seconds))})
    receipt = done.pop().result()
    return JSONResponse({"stored": receipt.stored, "known": receipt.known + known})


async def body_of(request: Request, most_bytes: int) -> bytes:
    """The body of a request, read no further than allowed and not forever."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError(415, "reports must be JSON", allowed="content-type: application/json")
    if "content-encoding" in request.headers:
        raise RequestError(415, "compressed reports are not accepted", allowed="no content-encoding")
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
            408, "the request timed out", allowed="{body_seconds:g} seconds", body_seconds=BODY_SECONDS
        ) from None
    except ClientDisconnect:
        raise RequestError(400, "the connection closed before the request was complete") from None
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
