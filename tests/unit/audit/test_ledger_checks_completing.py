"""Releases that are completed: sound ones pass; fresh noise and a record that stays are found."""

import pytest

from sudare.audit import ledger_checks as completing
from sudare.audit.publications import table
from sudare.noise import Source
from sudare.tables.kind import TableKind
from sudare.workflow.pending import PendingReleases


@pytest.fixture
def broken(tmp_path):
    (tmp_path / "house").mkdir()
    case = table("table", '"tree"', "epsilon = 3")
    return lambda: [
        rule
        for rule, kept in completing.completed_rules(case, tmp_path / "house", tmp_path / "copy").items()
        if not kept
    ]


def test_a_sound_release_is_completed(broken):
    assert broken() == []


def test_fresh_noise_is_found(broken, monkeypatch):
    own = TableKind.protect
    monkeypatch.setattr(TableKind, "protect", lambda job, data, _: own(job, data, Source.system()))
    assert broken() == ["completed_it_is_the_one_that_was_paid_for"]


def test_a_record_that_stays_is_found(broken, monkeypatch):
    monkeypatch.setattr(PendingReleases, "remove", lambda *_: None)
    assert "no_key_of_noise_is_kept_of_a_release_that_is_out" in broken()
