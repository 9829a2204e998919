"""``sudare publish``: do it once and spend."""

from __future__ import annotations

import sys
from typing import Any

import click

from sudare.cli.console import (
    for_people,
    noted_warnings,
    page_options,
    print_facts,
    print_note,
    recipe_argument,
    remove_leftovers,
    stages,
)
from sudare.errors import SudareError
from sudare.language.catalogue import current_language
from sudare.language.messages import lines


def confirm_rows(recipe: str, period: str | None = None) -> None:
    """Look at the private data, and ask before much of them is left out; a publication would refuse by itself."""
    from sudare.cli.check import print_check
    from sudare.workflow.check import check

    with stages(quiet=False) as progress:
        found = check(recipe, period=period, progress=progress)
    if not found.needs_confirmation or found.would_refuse:
        return
    words = current_language()
    print_check(found, err=True)
    click.echo(words("look.asked", share=words.percent(found.share_left_out)), err=True)
    if not click.confirm(words("look.go_on"), err=True):
        raise click.ClickException(words("look.not_spent"))


@click.command()
@recipe_argument
@click.option("--resume", is_flag=True, help="Complete the release that was paid for and is not out; it costs nothing.")
@click.option("--anew", is_flag=True, help="Give that release up, and pay for another one.")
@click.option("--yes", is_flag=True, help="Do not look at the data first and ask, as is done in a terminal.")
@page_options("The language of pages, if not the recipe's or English.")
def publish(
    recipe: str, period: str | None, resume: bool, anew: bool, yes: bool, as_json: bool, quiet: bool, **asked: Any
) -> None:
    """Make the release that RECIPE describes, spend its cost, and write its files, certificate and report.

    In a terminal, the data are looked at first, and you are asked if more than one row in a hundred would not be
    counted.

    Example: sudare publish recipe.toml --language ja
    """
    if resume and anew:
        raise click.UsageError(current_language()("command.two_things"))
    from sudare.privacy.notebook import guarantee_line, remaining_line
    from sudare.workflow.publication import publish as run

    remove_leftovers()
    if not (yes or resume or as_json or quiet) and sys.stdin.isatty() and sys.stderr.isatty():
        confirm_rows(recipe, period)
    with stages(as_json or quiet) as progress, noted_warnings():
        try:
            made = run(recipe, resume=resume, anew=anew, period=period, progress=progress, **asked)
        except KeyboardInterrupt as end:
            if isinstance(end.__cause__, SudareError):  # which names the release
                raise end.__cause__ from None
            raise
    if for_people(made, as_json, quiet):
        words, internal = current_language(), made.internal_report
        pages = {words("command.report"): made.report.name} if made.report else {}
        if internal:
            pages[words("command.internal_report")] = words("command.true_values", path=str(internal))
        print_facts(
            {
                words("command.release"): made.release_id,
                words("command.folder"): str(made.folder),
                words("command.files"): ", ".join(made.to_json()["files"]),
                **pages,
                **lines(made.headline, words),
                words("command.guarantee"): guarantee_line(made.release.guarantee, words),
                words("command.budget_left"): remaining_line(made.balance, words),
            }
        )
        for remark in made.left_out:
            print_note(remark.text(words))
