"""``sudare audit``: look for breaches in this installation."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sudare.cli.console import for_people, page_options, print_facts, print_table, stages
from sudare.language.catalogue import Words, current_language


@click.command()
@click.option("--quick", is_flag=True, help="A minute instead of several, with weaker bounds.")
@click.option("--exact", is_flag=True, help="All outcomes of small tables instead: the largest loss as a fraction.")
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path("out/audit"), show_default=True, help="Where to."
)
@page_options("Of the page.", default="en")
@click.pass_context
def audit(
    context: click.Context, quick: bool, exact: bool, folder: Path, language: str, as_json: bool, quiet: bool
) -> None:
    """Try to tell neighbours apart by their releases, on invented people, and write a report of what was tried.

    No private data are touched. The exit code is 1 when something was found.

    Example: sudare audit --quick
    """
    if quick and exact:
        raise click.UsageError(current_language()("command.two_forms"))
    from sudare.audit import audit as run

    try:
        from sudare.collector.audited import collector_findings
    except ImportError:  # the extra `collector` is not installed
        collector_findings = None  # type: ignore[assignment]  # a function, or nothing more to try
    # The full form tries two parts at a time: its two longest take as long as all others together.
    processes = 1 if quick else min(2, os.cpu_count() or 1)
    with stages(quiet or as_json) as progress:
        made = run(
            folder,
            quick=quick,
            exact=exact,
            words=Words(language),
            progress=progress,
            processes=processes,
            more=collector_findings,
        )
    if for_people(made, as_json, quiet):
        said = current_language()
        print_facts(made.facts(said) | {said("command.written"): f"{folder / 'audit.json'}, {folder / 'audit.html'}"})
        if failed := [finding for finding in made.findings if exact or not finding.passed]:
            rows = [
                (said(f"audit.short_{one.part}"), one.named(said), one.figure(said), one.allowed(said))
                for one in failed
            ]
            print_table([said(f"audit.column_{name}") for name in ("part", "what", "seen", "allowed")], rows)
    if not made.passed:
        context.exit(1)
