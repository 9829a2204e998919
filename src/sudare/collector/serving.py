"""Runs the service in this process until it is told to stop."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from pathlib import Path

from sudare.collector.collection import Collection
from sudare.collector.survey import Survey
from sudare.collector.survey_file import load
from sudare.collector.watch import Watch
from sudare.errors import InputError

_BACKLOG = 2048
_MOST_CONNECTIONS = 2000


def serve(
    path: str | Path, host: str = "127.0.0.1", port: int = 8000, ready: Callable[[Survey, str], None] | None = None
) -> None:
    """Serve the survey in the file ``path``; ``ready`` is told its address when reports are welcome.

    What the service keeps of a request is the report: there is no log of requests, and errors name no sender.
    """
    try:
        import uvicorn

        from sudare.collector.patience import PatientServer
        from sudare.collector.service import create_app
    except ImportError:
        raise InputError(
            "the collector needs a web server", hint="Install it: pip install 'sudare[collector]'."
        ) from None
    survey = load(path)
    listening = _listen(host, port)
    with listening:
        collection = Collection(survey)
        if survey.books is not None:
            survey.books.enter(survey)
        app = create_app(collection, Watch(Path(path), survey))
        logging.basicConfig(format="%(levelname)s %(message)s")
        server = PatientServer(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_graceful_shutdown=10,
            )
        )
        if ready is not None:
            shown = f"[{host}]" if ":" in host else host
            ready(survey, f"http://{shown}:{listening.getsockname()[1]}")
        server.run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections, so that those who come before the service is up wait for it."""
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        listening = socket.socket(family, kind, protocol)
    except OSError:
        raise InputError("there is no such address to listen on", value=host) from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as problem:
        listening.close()
        raise InputError(f"the collector cannot listen there: {problem.strerror}", value=f"{host}:{port}") from None
    return listening
