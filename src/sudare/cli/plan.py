"""``sudare plan``: what a recipe would do and cost."""

from __future__ import annotations

import click

from sudare.cli.console import (
    json_option,
    language_option,
    print_errors,
    print_facts,
    print_json,
    recipe_argument,
    remove_leftovers,
    stages,
)
from sudare.words import Progress, Stage, Words, lines, said, spoken_here


@click.command()
@recipe_argument
@language_option("Of notes and mistakes, if not that of SUDARE_LANGUAGE or English.")
@json_option
def plan(recipe: str, language: str | None, as_json: bool) -> None:
    """Say what RECIPE would do and cost, without touching a private value.

    Example: sudare plan recipe.toml
    """
    from sudare.publish import plan as make_plan

    remove_leftovers()
    with stages(as_json) as progress:
        progress(Progress(Stage.PLANNING))
        made = make_plan(recipe)
    if as_json:
        print_json(made.to_json())
        return
    words = Words(language) if language else spoken_here()
    after = made.balance_after
    print_facts(
        {
            "data set": made.dataset,
            **lines(made.outlook.facts, words),
            **lines(made.resources, words),
            "guarantee": str(made.guarantee),
            "budget now": str(made.balance).partition(": ")[2],
            "budget after": "not enough" if after is None else after.remaining_text + " left",
            "errors from": made.errors_from.text(words),
        }
    )
    print_errors(made.errors)
    for remark in made.remarks:
        click.echo(words("plan.note", remark=said(remark, words)))
