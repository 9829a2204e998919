"""``sudare reconstruct``: distributions behind a released file of perturbed records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from sudare.cli.console import LocalPath, for_people, output_options, print_table
from sudare.language.catalogue import current_language


@click.command()
@click.argument("released", type=LocalPath(path_type=Path))
@click.option("--column", "columns", multiple=True, help="A column to recover; all if none is named.")
@click.option("--bins", type=click.IntRange(min=1), default=30, show_default=True, help="Bins of a number.")
@click.option(
    "--method",
    type=click.Choice(["auto", "ibt", "mixture"]),
    default="auto",
    show_default=True,
    help="Iterative Bayes, a Gaussian mixture, or whichever explains the records better.",
)
@click.option("--components", "-k", type=click.IntRange(min=1), help="Gaussians of a mixture; chosen if not given.")
@click.option(
    "--covariance",
    type=click.Choice(["full", "diagonal", "pca"]),
    default="full",
    show_default=True,
    help="Of a mixture over several columns.",
)
@click.option(
    "--fit",
    type=click.Choice(["exact", "gradient"]),
    default="exact",
    show_default=True,
    help="How a mixture is fitted: exact EM, or by gradients as the paper prints it.",
)
@click.option("--cross", multiple=True, metavar="A,B", help="Two columns whose cross table is wanted.")
@click.option("--clusters", is_flag=True, help="Write the likeliest component of each record; takes a mixture.")
@click.option("--folder", type=LocalPath(path_type=Path), help="Where tables and pictures go; out/reconstruct.")
@output_options
def reconstruct(
    released: Path, components: int | None, cross: tuple[str, ...], as_json: bool, quiet: bool, **asked: Any
) -> None:
    """Recover the distributions behind the perturbed records in the file RELEASED, with the noise that its certificate
    states, and write them as tables and pictures.

    Example: sudare reconstruct release/records.parquet --bins 20
    """
    from sudare.reconstruct.released import recover

    asked["folder"] = asked["folder"] or Path("out") / "reconstruct"
    made = recover(released, components=components or "auto", cross=[_pair(each) for each in cross], **asked)
    if for_people(made, as_json, quiet):
        words = current_language()
        for name, found in made.histograms.items():
            click.echo(words("command.distribution", column=click.style(name, bold=True), method=found.method))
            print_table(
                (words("command.bin"), words("command.probability")),
                [(label, f"{share:.4f}") for label, share in made.rows(name)],
            )
        for pair in made.crossed:
            first, *rest = made.cross_rows(pair)
            print_table(first, rest)
        if made.clusters is not None:
            counted = enumerate(np.bincount(made.clusters).tolist())
            rows = [(str(number), words.number(count)) for number, count in counted]
            print_table((words("command.component"), words("command.records")), rows)
        click.echo(words("command.files_written", files=", ".join(str(path) for path in made.files)))


def _pair(text: str) -> tuple[str, str]:
    names = text.split(",")
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise click.BadParameter(text, param_hint="--cross")
    return names[0], names[1]
