"""``sudare plan``: what a recipe would do and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sudare.cli.check import print_check
from sudare.cli.console import (
    for_people,
    json_option,
    language_option,
    print_errors,
    print_facts,
    print_note,
    recipe_argument,
    remove_leftovers,
    stages,
)
from sudare.language.catalogue import current_language
from sudare.language.messages import Progress, Stage, lines, said

if TYPE_CHECKING:
    from sudare.language.catalogue import Words
    from sudare.workflow.plan import Plan


@click.command()
@recipe_argument
@click.option("--private", is_flag=True, help="Also look at the private data, as sudare check does: for you alone.")
@language_option
@json_option
def plan(recipe: str, period: str | None, private: bool, as_json: bool) -> None:
    """Say what RECIPE would do and cost, without touching a private value unless --private asks for it.

    Example: sudare plan recipe.toml
    """
    from sudare.privacy.notebook import guarantee_line, remaining_line
    from sudare.workflow import plan as make_plan

    remove_leftovers()
    with stages(as_json) as progress:
        progress(Progress(Stage.PLANNING))
        made = make_plan(recipe, private=private, period=period)
    if not for_people(made, as_json):
        return
    words, after = current_language(), made.balance_after
    left = "" if after is None else words("command.left", amount=remaining_line(after, words))
    print_facts(
        {
            words("command.dataset"): made.dataset,
            **lines(made.outlook.facts, words),
            **lines(made.resources, words),
            words("command.guarantee"): guarantee_line(made.guarantee, words),
            words("command.budget_now"): _budget_now(made, words),
            words("command.budget_after"): left or words("command.not_enough"),
            words("command.errors_from"): said(made.errors_from, words),
        }
    )
    print_errors(made.errors)
    for remark in made.remarks:
        print_note(said(remark, words))
    if made.look is not None:
        print_check(made.look)


def _budget_now(made: Plan, words: Words) -> str:
    """Where the data set stands; the recipe's own cap, where that of its first release is not set yet."""
    from dataclasses import replace

    from sudare.privacy.notebook import balance_line, balance_row

    now = made.balance
    if made.cap is not None and now.cap is None and now.releases == 0:
        return words("command.no_cap_yet", cap=balance_row(replace(now, cap=made.cap), words)[1])
    return balance_line(now, words)
