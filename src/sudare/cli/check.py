"""``sudare check``: a private look at the data before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sudare.cli.console import (
    for_people,
    json_option,
    language_option,
    print_facts,
    print_note,
    print_table,
    recipe_argument,
    remove_leftovers,
    stages,
)
from sudare.language.catalogue import current_language

if TYPE_CHECKING:
    from sudare.workflow.check import Check


@click.command()
@recipe_argument
@click.option("--values", is_flag=True, help="Also show the most frequent values that do not fit: they are private.")
@language_option
@json_option
def check(recipe: str, period: str | None, values: bool, as_json: bool) -> None:
    """Read the private data of RECIPE and say how many rows fit and why the others do not; spends nothing.

    What it prints is exact and private: for the steward alone.

    Example: sudare check recipe.toml
    """
    from sudare.workflow.check import check as look

    remove_leftovers()
    with stages(as_json) as progress:
        found = look(recipe, values=values, period=period, progress=progress)
    if not for_people(found, as_json):
        return
    print_check(found)


def print_check(found: Check, *, err: bool = False) -> None:
    """The numbers, the reasons and the remarks, marked as internal."""
    from sudare.workflow.check import reason_rows, remarks, summary

    words = current_language()
    click.echo(click.style(words("look.internal"), fg="yellow"), err=err)
    print_facts(summary(found, words), err=err)
    if found.reasons:
        print_table(*reason_rows(found, words), err=err)
    for remark in remarks(found, words):
        print_note(remark, err=err)
