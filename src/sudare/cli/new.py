"""``sudare new``: a commented recipe for a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from sudare.cli.console import LocalPath, language_option, print_note
from sudare.errors import RecipeError
from sudare.language.catalogue import current_language

NONE, ALL = "-", "all"
"""Answers to the questions: no column of ids, and every column that can be an attribute."""


@click.command()
@click.argument("file", type=LocalPath())
@click.option("--recipe", type=LocalPath(), default="recipe.toml", show_default=True, help="The recipe to write.")
@click.option("--table", help="The table of a database, or the sheet of an Excel file.")
@click.option("--unit", help="The column that tells persons apart.")
@click.option("--unit-name", help="What is protected, if not a person.")
@click.option("--column", "columns", multiple=True, help="A column to publish by; all that can be, if none is named.")
@click.option("--column-names", help="The columns of a text file whose first line is a row already: age,sex,ward")
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="What the release may spend.")
@click.option("--dataset", help="The name of the data set in the ledger; that of the file, if not given.")
@click.option(
    "--public-values", "confirmed", is_flag=True, help="Categories and bounds read off the data are public knowledge."
)
@language_option
def new(
    file: str,
    recipe: str,
    unit: str | None,
    unit_name: str | None,
    columns: tuple[str, ...],
    column_names: str | None,
    dataset: str | None,
    **asked: Any,
) -> None:
    """Look at FILE, ask what is to be declared, and write a commented recipe beside it.

    What it proposes from the values themselves stands in comments: only you know whether it is public knowledge. Until
    you have decided, only you can read the recipe.

    Example: sudare new people.csv --unit person_id --column sex --column age
    """
    from sudare.privacy.private_files import write_secret
    from sudare.workflow.proposal import columns_to_choose, propose_recipe

    words, asks = current_language(), is_terminal()
    listed = None if column_names is None else [name.strip() for name in column_names.split(",")]
    if asks and unit_name is None:
        unit_name = click.prompt(words("new.unit_name"), default="person", err=True)
    if asks and dataset is None:
        dataset = click.prompt(words("new.dataset"), default=Path(file).name.partition(".")[0], err=True)
    if asks and (unit is None or not columns):
        names, likely = columns_to_choose(file, asked["table"], listed)
        if names and unit is None:
            question = words("new.unit", unit_name=unit_name or "person", columns=words.listing(names))
            unit = click.prompt(question, default=likely or NONE, err=True).strip().removeprefix(NONE)
        if names and not columns:
            chosen = click.prompt(words("new.columns"), default=ALL, err=True)
            columns = () if chosen == ALL else tuple(name.strip() for name in chosen.split(",") if name.strip())
    target = Path(file).parent / recipe
    text = propose_recipe(
        file,
        folder=target.parent,
        unit=unit,
        unit_name=unit_name or "person",
        columns=columns or None,
        column_names=listed,
        dataset=dataset,
        **asked,
    )
    try:
        write_secret(target, text.encode())  # what is read off private values stands in comments
    except FileExistsError:
        raise RecipeError("a file is there already", value=str(target)) from None
    click.echo(words("new.written", path=str(target)))
    print_note(words("new.next", path=str(target)))


def is_terminal() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()
