"""``sudare ledger``: look at the books, check them, set caps, keep accounts of people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sudare.cli.console import (
    Command,
    LocalPath,
    json_option,
    language_option,
    print_json,
    print_note,
    print_table,
    remove_leftovers,
)
from sudare.language.catalogue import current_language
from sudare.language.translation import text

if TYPE_CHECKING:
    from sudare.privacy import Balance, Entry, Ledger


def _common_options(command: Command) -> Command:
    return click.option(
        "--ledger",
        "path",
        type=LocalPath(path_type=Path),
        help="The ledger's file; if not given, the configured one (SUDARE_LEDGER), or sudare-ledger.db here.",
    )(language_option(json_option(command)))


def _cap_options(command: Command) -> Command:
    for option in (
        click.option("--rho", metavar="NUMBER", help="Instead of epsilon: the most rho in all; needs --delta."),
        click.option("--delta", metavar="NUMBER", default="0", show_default=True, help="The most delta in all."),
        click.option("--epsilon", metavar="NUMBER", help="The most epsilon in all: a decimal or a fraction."),
    ):
        command = option(command)
    return command


def _books(path: Path | None, *, whole: bool = False) -> Ledger:
    """The ledger of ``--ledger``, or the configured one; where ``whole``, it has to exist and its chain is verified."""
    from sudare.privacy import Ledger
    from sudare.privacy.settings import default_ledger

    return (Ledger.open if whole else Ledger)(path or default_ledger())


@click.group()
def ledger() -> None:
    """Show what has been spent on each data set and by each account of people, check the chain of rows, set caps.

    Example: sudare ledger show
    """


@ledger.command()
@click.option("--dataset", help="One data set only, with its rows.")
@_common_options
def show(dataset: str | None, path: Path | None, as_json: bool) -> None:
    """Show cap, spending and what is left of every data set, or of one with its rows, and where each number comes from.

    What runs of yours that were killed have left on disks is removed, and named. Releases that were paid for and are
    not out, since a run was killed or failed, are listed at the end.

    Example: sudare ledger show --dataset census
    """
    from sudare.privacy.fingerprint import source_text
    from sudare.privacy.notebook import balance_row, entry_words, explanation
    from sudare.workflow.pending import PendingReleases

    remove_leftovers()
    books = _books(path, whole=True)
    words = current_language()
    records = PendingReleases(books)
    pending, elsewhere = (
        [each.to_json() for each in found if dataset in (None, each.facts.dataset)]
        for found in (records.waiting(), records.of_another_ledger())
    )
    if as_json:
        print_json({**books.to_json(dataset), "pending": pending, "pending_elsewhere": elsewhere})
        return
    found, accounts = books.balances(dataset), books.accounts() if dataset is None else ()
    amounts = words("ledger.cap"), words("ledger.spent"), words("ledger.left")
    columns = *amounts, words("ledger.releases"), words("ledger.remarks")
    print_table((words("ledger.dataset"), *columns), [balance_row(balance, words) for balance in found])
    if accounts:
        print_table((words("ledger.account_name"), *columns), [balance_row(balance, words) for balance in accounts])
    said = [(balance.dataset, *line) for balance in (*found, *accounts) for line in explanation(balance, words).items()]
    if said:
        print_table((words("ledger.of"), words("ledger.where"), ""), said)
    if dataset is not None:
        rows = []
        for row in books.entries(dataset):
            # In English as the row was written, for tools that read it.
            what = (row.kind, row.text) if words.language == "en" else entry_words(row, words)
            rows.append((str(row.id), row.time, *what, source_text(row, words)))
        names = words("ledger.row"), words("ledger.time"), words("ledger.kind")
        print_table((*names, words("ledger.what"), words("ledger.data")), rows)
    if pending or elsewhere:
        waits = words("ledger.pending"), words("ledger.dataset"), words("ledger.time"), words("files.folder")
        done = {True: words("ledger.resume"), False: words("ledger.anew")}
        facts = [(each, done[each["can_resume"]]) for each in pending]
        facts += [(each, words("ledger.elsewhere")) for each in elsewhere]
        shown = [(f["release_id"], f["dataset"], f["created"], f["folder"], remark) for f, remark in facts]
        print_table((*waits, words("ledger.remarks")), shown)


@ledger.command()
@click.option("--head", metavar="HASH", help="The ledger's head in a certificate: it must be in the chain.")
@_common_options
def verify(head: str | None, path: Path | None, as_json: bool) -> None:
    """Check that no row of the ledger was changed, removed or moved.

    Example: sudare ledger verify --head 5f2c...
    """
    books = _books(path, whole=True)
    rows, entries = books.verify(head), books.entries()
    back = [row.id for before, row in pairwise(entries) if row.time < before.time]
    last = entries[-1].hash if entries else None
    if as_json:
        print_json({"ledger": str(books.path), "verified": True, "rows": rows, "head": last, "clock_back": back})
        return
    words = current_language()
    head = last or words("command.no_head")
    click.echo(words("command.chain_whole", path=str(books.path), rows=rows, head=head))
    if back:
        print_note(words("command.clock_back", rows=", ".join(map(str, back))))


@ledger.command("set-cap")
@click.argument("dataset")
@_cap_options
@click.option("--confirm", is_flag=True, help="Change the cap of a data set, or name one much like another.")
@_common_options
def set_cap(dataset: str, path: Path | None, as_json: bool, **asked: Any) -> None:
    """Set the cap of DATASET, or change it with --confirm. One below what is spent leaves nothing.

    Example: sudare ledger set-cap census --epsilon 1 --delta 1e-6
    """
    books = _books(path)
    entry = books.set_cap(dataset, **asked)
    _say_booked(entry, books.balance(dataset), as_json)


@ledger.command()
@click.argument("account")
@click.option("--unit", metavar="NAME", default="person", show_default=True, help="Whose losses are added up.")
@_cap_options
@click.option("--confirm", is_flag=True, help="Change the cap of an account that has one already.")
@_common_options
def account(account: str, path: Path | None, as_json: bool, **asked: Any) -> None:
    """Set the cap of an ACCOUNT of people, which several data sets about the same people share.

    Example: sudare ledger account residents --epsilon 2 --delta 1e-6
    """
    books = _books(path)
    entry = books.set_account(account, **asked)
    _say_booked(entry, books.account(account), as_json)


@ledger.command()
@click.argument("dataset")
@click.argument("account")
@click.option("--part", metavar="NAME", help="Nobody of this data set is in one of another part: the largest counts.")
@click.option("--units", type=int, metavar="NUMBER", help="How many of the data set's units (days, rows) one can be.")
@click.option("--confirm", is_flag=True, help="The data set is new, and its name looks like that of another one.")
@_common_options
def join(dataset: str, account: str, path: Path | None, as_json: bool, **asked: Any) -> None:
    """Let DATASET count in an ACCOUNT of people, with what it has spent so far.

    Example: sudare ledger join census-tokyo residents --part tokyo
    """
    books = _books(path)
    entry = books.join(dataset, account, **asked)
    _say_booked(entry, books.account(account), as_json)


@ledger.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER...")
@click.option(
    "--publisher",
    metavar="KEY",
    required=True,
    help="Whose releases they are: your own key (PEM file), or a public one (PEM file or digits).",
)
@_common_options
@click.pass_context
def reconcile(
    context: click.Context, folders: tuple[Path, ...], publisher: str, path: Path | None, as_json: bool
) -> None:
    """Book the releases in each FOLDER that the ledger lacks: after an older copy was restored, or a ledger was lost.

    A FOLDER is a release, or has releases in it. Those that do not verify are refused; a cap does not stop it. The exit
    code is 1 where one was refused.

    Example: sudare ledger reconcile releases --publisher sudare-publisher.pem
    """
    from sudare.workflow.reconcile import reconcile as run

    made = run(_books(path), folders, publisher=publisher)
    if as_json:
        print_json(made.to_json())
    else:
        words = current_language()
        for each in made.releases:
            if each.refused:
                what, why = words("command.refused"), text(each.refused, words.language)
            else:
                booked = "" if each.row is None else words("command.booked", row=str(each.row))
                what = booked or words("command.known_already")
                why = words("command.release_of", release=str(each.release_id), dataset=str(each.dataset))
            click.echo(words("command.reconciled", folder=str(each.folder), what=what, why=why))
        for balance in made.balances:
            _print_balance(balance)
        for balance in made.over_cap:
            print_note(words("command.over_cap", dataset=balance.dataset))
    if any(each.refused for each in made.releases):
        context.exit(1)


@ledger.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@_common_options
def export(file: Path, path: Path | None, as_json: bool) -> None:
    """Write all rows of the ledger into a new FILE of JSON lines, to keep or to move it.

    Example: sudare ledger export ledger-2026-11.jsonl
    """
    from sudare.privacy.settings import default_ledger
    from sudare.privacy.store import export_ledger

    _say_moved(export_ledger(path or default_ledger(), file), file, as_json)


@ledger.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@_common_options
def import_(file: Path, path: Path | None, as_json: bool) -> None:
    """Make the ledger that was exported into FILE, where none is yet; its chain is verified.

    Example: sudare ledger import ledger-2026-11.jsonl --ledger /srv/books/ledger.db
    """
    from sudare.privacy.settings import default_ledger
    from sudare.privacy.store import import_ledger

    made = path or default_ledger()
    _say_moved(import_ledger(file, made), made, as_json)


def _say_moved(entries: Sequence[Entry], written: Path, as_json: bool) -> None:
    head = entries[-1].hash if entries else None
    if as_json:
        print_json({"file": str(written), "rows": len(entries), "head": head})
    else:
        words = current_language()
        shown = head or words("command.no_head")
        click.echo(words("command.moved", file=str(written), rows=len(entries), head=shown))
        print_note(words("command.moved_key"))


def _say_booked(entry: Entry, balance: Balance, as_json: bool) -> None:
    if as_json:
        print_json(entry.to_json())
    else:
        _print_balance(balance)


def _print_balance(balance: Balance) -> None:
    from sudare.privacy.notebook import balance_line

    words = current_language()
    click.echo(words("command.balance_of", dataset=balance.dataset, balance=balance_line(balance, words)))
