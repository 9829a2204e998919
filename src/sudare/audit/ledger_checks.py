"""The ledger and the certificate of a publication: they must be right, and later changes must be noticed.

The guarantee of a release is worth as much as the sum in the ledger and the certificate that states it. So a table is
published under a cap that is enough for one and a half: its row must be on the disk before noise is drawn, at the price
that is promised, and a second release must be refused and leave nothing. Then the release is tampered with, and
`verify` must see it; and so are the rows of a ledger.

`completed_findings` is about releases that are interrupted after they were paid for, and completed later: with the same
noise, never with a second draw. While a publication runs to its end, its folder is copied right after the payment: that
copy is what a kill would have left. It replaces the folder and is completed, and must give the bytes of the run that
was not interrupted; on the data of a neighbour it must be refused.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from sudare.audit.finding import Finding, Wanted, every
from sudare.audit.neighbours import write_public
from sudare.audit.publications import QUICK_KINDS, PublicationCase, other_kinds, table
from sudare.audit.residents import AGES
from sudare.audit.statements import Rules, rule_finding
from sudare.errors import BudgetError, LedgerError, PaidError, VerificationError
from sudare.language.messages import Progress, Stage
from sudare.privacy import Cap, Guarantee, Ledger
from sudare.workflow.certificate import verify
from sudare.workflow.folder import CERTIFICATE
from sudare.workflow.pending import PendingReleases
from sudare.workflow.publication import publish


def completed_findings(folder: Path, wanted: Wanted = every) -> Iterator[Finding]:
    """A finding for each kind of recipe."""
    folder.mkdir()
    others = [case for case in other_kinds() if case.name in QUICK_KINDS]
    for case in (table("table, tree, ages", '"tree"', "epsilon = 3", domain=AGES, page=True), *others):
        kind = case.name.partition(",")[0]
        if not wanted("behaviour", name := f"publish, completed, {kind}"):
            continue
        place = folder / kind
        place.mkdir()
        write_public(place)
        yield rule_finding(name, completed_rules(case, place, folder / f"{kind}, killed"))


def completed_rules(case: PublicationCase, folder: Path, killed: Path) -> Rules:
    """One recipe, published and completed in ``folder``; ``killed`` is the copy."""
    recipe, (data, neighbour) = folder / "recipe.toml", list(case.world(1).values())[:2]
    recipe.write_text(case.recipe, encoding="utf-8", newline="\n")
    case.write(data, folder / case.private)

    def keep(progress: Progress) -> None:
        if progress.stage is Stage.PROTECTING:
            shutil.copytree(folder, killed)

    whole = _bytes_of(publish(recipe, progress=keep).folder)
    left = bool(list(PendingReleases(Ledger(folder / "ledger.db")).folder.glob("*")))
    shutil.rmtree(folder)
    shutil.copytree(killed, folder)
    records = PendingReleases(Ledger(folder / "ledger.db"))
    named = len(records.waiting()) == 1
    silent = _refused_to_resume(recipe, resume=False)
    case.write(neighbour, folder / case.private)
    other = _refused_to_resume(recipe, resume=True)
    shutil.copy(killed / case.private, folder / case.private)
    completed = _bytes_of(publish(recipe, resume=True).folder)
    return {
        "a_release_that_was_paid_for_and_is_not_out_is_named": named,
        "it_is_not_paid_for_a_second_time_unawares": silent,
        "it_is_not_completed_on_the_data_of_others": other,
        "completed_it_is_the_one_that_was_paid_for": completed == whole,
        "completing_costs_nothing": Ledger(folder / "ledger.db").balance("audit").releases == 1,
        "no_key_of_noise_is_kept_of_a_release_that_is_out": not left and not records.folder.exists(),
    }


def _refused_to_resume(recipe: Path, *, resume: bool) -> bool:
    refused = _refused(lambda: publish(recipe, resume=resume), PaidError)
    return refused and not (recipe.parent / "release").exists()


def _refused(action: Callable[[], object], *errors: type[Exception]) -> bool:
    try:
        action()
    except errors:
        return True
    return False


def _bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


COST, CAP = Fraction(2), Fraction(3)
OTHERS = ("again", "other", "stopped")
"""The same once more, under another name of the data, and under one that is confirmed and stopped in the middle."""


class _Stopped(Exception):  # noqa: N818 - nothing is wrong: it stands for a power cut
    """Ends a publication in its middle."""


def book_findings(folder: Path) -> Iterator[Finding]:
    """A finding for the ledger, and one for the certificate of the release that it paid for."""
    folder.mkdir()
    case = table("books", '"tree"', f"epsilon = {COST}")
    text = case.recipe.replace("epsilon = 1000", f"epsilon = {CAP}").replace(
        "public = false", "public = false\ninternal = true"
    )
    (folder / "recipe.toml").write_text(text, encoding="utf-8", newline="\n")
    renamed = {name: text.replace('"audit"', f'"{name}"').replace('"release"', f'"{name}"') for name in OTHERS}
    renamed["again"] = renamed["again"].replace('dataset = "again"', 'dataset = "audit"')
    renamed["stopped"] = renamed["stopped"].replace("[ledger]\n", "[ledger]\nconfirm_same_data = true\n")
    for name, changed in renamed.items():
        (folder / f"{name}.toml").write_text(changed, encoding="utf-8", newline="\n")
    case.write(case.world(0)["data"], folder / case.private)
    yield rule_finding("publish, ledger", ledger_rules(folder))
    yield rule_finding("publish, certificate", certificate_rules(folder / "release", folder / "ledger.db"))
    yield rule_finding("publish, rows of the ledger", row_rules(folder / "rows.db"))


def ledger_rules(folder: Path) -> Rules:
    """What was kept by a release, by one too many, and by one that was stopped when it was paid for."""
    ledger = Ledger(folder / "ledger.db")
    releases: dict[str, int] = {}

    def watch(progress: Progress) -> None:
        releases[progress.stage] = ledger.balance("audit").releases

    made = publish(folder / "recipe.toml", progress=watch)
    internal = made.internal_report
    balance = ledger.balance("audit")
    refused = _refused(lambda: publish(folder / "again.toml"), BudgetError, LedgerError)
    other = _refused(lambda: publish(folder / "other.toml"), BudgetError, LedgerError)

    def stop(progress: Progress) -> None:
        if progress.stage is Stage.PROTECTING:
            raise _Stopped

    stopped = _refused(lambda: publish(folder / "stopped.toml", progress=stop), PaidError, _Stopped)
    booked = stopped and ledger.balance("stopped").releases == 1 and not (folder / "stopped").exists()
    return {
        "nothing_is_booked_before_the_data_are_read": releases.get(Stage.READING) == 0,
        "the_row_is_on_the_disk_before_noise_is_drawn": releases.get(Stage.PROTECTING) == 1,
        "the_cost_that_is_booked_is_the_one_that_is_promised": balance.spent.epsilon == COST,
        "what_is_left_is_the_cap_less_the_cost": balance.remaining is not None
        and balance.remaining.epsilon == CAP - COST,
        "a_release_above_what_is_left_is_refused": refused and ledger.balance("audit").releases == 1,
        "the_same_data_under_another_name_are_refused": other,
        "a_refused_release_writes_nothing": not (folder / "again").exists(),
        "a_release_that_fails_stays_booked_and_is_not_written": booked,
        "true_values_are_in_no_file_but_the_owner_s": internal is not None
        and made.folder not in internal.parents
        and internal.stat().st_mode & 0o077 == 0,
    }


def certificate_rules(release: Path, ledger: Path) -> Rules:
    """What `verify` says of a release, and of the same with something changed."""
    certificate = json.loads((release / CERTIFICATE).read_text(encoding="utf-8"))
    sound = _verified(release)
    names = [path.name for path in sorted(release.iterdir()) if path.name != CERTIFICATE]
    changed, missing = [], []
    for name in names:
        kept = (release / name).read_bytes()
        (release / name).write_bytes(bytes([kept[0] ^ 1]) + kept[1:])
        changed.append(_verified(release))
        (release / name).unlink()
        missing.append(_verified(release))
        (release / name).write_bytes(kept)
    promised = certificate | {"guarantee": certificate["guarantee"] | {"epsilon": "1"}}
    (release / CERTIFICATE).write_text(json.dumps(promised), encoding="utf-8", newline="\n")
    lied = _verified(release)
    (release / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8", newline="\n")
    return {
        "a_sound_release_is_verified": sound,
        "its_head_is_in_the_ledger": Ledger(ledger).verify(certificate["ledger_head"]) > 0,
        "a_changed_file_is_refused": not any(changed) and len(changed) > 1,
        "a_missing_file_is_refused": not any(missing),
        "a_changed_promise_is_refused": not lied,
        "another_publisher_is_refused": not _verified(release, "00" * 32),
    }


def _verified(release: Path, publisher: str | None = None) -> bool:
    try:
        return verify(release, publisher=publisher).ok
    except VerificationError:
        return False


def row_rules(path: Path) -> Rules:
    """Names, ids and rows of a ledger, without a publication."""
    ledger, cost = Ledger(path), Guarantee("epsilon-DP", epsilon=Fraction(1))
    cap = Cap.of(epsilon=3)
    ledger.spend("caf\u00e9", cost, "first", default_cap=cap)
    ledger.spend("cafe\u0301", cost, "second", default_cap=cap)
    both = ledger.balance("caf\u00e9").releases == 2
    once = _refused(lambda: ledger.spend("caf\u00e9", cost, "first"), LedgerError)
    with closing(sqlite3.connect(path)) as connection, connection:
        changed = connection.execute("UPDATE entries SET payload = replace(payload, '\"1\"', '\"0.1\"')").rowcount
    seen = changed > 0 and _refused(ledger.entries, LedgerError)
    return {
        "one_name_in_two_spellings_is_one_data_set": both,
        "an_id_is_good_for_one_row": once,
        "an_edited_row_is_refused": seen,
    }
