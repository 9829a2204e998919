"""``sudare studio``: the page for stewards, on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sudare.cli.console import LocalPath, page_language_option, quiet_option, remove_leftovers
from sudare.language.catalogue import Words, current_language

if TYPE_CHECKING:
    from sudare.studio.access import Handover


@click.command()
@click.argument("recipe", type=LocalPath(), required=False)
@click.option("--demo", is_flag=True, help="Open an invented city to play with, in a folder of its own.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The loopback address to listen on; no other.")
@click.option("--port", default=0, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--no-browser", is_flag=True, help="Print where the page is that opens it, and open no browser.")
@click.option("--show-link", is_flag=True, help="Print the link itself, to be pasted into a browser: for ssh.")
@page_language_option("The language of the page, if not the browser's.")
@quiet_option
def studio(
    recipe: str | None, demo: bool, no_browser: bool, show_link: bool, language: str | None, quiet: bool, **asked: Any
) -> None:
    """Open RECIPE in the studio: declare, rehearse, publish and keep the books in a browser, until stopped.

    Without RECIPE, it is recipe.toml in this folder, begun if need be. The browser is given a page in a file that only
    you can read; it leads to the studio by a link that works once.

    Example: sudare studio recipe.toml
    """
    import signal
    import sys
    import webbrowser
    from threading import Thread

    from sudare.studio import serve

    def ready(handover: Handover) -> None:
        page = handover.page.as_uri()
        if show_link:
            click.echo(current_language()("command.studio_link", link=handover.link))
        elif not quiet or no_browser:
            click.echo(current_language()("command.studio_page", page=page))
        if not no_browser and not show_link:
            # A browser in the terminal returns when it is closed, and the studio must answer it before.
            Thread(target=webbrowser.open, args=[page], daemon=True).start()

    remove_leftovers()
    if demo:
        from sudare.cli.demo_city import demo_workspace

        recipe = str(demo_workspace(Words(language) if language else current_language()))
    # So that the page is removed on the way out, also when the terminal is closed.
    for end in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(end, lambda number, _: sys.exit(128 + number))
    serve(recipe, language=language, ready=ready, **asked)
