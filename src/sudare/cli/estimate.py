"""``sudare estimate``: counts from devices' reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sudare.cli.console import LocalPath, for_people, output_options, print_facts, print_table
from sudare.language.catalogue import current_language


@click.command()
@click.argument("reports", type=LocalPath(path_type=Path), nargs=-1, required=True)
@click.option("--method", default="auto", show_default=True, help="auto, mle, simplex, em, or ems (for numbers).")
@click.option("--level", type=float, default=0.9, show_default=True, help="Probability that an interval holds.")
@click.option("--question", help="Of reports to several questions, the name of the one to estimate.")
@click.option("--labels", type=LocalPath(path_type=Path), help="A text file that names the values, one a line.")
@click.option("--top", type=click.IntRange(min=1), help="Print only so many of the largest counts.")
@click.option("--csv", "table", type=LocalPath(path_type=Path), help="Write all counts into this file.")
@output_options
def estimate(
    reports: tuple[Path, ...],
    labels: Path | None,
    top: int | None,
    table: Path | None,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> None:
    """Estimate how many people hold each value, from files of REPORTS (.parquet, .jsonl) or a tally (.json).

    Example: sudare estimate reports.parquet --method em --top 10
    """
    from sudare.local import estimate as run
    from sudare.local.estimation import named_rows, read_labels, write_csv
    from sudare.local.files import open_reports
    from sudare.privacy.notebook import guarantee_line

    made = run(open_reports(reports), **asked)
    rows = named_rows(made, read_labels(labels, made.encoding.size) if labels else None)
    if table is not None:
        write_csv(rows, table)
    if for_people(made, as_json, quiet):
        words, coded = current_language(), made.encoding
        print_facts(
            {
                words("command.reports"): f"{made.reports:,}",
                words("command.encoding"): words("command.encoding_text", name=coded.name, number=coded.size),
                words("command.method"): made.method,
                words("command.guarantee"): guarantee_line(made.guarantee, words),
            }
        )
        shown = sorted(rows, key=lambda row: -row.people)[:top] if top else rows
        names = [words(f"command.{name}") for name in ("value", "people", "standard_error", "high")]
        header = [*names[:3], words("command.low", level=f"{asked['level']:g}"), names[3]]
        print_table(header, [(row.label, *(f"{number:,.1f}" for number in row[1:])) for row in shown])
