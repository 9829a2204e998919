"""``sudare ask``: one number of a released table, with its interval."""

from __future__ import annotations

import click

from sudare.cli.console import for_people, output_options, print_facts
from sudare.errors import ParameterError
from sudare.language.catalogue import current_language


@click.command()
@click.argument("release", type=click.Path())
@click.argument("conditions", nargs=-1, metavar="[ATTRIBUTE=VALUE,...]...")
@click.option("--level", type=float, default=0.9, show_default=True, help="The probability of the interval.")
@click.option("--publisher", metavar="KEY", help="The publisher's public key: a PEM file, or 64 hexadecimal digits.")
@output_options
def ask(
    release: str, conditions: tuple[str, ...], level: float, publisher: str | None, as_json: bool, quiet: bool
) -> None:
    """How many are released where all conditions hold, and between which numbers the truth lies.

    RELEASE is a folder, a zip file or a certificate; it is verified first. Values are those of the released files:
    codes (of a mesh also coarser ones), categories, names of bins, or a range that bins make up. Several values of one
    attribute are separated by commas. Without conditions it is the total.

    Example: sudare ask out/demo/release mesh=5339 sex=f
    """
    from sudare.reading import ask as run
    from sudare.reading import open_release

    where = {}
    for condition in conditions:
        name, equals, values = condition.partition("=")
        if not equals or not name or not values:
            raise ParameterError("a condition is not ATTRIBUTE=VALUE", value=condition, hint="For instance: sex=f")
        where[name] = [value.strip() for value in values.split(",")]
    answer = run(open_release(release, publisher=publisher), where, level=level)
    if for_people(answer, as_json, quiet):
        words = current_language()
        print_facts(
            {
                words("ask.value"): words.number(answer.value),
                words("trust.interval", level=words.percent(level)): words(
                    "trust.from_to", low=words.number(answer.low), high=words.number(answer.high)
                ),
                words("trust.expected"): words.number(round(answer.expected_error, 1)),
            }
        )
