"""``sudare demo``: the whole way on an invented city."""

from __future__ import annotations

from pathlib import Path

import click

from sudare.cli.console import LocalPath, for_people, output_options, print_errors, print_facts, stages
from sudare.language.catalogue import current_language


@click.command()
@click.option("--folder", type=LocalPath(path_type=Path), default="out/demo", show_default=True, help="Where to.")
@click.option("--people", type=click.IntRange(min=1), default=3_000_000, show_default=True, help="Inhabitants.")
@output_options
def demo(folder: Path, people: int, as_json: bool, quiet: bool) -> None:
    """Invent a city, publish its population by mesh, sex and age, and compare the release with the truth.

    Example: sudare demo --people 200000
    """
    from sudare.cli.demo_city import run_demo

    with stages(as_json or quiet) as progress:
        made = run_demo(folder, people=people, progress=progress)
    if for_people(made, as_json, quiet):
        print_facts(made.facts(current_language()))
        print_errors(made.rehearsal.errors)
