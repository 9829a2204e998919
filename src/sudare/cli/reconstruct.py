"""``sudare reconstruct``: distributions behind a released file of perturbed records."""

from __future__ import annotations

from pathlib import Path

import click

from sudare.cli.console import LocalPath, json_option, language_option, print_json, print_table, quiet_option
from sudare.language.catalogue import current_language


@click.command()
@click.argument("released", type=LocalPath(path_type=Path))
@click.option("--column", "columns", multiple=True, help="A column to recover; all if none is named.")
@click.option("--bins", type=click.IntRange(min=1), default=30, show_default=True, help="Bins of a number.")
@click.option("--folder", type=LocalPath(path_type=Path), help="Where tables and pictures go; out/reconstruct.")
@language_option
@json_option
@quiet_option
def reconstruct(
    released: Path, columns: tuple[str, ...], bins: int, folder: Path | None, as_json: bool, quiet: bool
) -> None:
    """Recover the distributions behind the perturbed records in the file RELEASED, with the noise that its certificate
    states, and write them as tables and pictures.

    Example: sudare reconstruct release/records.parquet --bins 20
    """
    from sudare.reconstruct.released import recover

    made = recover(released, columns=columns, bins=bins, folder=folder or Path("out") / "reconstruct")
    if as_json:
        print_json(made.to_json())
    elif not quiet:
        words = current_language()
        for name, found in made.histograms.items():
            click.echo(words("command.distribution", column=click.style(name, bold=True), method=found.method))
            print_table(
                (words("command.bin"), words("command.probability")),
                [(label, f"{share:.4f}") for label, share in made.rows(name)],
            )
        click.echo(words("command.files_written", files=", ".join(str(path) for path in made.files)))
