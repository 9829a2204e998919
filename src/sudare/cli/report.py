"""``sudare report``: draw the public report of a release again."""

from __future__ import annotations

import click

from sudare.cli.console import for_people, page_options, print_facts
from sudare.language.catalogue import current_language


@click.command()
@click.argument("release", type=click.Path())
@click.option("--key", metavar="KEY", help="The publisher's private key, to list the report as certified: a PEM file.")
@page_options("The language of the report, if not that of the one before.")
def report(release: str, language: str | None, key: str | None, as_json: bool, quiet: bool) -> None:
    """Draw the public report of RELEASE (its folder, or its certificate) again, from the released files alone.

    With the publisher's key it goes into the folder and onto the signed list there. Without, one that is listed
    already is drawn byte for byte; any other is written next to the folder, and is not certified.

    Example: sudare report out/demo/release --language ja
    """
    from sudare.workflow.pages import draw_report

    made = draw_report(release, language=language, key=key)
    if for_people(made, as_json, quiet):
        words = current_language()
        print_facts(
            {
                words("command.report"): str(made.path),
                words("command.language"): made.language,
                words("command.certified"): words(
                    "command.certified_yes" if made.certified else "command.certified_no"
                ),
            }
        )
