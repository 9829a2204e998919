"""``sudare ledger``: look at the books, check them, set a cap."""

from __future__ import annotations

from pathlib import Path

import click

from sudare.cli.console import Command, json_option, print_json, print_table


def _common_options(command: Command) -> Command:
    return click.option(
        "--ledger",
        "path",
        type=click.Path(path_type=Path),
        help="The ledger's file; if not given, the configured one (SUDARE_LEDGER), or sudare-ledger.db here.",
    )(json_option(command))


@click.group()
def ledger() -> None:
    """Show what has been spent on each data set, check the chain of rows, set caps.

    Example: sudare ledger show
    """


@ledger.command()
@click.option("--dataset", help="One data set only, with its rows.")
@_common_options
def show(dataset: str | None, path: Path | None, as_json: bool) -> None:
    """Show cap, spending and what is left of every data set, or of one with its rows.

    Example: sudare ledger show --dataset census
    """
    from sudare.privacy import Ledger
    from sudare.privacy.same_data import source_text
    from sudare.privacy.settings import default_ledger

    books = Ledger.open(path or default_ledger())
    if as_json:
        print_json(books.to_json(dataset))
        return
    balances = [
        (
            balance.dataset,
            str(balance.cap or "none"),
            balance.spent_text,
            balance.remaining_text,
            str(balance.releases),
            "; ".join(balance.remarks),
        )
        for balance in books.balances(dataset)
    ]
    print_table(("data set", "cap", "spent", "remaining", "releases", "remarks"), balances)
    if dataset is not None:
        rows = [(str(row.id), row.time, row.kind, row.text, source_text(row)) for row in books.entries(dataset)]
        print_table(("row", "time", "kind", "what", "data"), rows)


@ledger.command()
@click.option("--head", metavar="HASH", help="The ledger's head in a certificate: it must be in the chain.")
@_common_options
def verify(head: str | None, path: Path | None, as_json: bool) -> None:
    """Check that no row of the ledger was changed, removed or moved.

    Example: sudare ledger verify --head 5f2c...
    """
    from sudare.privacy import Ledger
    from sudare.privacy.settings import default_ledger

    books = Ledger.open(path or default_ledger())
    rows = books.verify(head)
    if as_json:
        print_json({"ledger": str(books.path), "verified": True, "rows": rows, "head": books.head()})
    else:
        click.echo(f"The ledger {books.path} is whole: {rows} rows, head {books.head() or 'none yet'}.")


@ledger.command("set-cap")
@click.argument("dataset")
@click.option("--epsilon", metavar="NUMBER", help="The most epsilon in all: a decimal or a fraction.")
@click.option("--delta", metavar="NUMBER", default="0", show_default=True, help="The most delta in all.")
@click.option("--rho", metavar="NUMBER", help="Instead of epsilon: the most rho in all; needs --delta.")
@click.option("--confirm", is_flag=True, help="Change the cap of a data set that has one already.")
@_common_options
def set_cap(
    dataset: str, epsilon: str | None, delta: str, rho: str | None, confirm: bool, path: Path | None, as_json: bool
) -> None:
    """Set the cap of DATASET, or change it with --confirm. One below what is spent leaves nothing.

    Example: sudare ledger set-cap census --epsilon 1 --delta 1e-6
    """
    from sudare.privacy import Ledger
    from sudare.privacy.settings import default_ledger

    books = Ledger(path or default_ledger())
    entry = books.set_cap(dataset, epsilon=epsilon, delta=delta, rho=rho, confirm=confirm)
    if as_json:
        print_json(entry.to_json())
    else:
        click.echo(str(books.balance(dataset)))
