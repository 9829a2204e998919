"""The link that opens the studio: in a file that only its user can read, with a new link as soon as one was used."""

import os
import stat
from pathlib import Path

import pytest

from sudare.errors import InputError
from sudare.studio.access import Access, Handover

ORIGIN = "http://127.0.0.1:8400"


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_user_can_read_the_page(runtime):
    before = os.umask(0)  # whatever the user's own rule is
    try:
        handover = Handover(ORIGIN)
        access = Access(handover.write)
    finally:
        os.umask(before)
    assert rights(handover.page) == 0o600
    assert rights(handover.page.parent) == 0o700
    assert handover.page.parent.parent == runtime
    assert handover.link == f"{ORIGIN}/data#token={access.token}"
    assert f'url={handover.link}"' in handover.page.read_text()
    handover.remove()
    assert list(runtime.iterdir()) == []


def test_a_link_that_was_used_is_replaced(runtime):
    handover = Handover(ORIGIN)
    access = Access(handover.write)
    first = access.token
    assert access.redeem("wrong") is None
    assert first in handover.page.read_text()
    session = access.redeem(first)
    text = handover.page.read_text()
    assert first not in text
    assert session not in text
    assert access.token in text
    assert rights(handover.page) == 0o600
    assert [path.name for path in handover.page.parent.iterdir()] == ["open.html"]


def test_a_page_that_cannot_be_written_again_costs_nobody_the_session(runtime):
    handover = Handover(ORIGIN)
    access = Access(handover.write)
    handover.remove()
    assert access.redeem(access.token) is not None


@pytest.mark.parametrize("mode", [0o750, 0o707, 0o777])
def test_a_folder_that_others_can_use_is_left_alone(runtime, mode):
    runtime.chmod(mode)
    handover = Handover(ORIGIN)
    assert runtime not in handover.page.parents
    assert rights(handover.page.parent) == 0o700
    handover.remove()


@pytest.mark.parametrize("value", ["", ".", "/none/such"])
def test_without_a_runtime_folder_it_is_the_one_of_temporary_files(monkeypatch, tmp_path, value):
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", value)
    handover = Handover(ORIGIN)
    assert tmp_path not in handover.page.parents
    assert handover.page.is_absolute()
    handover.remove()


def test_no_folder_at_all_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(InputError, match="the link to the studio cannot be written"):
        Handover(ORIGIN)
