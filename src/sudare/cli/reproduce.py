"""``sudare reproduce``: the papers' experiments, their numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import click

from sudare.cli.console import (
    LocalPath,
    json_option,
    language_option,
    print_facts,
    print_json,
    print_table,
    quiet_option,
)
from sudare.language.catalogue import current_language
from sudare.language.messages import OnProgress, Progress, unheard

PAPERS = {
    "sparse-l2": "sparse_l2",
    "top-down": "top_down",
    "k-anonymity": "k_anonymity",
    "rappor-em": "rappor_em",
    "mixture": "mixture",
    "ulsif": "ulsif",
}


@click.command()
@click.argument("paper", type=click.Choice(list(PAPERS)))
@click.option("--quick", is_flag=True, help="Fewer runs, for a first look.")
@click.option("--folder", type=LocalPath(path_type=Path), help="Where to; out/PAPER if not given.")
@language_option
@json_option
@quiet_option
def reproduce(paper: str, quick: bool, folder: Path | None, as_json: bool, quiet: bool) -> None:
    """Run the experiments of PAPER, print its tables beside ours, and write them with figures into a folder.

    The real census is read from the folder that SUDARE_DATA names, or ../shared/data; elsewhere a stand-in is
    invented, and the output says so.

    Example: sudare reproduce sparse-l2 --quick
    """
    module = import_module(f"sudare.papers.{PAPERS[paper]}")
    with _bar(as_json or quiet) as progress:
        made = module.reproduce(folder or Path("out") / paper, quick, progress)
    if as_json:
        print_json(made.to_json())
    elif not quiet:
        print_facts(made.facts)
        for sheet in made.sheets:
            click.echo(f"\n{click.style(sheet.title, bold=True)}")
            print_table(sheet.header, sheet.text_rows)
        written = current_language()("command.files_written", files=", ".join(str(path) for path in made.files))
        click.echo(f"\n{written}")


@contextmanager
def _bar(quiet: bool) -> Iterator[OnProgress]:
    """A function that names the stage now at work; a stage that is counted moves the bar."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield unheard
        return
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    words = current_language()
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(progress: Progress) -> None:
            bar.update(task, description=progress.text(words))
            if progress.total is not None:
                bar.update(task, completed=progress.done - 1, total=progress.total)

        yield show
