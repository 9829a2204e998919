"""The ledger of the organisation: configured once, and the default of recipes and commands."""

import pytest

from sudare.errors import LedgerError
from sudare.privacy import settings
from sudare.privacy.settings import chosen_ledger, configured_ledger, default_ledger


@pytest.fixture(autouse=True)
def nothing(tmp_path, monkeypatch):
    monkeypatch.delenv("SUDARE_LEDGER", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setattr(settings, "_SYSTEM", tmp_path / "system.toml")
    (tmp_path / "own" / "sudare").mkdir(parents=True)


def test_the_variable_goes_before_the_users_file_and_that_before_the_systems(tmp_path, monkeypatch):
    assert configured_ledger() is None
    assert default_ledger(tmp_path) == tmp_path / "sudare-ledger.db"
    (tmp_path / "system.toml").write_text('ledger = "/srv/system.db"\n')
    assert str(configured_ledger()) == "/srv/system.db"
    (tmp_path / "own" / "sudare" / "config.toml").write_text('ledger = "/srv/own.db"\n')
    assert str(configured_ledger()) == "/srv/own.db"
    monkeypatch.setenv("SUDARE_LEDGER", "/srv/said.db")
    assert str(default_ledger(tmp_path)) == "/srv/said.db"


def test_the_users_file_is_found_by_the_home_folder_too(tmp_path):
    folder = tmp_path / "home" / ".config" / "sudare"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('ledger = "/srv/home.db"\n')
    for base in ({}, {"XDG_CONFIG_HOME": "relative"}):
        assert str(configured_ledger({"HOME": str(tmp_path / "home"), **base})) == "/srv/home.db"
    assert configured_ledger({}) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ledger = 7", "the configured ledger is not a path"),
        ('ledger = "books.db"', "is not an absolute path"),
        ('leger = "/srv/books.db"', r"unknown key leger in the configuration .*Did you mean 'ledger'"),
        ("ledger =", "the configuration cannot be read"),
    ],
)
def test_a_configuration_that_cannot_be_meant_is_refused_and_not_passed_over(tmp_path, text, message):
    (tmp_path / "own" / "sudare" / "config.toml").write_text(text)
    with pytest.raises(LedgerError, match=message):
        configured_ledger()


def test_another_ledger_than_the_configured_one_must_be_confirmed(tmp_path, monkeypatch):
    assert chosen_ledger("mine.db", tmp_path, confirmed=False) == tmp_path / "mine.db"
    monkeypatch.setenv("SUDARE_LEDGER", str(tmp_path / "all.db"))
    assert chosen_ledger(None, tmp_path, confirmed=False) == tmp_path / "all.db"
    assert chosen_ledger("../" + tmp_path.name + "/all.db", tmp_path, confirmed=False).resolve() == tmp_path / "all.db"
    with pytest.raises(LedgerError, match=r"names another ledger than the configured one \(got 'mine.db'"):
        chosen_ledger("mine.db", tmp_path, confirmed=False)
    assert chosen_ledger("mine.db", tmp_path, confirmed=True) == tmp_path / "mine.db"
