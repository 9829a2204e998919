"""``sudare publish``: do it once and spend."""

from __future__ import annotations

import click

from sudare.cli.console import (
    json_option,
    language_option,
    noted_warnings,
    print_facts,
    print_json,
    quiet_option,
    recipe_argument,
    remove_leftovers,
    spoken,
    stages,
)
from sudare.errors import SudareError
from sudare.words import lines


@click.command()
@recipe_argument
@click.option("--resume", is_flag=True, help="Complete the release that was paid for and is not out; it costs nothing.")
@click.option("--anew", is_flag=True, help="Give that release up, and pay for another one.")
@language_option("The language of pages, if not the recipe's or English.")
@json_option
@quiet_option
def publish(recipe: str, resume: bool, anew: bool, language: str | None, as_json: bool, quiet: bool) -> None:
    """Make the release that RECIPE describes, spend its cost, and write its files, certificate and report.

    Example: sudare publish recipe.toml --language ja
    """
    if resume and anew:
        raise click.UsageError("--resume and --anew are two different things")
    from sudare.publish import publish as run

    remove_leftovers()
    with stages(as_json or quiet) as progress, noted_warnings():
        try:
            made = run(recipe, language=language, resume=resume, anew=anew, progress=progress)
        except KeyboardInterrupt as end:
            if isinstance(end.__cause__, SudareError):  # which names the release
                raise end.__cause__ from None
            raise
    if as_json:
        print_json(made.to_json())
    elif not quiet:
        words = spoken(click.get_current_context())
        print_facts(
            {
                "release": made.release_id,
                "folder": str(made.folder),
                "files": ", ".join(made.to_json()["files"]),
                **({"report": made.report.name} if made.report else {}),
                **({"internal report": f"{made.internal_report} (true values)"} if made.internal_report else {}),
                **lines(made.headline, words),
                "guarantee": str(made.release.guarantee),
                "budget left": made.balance.remaining_text,
            }
        )
        for remark in made.left_out:
            click.echo(f"Note: {remark.text(words)}")
