"""``sudare verify``: check somebody's release."""

from __future__ import annotations

import click

from sudare.cli.console import LocalPath, for_people, output_options
from sudare.language.catalogue import current_language


@click.command()
@click.argument("certificate", type=LocalPath())
@click.option("--publisher", metavar="KEY", help="The publisher's public key: a PEM file, or 64 hexadecimal digits.")
@output_options
def verify(certificate: str, publisher: str | None, as_json: bool, quiet: bool) -> None:
    """Check a release from its CERTIFICATE (release.json) and the files beside it: sums, signs, hashes, signature.

    A report must be on the publisher's signed list (reports.json). Files that the publisher did not certify are named.

    Example: sudare verify out/demo/release/release.json
    """
    from sudare.workflow.certificate import verify as run

    result = run(certificate, publisher=publisher)
    if for_people(result, as_json, quiet):
        words = current_language()
        for check in result.said(words):
            click.echo(f"{click.style(words('command.checked'), fg='green')}  {check}")
        for remark in result.reports.remarks:
            click.echo(f"{click.style(words('command.remarked'), fg='yellow')}  {remark.text(words)}")
