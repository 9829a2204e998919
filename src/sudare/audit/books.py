"""Books: what a publication writes down about itself, and that nobody can change it later.

The guarantee of a release is worth as much as the sum in the ledger and the certificate that states it. So a table is
published under a cap that is enough for one and a half: its row must be on the disk before noise is drawn, at the price
that is promised, and a second release must be refused and leave nothing. Then the release is tampered with, and
`verify` must see it; and so are the rows of a ledger.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from sudare.audit.finding import Finding
from sudare.audit.publications import table
from sudare.audit.statements import Rules, rule_finding
from sudare.errors import BudgetError, LedgerError, PaidError, VerificationError
from sudare.privacy import Cap, Guarantee, Ledger
from sudare.publish.certificate import NAME, verify
from sudare.publish.run import publish
from sudare.words import Progress, Stage

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
    refused, other = _refused(folder / "again.toml"), _refused(folder / "other.toml")

    def stop(progress: Progress) -> None:
        if progress.stage is Stage.PROTECTING:
            raise _Stopped

    try:
        publish(folder / "stopped.toml", progress=stop)
    except (PaidError, _Stopped):
        booked = ledger.balance("stopped").releases == 1 and not (folder / "stopped").exists()
    else:
        booked = False
    return {
        "nothing is booked before the data are read": releases.get(Stage.READING) == 0,
        "the row is on the disk before noise is drawn": releases.get(Stage.PROTECTING) == 1,
        "the cost that is booked is the one that is promised": balance.spent.epsilon == COST,
        "what is left is the cap less the cost": balance.remaining is not None
        and balance.remaining.epsilon == CAP - COST,
        "a release above what is left is refused": refused and ledger.balance("audit").releases == 1,
        "the same data under another name are refused": other,
        "a refused release writes nothing": not (folder / "again").exists(),
        "a release that fails stays booked and is not written": booked,
        "true values are in no file but the owner's": internal is not None
        and made.folder not in internal.parents
        and internal.stat().st_mode & 0o077 == 0,
    }


def _refused(recipe: Path) -> bool:
    try:
        publish(recipe)
    except (BudgetError, LedgerError):
        return True
    return False


def certificate_rules(release: Path, ledger: Path) -> Rules:
    """What `verify` says of a release, and of the same with something changed."""
    certificate = json.loads((release / NAME).read_text(encoding="utf-8"))
    sound = _verified(release)
    names = [path.name for path in sorted(release.iterdir()) if path.name != NAME]
    changed, missing = [], []
    for name in names:
        kept = (release / name).read_bytes()
        (release / name).write_bytes(bytes([kept[0] ^ 1]) + kept[1:])
        changed.append(_verified(release))
        (release / name).unlink()
        missing.append(_verified(release))
        (release / name).write_bytes(kept)
    promised = certificate | {"guarantee": certificate["guarantee"] | {"epsilon": "1"}}
    (release / NAME).write_text(json.dumps(promised), encoding="utf-8", newline="\n")
    lied = _verified(release)
    (release / NAME).write_text(json.dumps(certificate), encoding="utf-8", newline="\n")
    return {
        "a sound release is verified": sound,
        "its head is in the ledger": Ledger(ledger).verify(certificate["ledger_head"]) > 0,
        "a changed file is refused": not any(changed) and len(changed) > 1,
        "a missing file is refused": not any(missing),
        "a changed promise is refused": not lied,
        "another publisher is refused": not _verified(release, "00" * 32),
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
    try:
        ledger.spend("caf\u00e9", cost, "first")
    except LedgerError:
        once = True
    else:
        once = False
    with closing(sqlite3.connect(path)) as connection, connection:
        changed = connection.execute("UPDATE entries SET payload = replace(payload, '\"1\"', '\"0.1\"')").rowcount
    try:
        ledger.entries()
    except LedgerError:
        seen = changed > 0
    else:
        seen = False
    return {
        "one name in two spellings is one data set": both,
        "an id is good for one row": once,
        "an edited row is refused": seen,
    }
