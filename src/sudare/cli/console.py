"""How commands speak: tables on a terminal, plain lines in a pipe, JSON on request, progress on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")(command)


def quiet_option(command: Command) -> Command:
    """``--quiet``."""
    return click.option("--quiet", is_flag=True, help="Print nothing but errors.")(command)


def recipe_argument(command: Command) -> Command:
    """The recipe file."""
    return click.argument("recipe", type=click.Path())(command)


def print_json(value: object) -> None:
    """Indented JSON on standard output."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on a terminal; where the output is piped, one line per row with tabs between, for tools."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if console.is_terminal:
        table = Table(*header)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)
    else:
        for row in (header, *rows):
            click.echo("\t".join(row))


def print_facts(facts: dict[str, str]) -> None:
    """Names and what they are, one a line."""
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{click.style(name.ljust(width), bold=True)}  {value}")


def print_errors(rows: Sequence[dict[str, Any]]) -> None:
    """Error by area size."""
    print_table(
        ("cells", "about km2", "root mean square error", "mean absolute error"),
        [
            (
                f"{row['cells']:,}",
                "" if row["square_km"] is None else f"{row['square_km']:,.4g}",
                f"{row['root_mean_square_error']:,.4g}",
                "" if (mean := row.get("mean_absolute_error")) is None else f"{mean:,.4g}",
            )
            for row in rows
        ],
    )


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function that names the stage now at work; shown with a running clock where a person watches."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda stage: progress.update(task, description=stage)
