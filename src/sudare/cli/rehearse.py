"""``sudare rehearse``: the release on data that are not private."""

from __future__ import annotations

from pathlib import Path

import click

from sudare.cli.console import (
    LocalPath,
    for_people,
    page_options,
    print_errors,
    print_facts,
    recipe_argument,
    remove_leftovers,
    stages,
)
from sudare.language.catalogue import Words, current_language
from sudare.language.messages import Progress, Stage, lines, said


@click.command()
@recipe_argument
@click.option("--page", type=LocalPath(path_type=Path), help="Write a page that compares true and released.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another draw of the noise.")
@page_options("The language of pages, if not the recipe's or English.")
def rehearse(
    recipe: str, period: str | None, page: Path | None, language: str | None, seed: int, as_json: bool, quiet: bool
) -> None:
    """Do what RECIPE says on synthetic people, or on its public table, and show the error. Spends nothing.

    Example: sudare rehearse recipe.toml --page rehearsal.html
    """
    from sudare.workflow.rehearsal import rehearse as run
    from sudare.workflow.rehearsal import write_page

    remove_leftovers()
    with stages(as_json or quiet) as progress:
        made = run(recipe, seed=seed, period=period, progress=progress)
        if page is not None:
            progress(Progress(Stage.DRAWING))
            write_page(made, page, words=Words(language or "en"))
    if for_people(made, as_json, quiet):
        words = current_language()
        runs = {words("command.rehearsed_on"): said(made.basis, words), words("command.runs"): str(made.repetitions)}
        print_facts({**runs, **lines(made.facts, words)})
        print_errors(made.errors)
