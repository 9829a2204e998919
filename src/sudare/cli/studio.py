"""``sudare studio``: the page for stewards, on this machine."""

from __future__ import annotations

import click

from sudare.cli.console import language_option, quiet_option


@click.command()
@click.argument("recipe", type=click.Path(), required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="The loopback address to listen on; no other.")
@click.option("--port", default=0, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--no-browser", is_flag=True, help="Print the link and open no browser.")
@language_option("The language of the page, if not the browser's.")
@quiet_option
def studio(recipe: str | None, host: str, port: int, no_browser: bool, language: str | None, quiet: bool) -> None:
    """Open RECIPE in the studio: declare, rehearse, publish and keep the books in a browser, until stopped.

    Without RECIPE, it is recipe.toml in this folder, begun if need be. The link works once; it is for you alone.

    Example: sudare studio recipe.toml
    """
    import webbrowser
    from threading import Thread

    from sudare.studio import serve

    def ready(link: str) -> None:
        if not quiet or no_browser:
            click.echo(f"The studio is open at {link}")
        if not no_browser:
            # A browser in the terminal returns when it is closed, and the studio must answer it before.
            Thread(target=webbrowser.open, args=[link], daemon=True).start()

    serve(recipe, host=host, port=port, language=language, ready=ready)
