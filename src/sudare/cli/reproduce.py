"""``sudare reproduce``: the papers' experiments, their numbers beside ours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sudare.cli.console import LocalPath, output_options, print_facts, print_json, print_table
from sudare.language.catalogue import current_language
from sudare.language.messages import OnProgress, Progress, lines, unheard
from sudare.papers.catalogue import BY_KEY, PAPERS, Paper

if TYPE_CHECKING:
    from sudare.papers.reproduction import Reproduction


class _WithPapers(click.Command):
    """A command whose help ends with the list of papers."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - Click's
        words = current_language()
        rows: list[tuple[str, str]] = []
        for paper in PAPERS:
            names = f"{paper.text('authors', words)}{paper.dated}: {paper.text('title', words)}{paper.elsewhere(words)}"
            described = paper.described(words, "says", "function", "recipe", "command", "near", "duration")
            rows += [(paper.key, names), *(("", f"{title}: {text}") for title, text in described.items())]
        quick = sum(paper.minutes[0] for paper in PAPERS)
        with formatter.section(words("paper.papers")):
            formatter.write_dl([*rows, ("all", words("paper.all", quick=words.number(round(quick))))])


@click.command(cls=_WithPapers)
@click.argument("paper", type=click.Choice([*BY_KEY, "all"]))
@click.option("--quick", is_flag=True, help="Fewer runs, for a first look.")
@click.option("--folder", type=LocalPath(path_type=Path), help="Where to; out/PAPER if not given.")
@click.option("--anew", is_flag=True, help="Do not go on with a run that was interrupted: start from the beginning.")
@output_options
def reproduce(paper: str, quick: bool, folder: Path | None, anew: bool, as_json: bool, quiet: bool) -> None:
    """Run the experiments of PAPER, print its tables beside ours, and write them with figures and a page in each
    language into a folder.

    Results are kept as they come: a run that was interrupted goes on where it stopped, with the same command.

    The real census is read from the folder that SUDARE_DATA names, or ../shared/data; elsewhere a stand-in is
    invented, and the output says so.

    Example: sudare reproduce sparse-l2 --quick
    """
    chosen = list(PAPERS) if paper == "all" else [BY_KEY[paper]]
    results = []
    for number, one in enumerate(chosen, 1):
        own = (folder or Path("out")) / one.key if paper == "all" else folder or Path("out") / one.key
        name = f"{one.key} ({number}/{len(chosen)})" if len(chosen) > 1 else one.key
        with _telling_what_is_kept(own) as heard, _bar(as_json or quiet, name) as show:
            made, files = _run(one, own, quick, anew, (heard, show))
        results.append(made.to_json())
        if not as_json and not quiet:
            _print(one, made, files)
    if as_json:
        print_json(results if paper == "all" else results[0])


def _run(
    paper: Paper, folder: Path, quick: bool, anew: bool, listeners: tuple[OnProgress, ...]
) -> tuple[Reproduction, tuple[Path, ...]]:
    """The experiment, its pages, and all files written; what was kept on the way is removed at the end."""
    from sudare.papers.reproduction import forget_units

    def progress(now: Progress) -> None:
        for each in listeners:
            each(now)

    if anew:
        forget_units(folder)
    made: Reproduction = import_module(f"sudare.papers.{paper.module}").reproduce(folder, quick, progress)
    pages = made.write_pages(folder)
    forget_units(folder)
    return made, (*made.files, *pages)


def _print(paper: Paper, made: Reproduction, files: tuple[Path, ...]) -> None:
    words = current_language()
    click.echo(f"{paper.text('authors', words)}{paper.dated}: {paper.text('title', words)}")
    print_facts(lines(made.facts, words) | {words("paper.found"): paper.text("found", words)})
    for sheet in made.sheets:
        click.echo(f"\n{click.style(sheet.title(paper.key, words), bold=True)}")
        print_table(sheet.text_header(words), sheet.text_rows(words))
    written = words("command.files_written", files=", ".join(map(str, files)))
    click.echo(f"\n{written}\n")


@contextmanager
def _telling_what_is_kept(folder: Path) -> Iterator[OnProgress]:
    """Tell a user who interrupts an experiment how much of it is kept, and how to go on."""
    heard: list[Progress] = []
    try:
        yield heard.append
    except KeyboardInterrupt:
        if heard and heard[-1].total is not None:
            done, total = heard[-1].done - 1, heard[-1].total
            click.echo(current_language()("paper.kept", done=done, total=total, folder=str(folder)), err=True)
        raise


@contextmanager
def _bar(quiet: bool, name: str) -> Iterator[OnProgress]:
    """A function that names the unit now at work, how many are done, and how long the rest may take."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield unheard
        return
    columns = (TextColumn(name), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    words = current_language()
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        begun: list[tuple[float, int]] = []

        def show(progress: Progress) -> None:
            said = progress.text(words)
            if progress.total is not None:
                # Units that were kept from an earlier run took no time now.
                begun.append((time.monotonic(), progress.done))
                if (rest := remaining(begun, progress.total)) is not None:
                    said += f"; {words('paper.rest', rest=rest)}"
                bar.update(task, completed=progress.done - 1, total=progress.total)
            bar.update(task, description=said)

        yield show


def remaining(begun: list[tuple[float, int]], total: int) -> str | None:
    """The time for the units from the last of ``begun`` (when, which) on, as the ones before took; None at first.

    >>> remaining([(0.0, 1), (30.0, 2), (60.0, 3)], 10)
    '4:00'
    """
    (start, first), (now, last) = begun[0], begun[-1]
    if last == first:
        return None
    seconds = round((now - start) / (last - first) * (total - last + 1))
    return f"{seconds // 60}:{seconds % 60:02}"
