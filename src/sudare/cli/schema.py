"""``sudare schema``: the JSON Schema of recipes."""

from __future__ import annotations

import click

from sudare.cli.console import language_option, print_json


@click.command()
@language_option
def schema() -> None:
    """Print the JSON Schema of a recipe, for editors that complete and check TOML.

    Example: sudare schema > recipe.schema.json
    """
    from sudare.workflow.job import json_schema

    print_json(json_schema())
