"""``sudare explore``: search, filter and sum a release on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sudare.cli.console import LocalPath, page_options, print_facts, print_json
from sudare.language.catalogue import current_language


@click.command()
@click.argument("release", type=click.Path())
@click.option("--static", type=LocalPath(path_type=Path), help="Write the page into this new folder, serve nothing.")
@click.option("--port", default=0, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@click.option("--publisher", metavar="KEY", help="The publisher's public key: a PEM file, or 64 hexadecimal digits.")
@page_options("The language of the page, if not the browser's.")
def explore(
    release: str, static: Path | None, port: int, no_browser: bool, as_json: bool, quiet: bool, **asked: Any
) -> None:
    """Search, filter and sum RELEASE on a page, with an interval for every selection.

    RELEASE is a folder, a zip file or a certificate, or a folder of the releases of a series; it is verified first.
    With --static, the page is written into a folder that opens from a disk and on any web server. Without, it is
    served on this machine alone until stopped.

    Example: sudare explore out/demo/release --static explorer
    """
    from sudare.reading.explorer import serve_explorer, write_explorer

    if static is not None:
        page = write_explorer(release, static, **asked)
        if as_json:
            print_json({"page": str(page)})
        elif not quiet:
            print_facts({current_language()("command.page"): str(page)})
        return

    def ready(address: str) -> None:
        import webbrowser

        if as_json:
            print_json({"address": address})
        elif not quiet or no_browser:
            click.echo(address)
        if not no_browser:
            webbrowser.open(address)

    serve_explorer(release, port=port, ready=ready, **asked)
