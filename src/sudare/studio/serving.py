"""Runs the studio in this process until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sudare.errors import Message, MissingExtraError, ParameterError
from sudare.language.catalogue import LANGUAGES, Words, current_language
from sudare.studio.access import Handover

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_BACKLOG = 64
_MOST_CONNECTIONS = 100


def serve(
    recipe: str | Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    language: str | None = None,
    ready: Callable[[Handover], None] = lambda _: None,
) -> None:
    """Serve the studio for a recipe file; ``ready`` is told the page that opens it, and the link, which works once.

    Without ``recipe``: for ``recipe.toml`` in the current folder, which is begun if it is not there. The studio
    listens on this machine only. ``port`` 0 takes a free one.
    """
    if host not in LOOPBACK:
        raise ParameterError(
            "the studio is served on this machine only",
            value=host,
            allowed=LOOPBACK,
            hint="From elsewhere, come through a tunnel such as ssh -L.",
        )
    if language is not None and language not in LANGUAGES:
        raise ParameterError("unknown language", value=language, allowed=LANGUAGES)
    try:
        import tomlkit  # noqa: F401 - looked for before anything is begun

        from sudare.collector.serving import PatientServer, listen
        from sudare.studio.app import create_app
    except ImportError:
        raise MissingExtraError.of(Message("The studio"), "studio") from None
    from sudare.recipe.model import contents_of_text
    from sudare.studio.access import Access
    from sudare.studio.guards import Guard
    from sudare.studio.service import StudioService
    from sudare.studio.workspace import Workspace

    with listen(host, port, _BACKLOG, Message("studio")) as listening:
        workspace = Workspace.open(recipe, Words(language) if language else current_language())
        service = StudioService(workspace)
        if not service.versions.listed():
            # A file that was never a recipe is a mistake of the command; one that was may be in the middle of an edit.
            contents_of_text(workspace.recipe.read_text(encoding="utf-8-sig", errors="replace"))
        service.versions.current()
        # By number: what is called localhost has two addresses, and somebody else may listen on the other.
        address, used = listening.getsockname()[:2]
        hosts = frozenset(f"{name}:{used}" for name in ("127.0.0.1", "localhost", "[::1]"))
        shown = f"[{address}]" if ":" in address else address
        handover = Handover(f"http://{shown}:{used}")
        try:
            access = Access(handover.write)
            server = PatientServer(
                Guard(create_app(service, access, language), access, hosts, language),
                _MOST_CONNECTIONS,
                timeout_keep_alive=15,
                timeout_graceful_shutdown=5,
                h11_max_incomplete_event_size=64_000,
                ws="none",
            )
            ready(handover)
            # The server ends in order when it is interrupted, and then says that it was: nobody has to hear it.
            with suppress(KeyboardInterrupt):
                server.run(sockets=[listening])
        finally:
            handover.remove()
