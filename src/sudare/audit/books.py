"""Books: what a publication writes down about itself, and that nobody can change it later.

The guarantee of a release is worth as much as the sum in the ledger and the certificate that states it. So a table is
published under a cap that is enough for one and a half: its row must be on the disk before noise is drawn, at the price
that is promised, and a second release must be refused and leave nothing. Then the release is tampered with, and
`verify` must see it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from sudare.audit.finding import Finding, said
from sudare.audit.publications import table
from sudare.errors import BudgetError, VerificationError
from sudare.privacy import Ledger
from sudare.publish.certificate import NAME, verify
from sudare.publish.run import publish

COST, CAP = Fraction(2), Fraction(3)
Rules = dict[str, bool]


class _Stopped(Exception):  # noqa: N818 - nothing is wrong: it stands for a power cut
    """Ends a publication in its middle."""


def book_findings(folder: Path) -> Iterator[Finding]:
    """A finding for the ledger, and one for the certificate of the release that it paid for."""
    folder.mkdir()
    case = table("books", '"tree"', f"epsilon = {COST}")
    text = case.recipe.replace("epsilon = 1000", f"epsilon = {CAP}")
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    (folder / "again.toml").write_text(text.replace('folder = "release"', 'folder = "again"'), encoding="utf-8")
    stopped = text.replace('dataset = "audit"', 'dataset = "stopped"').replace('"release"', '"stopped"')
    stopped = stopped.replace("[ledger]\n", "[ledger]\nconfirm_same_data = true\n")
    (folder / "stopped.toml").write_text(stopped, encoding="utf-8")
    case.write(case.world(0)["data"], folder / case.private)
    yield _finding("ledger", ledger_rules(folder))
    yield _finding("certificate", certificate_rules(folder / "release", folder / "ledger.db"))


def ledger_rules(folder: Path) -> Rules:
    """What was kept by a release, by one too many, and by one that was stopped when it was paid for."""
    ledger = Ledger(folder / "ledger.db")
    releases: dict[str, int] = {}

    def watch(stage: str) -> None:
        releases[stage] = ledger.balance("audit").releases

    publish(folder / "recipe.toml", progress=watch)
    balance = ledger.balance("audit")
    refused = _refused(folder / "again.toml")

    def stop(stage: str) -> None:
        if stage == "protecting":
            raise _Stopped

    try:
        publish(folder / "stopped.toml", progress=stop)
    except _Stopped:
        booked = ledger.balance("stopped").releases == 1 and not (folder / "stopped").exists()
    else:
        booked = False
    return {
        "nothing is booked before the data are read": releases.get("reading") == 0,
        "the row is on the disk before noise is drawn": releases.get("protecting") == 1,
        "the cost that is booked is the one that is promised": balance.spent.epsilon == COST,
        "what is left is the cap less the cost": balance.remaining is not None
        and balance.remaining.epsilon == CAP - COST,
        "a release above what is left is refused": refused and ledger.balance("audit").releases == 1,
        "a refused release writes nothing": not (folder / "again").exists(),
        "a release that fails stays booked and is not written": booked,
    }


def _refused(recipe: Path) -> bool:
    try:
        publish(recipe)
    except BudgetError:
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
    (release / NAME).write_text(json.dumps(promised), encoding="utf-8")
    lied = _verified(release)
    (release / NAME).write_text(json.dumps(certificate), encoding="utf-8")
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


def _finding(name: str, rules: Rules) -> Finding:
    broken = [rule for rule, kept in rules.items() if not kept]
    seen = said("seen_rules_kept")
    if broken:
        seen = said("seen_rules", broken=str(len(broken)), tried=str(len(rules)), first=broken[0])
    return Finding("behaviour", f"publish, {name}", not broken, len(rules), seen, said("allowed_rules"))
