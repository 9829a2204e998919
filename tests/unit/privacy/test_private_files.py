"""The lock that the system frees: between threads, between processes, after a kill, and in its form for Windows."""

from __future__ import annotations

import errno
import fcntl
import importlib.util
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest

from sudare.privacy import private_files as file_lock

_HOLD = """
import sys
from pathlib import Path
from sudare.privacy.private_files import locked
with locked(Path(sys.argv[1]), remove=True):
    print("held", flush=True)
    sys.stdin.read()
"""


def _on_windows() -> types.ModuleType:
    """The module as Windows would load it, over a stand-in for ``msvcrt`` that locks and refuses as that one does."""

    def locking(handle: int, mode: int, count: int) -> None:
        assert (mode, count) == (2, 1)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    stand_in = types.ModuleType("msvcrt")
    stand_in.locking, stand_in.LK_NBLCK = locking, 2
    spec = importlib.util.spec_from_file_location("file_lock_on_windows", file_lock.__file__)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "msvcrt", stand_in)
        patch.setitem(sys.modules, "fcntl", None)
        patch.setattr(sys, "platform", "win32")
        spec.loader.exec_module(module)
    module.sys = types.SimpleNamespace(platform="win32")
    return module


@pytest.fixture(params=["here", "windows"])
def lock(request: pytest.FixtureRequest) -> types.ModuleType:
    return file_lock if request.param == "here" else _on_windows()


def test_one_holder_at_a_time_and_the_next_one_afterwards(lock: types.ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    assert not lock.is_locked(path)
    with lock.locked(path, wait=False):
        assert lock.is_locked(path)
        with pytest.raises(BlockingIOError), lock.locked(path, wait=False):
            pass
    assert not lock.is_locked(path)
    with lock.locked(path, wait=False):
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("remove", [False, True])
def test_threads_wait_for_each_other(lock: types.ModuleType, tmp_path: Path, remove: bool) -> None:
    path, inside, most = tmp_path / "a.lock", [], []

    def work() -> None:
        for _ in range(20):
            with lock.locked(path, remove=remove):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 80
    assert path.exists() is not remove


def test_what_its_holder_writes_can_be_read_while_it_is_held(lock: types.ModuleType, tmp_path: Path) -> None:
    with lock.locked(tmp_path / "a.lock") as handle:
        os.write(handle, b"4711")
        assert (tmp_path / "a.lock").read_bytes() == b"4711"


def test_a_kill_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        assert file_lock.is_locked(path)
        with pytest.raises(BlockingIOError), file_lock.locked(path, wait=False):
            pass
        holder.kill()
        holder.wait()
        assert path.exists()
        assert not file_lock.is_locked(path)
        with file_lock.locked(path, wait=False, remove=True):
            assert path.exists()
    assert not path.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"ymbolic|loop|many"), file_lock.locked(tmp_path / "a.lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()
