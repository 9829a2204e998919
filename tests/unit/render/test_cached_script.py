"""Vega's script is compiled once and kept in the user's cache folder, and only what is surely this user's is read."""

import hashlib
import os
import shutil
import stat
import sys
import threading

import pytest

from sudare.render import charts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and owners of files")


def script():
    """As a new process has it."""
    charts._script.cache_clear()
    return charts._script()


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The cache folder of a process that found none, and what it embedded."""
    base = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(base))
        return base / "sudare", script()


@pytest.fixture
def file(tmp_path, monkeypatch, kept):
    """The kept file, in a folder of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(kept[0], tmp_path / "cache" / "sudare")
    (found,) = (tmp_path / "cache" / "sudare").iterdir()
    return found


def plant(file, text="<script>alert(1)</script>"):
    """A text of somebody's with its right hash, where the script is kept."""
    file.write_text(f"{text}\n{hashlib.sha256(text.encode()).hexdigest()}")


@pytest.mark.slow
def test_it_is_kept_whole_for_its_owner_alone_and_read_again(kept, file):
    folder, compiled = kept
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())] == [0o700, 0o600]
    assert charts._kept(file) == compiled
    plant(file, "from the cache")
    assert script() == "from the cache"


@pytest.mark.slow
def test_a_damaged_file_is_made_anew(kept, file):
    file.write_bytes(file.read_bytes()[:1000])
    assert script() == kept[1]
    assert charts._kept(file) == kept[1]


@pytest.mark.slow
def test_what_others_may_write_or_link_to_is_not_read(kept, file, tmp_path):
    plant(file)
    assert charts._kept(file)
    file.chmod(0o620)
    assert charts._kept(file) == ""
    file.chmod(0o600)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert charts._kept(file) == ""
    assert script() == kept[1]
    assert not file.is_symlink()


def test_nobody_waits_for_a_pipe_in_its_place(tmp_path):
    os.mkfifo(tmp_path / "charts.js", 0o600)
    found = []
    reading = threading.Thread(target=lambda: found.append(charts._kept(tmp_path / "charts.js")), daemon=True)
    reading.start()
    reading.join(30)
    assert found == [""]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_not_read(file):
    os.chown(file, 1234, -1)
    assert charts._kept(file) == ""


@pytest.mark.slow
def test_without_a_folder_that_can_be_written_it_is_compiled(kept, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "sudare").write_text("a file, where a folder should be")
    assert script() == kept[1]
    assert [path.name for path in tmp_path.iterdir()] == ["sudare"]
