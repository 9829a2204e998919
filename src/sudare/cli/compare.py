"""``sudare compare``: what a weighted public file answers, and internally what the private records say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sudare.cli.console import LocalPath, for_people, json_option, language_option, print_facts, print_note, print_table
from sudare.language.catalogue import current_language


@click.command()
@click.argument("weighted", type=LocalPath(path_type=Path))
@click.option("--mean", "means", multiple=True, help="A column of numbers; may be given several times.")
@click.option("--share", "shares", multiple=True, help='Columns of values, such as "sex" or "sex,income".')
@click.option("--private", type=LocalPath(), help="The private records: adds their own answers, for internal use.")
@click.option("--weight", default="weight", show_default=True, help="The column of weights.")
@click.option("--level", type=float, default=0.9, show_default=True, help="How often intervals hold the truth.")
@language_option
@json_option
def compare(weighted: Path, level: float, as_json: bool, **asked: Any) -> None:
    """Show what WEIGHTED answers: a public file with a column of weights, or the folder of a release of weights.

    With --private the true answers stand beside, which are not protected: such output must not leave the house.

    Example: sudare compare release --mean hours --share income --private people.csv
    """
    from sudare.privacy import Fact
    from sudare.privacy.notebook import fact_text
    from sudare.reweight.comparison import compare as make_comparison

    made = make_comparison(weighted, level=level, **asked)
    if not for_people(made, as_json):
        return
    words = current_language()
    print_facts(
        {
            words("command.public_rows"): f"{made.public_rows:,}",
            words("command.effective"): words("command.effective_text", number=f"{made.effective_sample_size:,.1f}"),
            **({words("command.internal"): words("command.internal_text")} if made.internal else {}),
        }
    )
    bounded = any(row.low is not None for row in made.rows)
    interval = [words("command.interval_low", level=f"{level:.0%}"), words("command.high")] if bounded else []
    header = [words("command.query"), words("command.weighted"), *interval, words("command.unweighted")]
    header += [words("command.private"), words("command.error")] if made.internal else []
    lines = []
    for row in made.rows:
        numbers = [row.weighted, *([row.low, row.high] if bounded else []), row.unweighted]
        if made.internal:
            numbers += [row.private, None if row.private is None else row.weighted - row.private]
        lines.append([row.query.text(words), *("" if number is None else f"{number:,.4g}" for number in numbers)])
    print_table(header, lines)
    for warning in made.warnings:
        print_note(fact_text(warning, words) if isinstance(warning, Fact) else warning.text(words))
