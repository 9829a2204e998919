"""How commands speak: tables on a terminal, plain lines in a pipe, JSON on request, progress on standard error."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from sudare.errors import PrivacyWarning
from sudare.language.catalogue import LANGUAGES, Words, current_language
from sudare.language.messages import OnProgress, Value, said, unheard
from sudare.language.translation import text

Command = TypeVar("Command", bound=Callable[..., Any])


class LocalPath(click.Path):
    """A path of this machine: an address such as ``https://...`` is refused by name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from sudare.engines.files import refuse_address

        refuse_address(value)
        return super().convert(value, param, ctx)


def json_option(command: Command) -> Command:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")(command)


def quiet_option(command: Command) -> Command:
    """``--quiet``."""
    return click.option("--quiet", is_flag=True, help="Print nothing but errors.")(command)


def language_option(command: Command) -> Command:
    """``--language`` of what a command prints."""
    return _language("Of what is printed, if not that of SUDARE_LANGUAGE or English.", expose_value=False)(command)


def page_language_option(help_text: str, default: str | None = None) -> Callable[[Command], Command]:
    """``--language``: of pages, and of what is printed."""
    return _language(help_text, default=default, show_default=default is not None)


def _language(help_text: str, **more: Any) -> Callable[[Command], Command]:
    choice = click.Choice(LANGUAGES)
    return click.option("--language", type=choice, help=help_text, **more)


def output_options(command: Command) -> Command:
    """``--language`` of what is printed, ``--json`` and ``--quiet``."""
    return language_option(json_option(quiet_option(command)))


def page_options(help_text: str, default: str | None = None) -> Callable[[Command], Command]:
    """``--language`` of pages and of what is printed, ``--json`` and ``--quiet``."""
    return lambda command: page_language_option(help_text, default)(json_option(quiet_option(command)))


def recipe_argument(command: Command) -> Command:
    """The recipe file, and ``--period`` of a series."""
    period = click.option("--period", metavar="NAME", help="The period, where RECIPE is a series.")
    return click.argument("recipe", type=LocalPath())(period(command))


def print_json(value: object) -> None:
    """Indented JSON on standard output."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def for_people(result: Any, as_json: bool, quiet: bool = False) -> bool:
    """Whether a result is to be said to people; with ``--json`` it is printed for machines instead."""
    if as_json:
        print_json(result.to_json())
    return not (as_json or quiet)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, err: bool = False) -> None:
    """A table on a terminal; where the output is piped, one line per row with tabs between, for tools."""
    if (sys.stderr if err else sys.stdout).isatty() or os.environ.get("FORCE_COLOR"):
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for name in header:
            table.add_column(name, overflow="fold")  # Japanese has no spaces to break a line at
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        Console(stderr=err).print(table)
    else:
        for row in (header, *rows):
            click.echo("\t".join(row), err=err)


def print_facts(facts: dict[str, str], *, err: bool = False) -> None:
    """Names and their values, one pair a line."""
    from rich.cells import cell_len

    width = max(map(cell_len, facts))
    for name, value in facts.items():
        click.echo(f"{click.style(name, bold=True)}{' ' * (width - cell_len(name))}  {value}", err=err)


def print_note(text: str, *, err: bool = False) -> None:
    """A remark."""
    click.echo(current_language()("plan.note", remark=text), err=err)


def print_errors(rows: Sequence[dict[str, Any]]) -> None:
    """Rows of a rehearsal or a plan: a column for each name that has a value somewhere."""
    from sudare.recipe.kind import ranges

    words = current_language()
    rows = ranges(rows, lambda value: _cell(value, words))
    names = [name for name in dict.fromkeys(key for row in rows for key in row) if name != "block_level"]
    shown = [name for name in names if any(row.get(name) is not None for row in rows)]
    header = [words.label("column", name).replace("_", " ") for name in shown]
    print_table(header, [[_cell(row.get(name), words) for name in shown] for row in rows])


def _cell(value: Value | None, words: Words) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"  # 1.3e+04 is no number of people
    return said(value, words)


@contextmanager
def noted_warnings() -> Iterator[None]:
    """Warnings about privacy as notes on standard error, in the language of mistakes; others as Python says them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.simplefilter("always", PrivacyWarning)
        try:
            yield
        finally:
            said = [each.message for each in caught if isinstance(each.message, PrivacyWarning)]
            others = [each for each in caught if not isinstance(each.message, PrivacyWarning)]
    for each in others:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    for message in said:
        print_note(text(message, current_language().language), err=True)


def remove_leftovers() -> None:
    """Remove what runs of this user that were killed have left on disks, and say so on standard error."""
    from sudare.engines.scratch import remove_leftovers as remove

    found = remove()
    words = current_language()
    if found.removed:
        click.echo(words("scratch.removed", rooms=words.listing([str(room) for room in found.removed])), err=True)
    if found.kept:
        click.echo(words("scratch.kept", rooms=words.listing([str(room) for room in found.kept])), err=True)


@contextmanager
def stages(quiet: bool) -> Iterator[OnProgress]:
    """A function that names the stage now at work; shown with a running clock where a person watches."""
    if quiet or not sys.stderr.isatty():
        yield unheard
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    words = current_language()
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda progress: bar.update(task, description=progress.text(words))
