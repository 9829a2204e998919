"""``sudare plan``: what a recipe would do and cost."""

from __future__ import annotations

import click

from sudare.cli.console import (
    in_words,
    json_option,
    language_option,
    print_errors,
    print_facts,
    print_json,
    print_note,
    recipe_argument,
    remove_leftovers,
    stages,
)
from sudare.words import current_language, phrase, text


@click.command()
@recipe_argument
@language_option
@json_option
def plan(recipe: str, as_json: bool) -> None:
    """Say what RECIPE would do and cost, without touching a private value.

    Example: sudare plan recipe.toml
    """
    from sudare.privacy.shown import balance_line, guarantee_line, remaining_text
    from sudare.publish import plan as make_plan

    remove_leftovers()
    with stages(as_json) as progress:
        progress("planning")
        made = make_plan(recipe)
    if as_json:
        print_json(made.to_json())
        return
    words, after = current_language(), made.balance_after
    left = "" if after is None else words("command.left", amount=remaining_text(after, words))
    print_facts(
        {
            words("command.dataset"): made.dataset,
            **in_words(made.outlook.facts | made.resources),
            words("command.guarantee"): guarantee_line(made.guarantee, words),
            words("command.budget_now"): balance_line(made.balance, words),
            words("command.budget_after"): left or words("command.not_enough"),
            words("command.errors_from"): phrase(made.errors_from, words),
        }
    )
    print_errors(made.errors)
    for note in made.notes:
        print_note(text(note, words.language))
