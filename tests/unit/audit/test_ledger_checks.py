"""The books of a publication: sound ones pass, a ledger that under-counts and a check that sees nothing are found."""

from dataclasses import replace

import pytest

from sudare.audit import ledger_checks
from sudare.privacy import Ledger


def broken(folder):
    return {
        finding.name: finding.figure()
        for finding in ledger_checks.book_findings(folder / "books")
        if not finding.passed
    }


def test_sound_books(tmp_path):
    assert broken(tmp_path) == {}


def test_a_ledger_that_books_half_the_cost_is_found(tmp_path, monkeypatch):
    own = Ledger.spend
    monkeypatch.setattr(
        Ledger,
        "spend",
        lambda ledger, dataset, promised, *given, **terms: own(
            ledger, dataset, replace(promised, epsilon=promised.epsilon / 2), *given, **terms
        ),
    )
    assert "the cost that is booked is the one that is promised" in broken(tmp_path)["publish, ledger"]


def test_a_row_that_is_written_after_the_noise_is_found(tmp_path, monkeypatch):
    own, waiting = Ledger.spend, []

    class Later:
        dataset, hash = "audit", "0" * 64

    def spend(ledger, *given, **terms):
        waiting.append(lambda: own(ledger, *given, **terms))
        return Later

    monkeypatch.setattr(Ledger, "spend", spend)
    balance = Ledger.balance

    def late(ledger, dataset):
        while waiting and (tmp_path / "books" / "release").exists():
            waiting.pop()()
        return balance(ledger, dataset)

    monkeypatch.setattr(Ledger, "balance", late)
    for rules in ("certificate_rules", "row_rules"):
        monkeypatch.setattr(ledger_checks, rules, lambda *_: {"a_sound_release_is_verified": True})
    assert "the row is on the disk before noise is drawn" in broken(tmp_path)["publish, ledger"]


@pytest.mark.parametrize("answer", [True, False])
def test_a_check_that_always_says_the_same_is_found(answer, tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_checks, "_verified", lambda release, publisher=None: answer)
    assert "publish, certificate" in broken(tmp_path)
