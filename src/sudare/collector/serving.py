"""Runs the service in this process until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sudare.collector.collection import Collection
from sudare.collector.survey import Survey
from sudare.collector.survey_file import load
from sudare.collector.watch import Watch
from sudare.errors import InputError, Message

_BACKLOG = 2048
_MOST_CONNECTIONS = 2000


def serve(
    path: str | Path, host: str = "127.0.0.1", port: int = 8000, ready: Callable[[Survey, str], None] | None = None
) -> None:
    """Serve the survey in the file ``path``; ``ready`` is told its address when reports are welcome.

    What the service keeps of a request is the report: there is no log of requests, and errors name no sender.
    """
    try:
        from sudare.collector.patience import PatientServer, listen
        from sudare.collector.service import create_app
    except ImportError:
        raise InputError(
            "the collector needs a web server", hint="Install it: pip install 'sudare[collector]'."
        ) from None
    survey = load(path)
    listening = listen(host, port, _BACKLOG, Message("collector"))
    with listening:
        collection = Collection(survey)
        if survey.books is not None:
            survey.books.enter(survey)
        app = create_app(collection, Watch(Path(path), survey))
        server = PatientServer(app, _MOST_CONNECTIONS, timeout_graceful_shutdown=10)
        if ready is not None:
            shown = f"[{host}]" if ":" in host else host
            ready(survey, f"http://{shown}:{listening.getsockname()[1]}")
        server.run(sockets=[listening])
