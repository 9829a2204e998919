"""``sudare publish``: do it once and spend."""

from __future__ import annotations

import click

from sudare.cli.console import json_option, print_facts, print_json, quiet_option, recipe_argument, stages


@click.command()
@recipe_argument
@json_option
@quiet_option
def publish(recipe: str, as_json: bool, quiet: bool) -> None:
    """Make the release that RECIPE describes, spend its cost, and write its files and certificate.

    Example: sudare publish recipe.toml
    """
    from sudare.publish import publish as run

    with stages(as_json or quiet) as progress:
        made = run(recipe, progress=progress)
    if as_json:
        print_json(made.to_json())
    elif not quiet:
        print_facts(
            {
                "release": made.release_id,
                "folder": str(made.folder),
                "files": ", ".join(made.to_json()["files"]),
                **made.headline,
                "guarantee": str(made.release.guarantee),
                "budget left": made.balance.remaining_text,
            }
        )
        for remark in made.left_out:
            click.echo(f"Note: {remark}")
