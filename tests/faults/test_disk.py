"""A disk that is full and folders that may not be written to: one sentence, exit code 1, nothing lost.

A limit on the size of files (`RLIMIT_FSIZE`) needs no rights and fails as a full disk does; a small tmpfs in a name
space of its own is one. Root may write everywhere, so the right to do so is given up first.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fault_processes import Nursery

import sudare as sd
from sudare.privacy import Ledger
from sudare.workflow.pending import PendingReleases

RECIPE = """
dataset = "village"
data = {path = "people.parquet"}
domain.place = {type = "line", length = 20000}
method = {name = "simplex"}
privacy = {epsilon = 4}
ledger = {path = "books/ledger.db", cap = {epsilon = 100}}
output = {folder = "out/release", key = "keys/publisher.pem", confirm_resources = true}
report = {public = false}
"""
IMPORTS = """
import ctypes, os, resource, sys
import duckdb, pyarrow.parquet, pyarrow.csv, pyarrow.compute, narwhals, sudare.workflow, sudare.tables.kind
from sudare.cli import main
"""
# Keeps files below a size, or gives up the right of root to write where the mode forbids it (CAP_DAC_OVERRIDE), and
# does what the command does.
COMMAND = """
import ctypes, io, os, resource, sys
from sudare.cli import main
limit, said, *arguments = words
sys.dont_write_bytecode = True  # Python would leave bytecode that is cut off at the limit, and fail to load it later
sys.stdout = sys.stderr = io.StringIO()
before = resource.getrlimit(resource.RLIMIT_FSIZE)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), before[1]))
elif os.geteuid() == 0:
    system = ctypes.CDLL(None, use_errno=True)
    header, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if system.capget(header, rights):
        os._exit(77)
    rights[0] &= ~(1 << 1)
    if system.capset(header, rights):
        os._exit(77)
status = 0
try:
    main(arguments, prog_name="sudare")
except SystemExit as end:
    status = end.code
resource.setrlimit(resource.RLIMIT_FSIZE, before)
with open(said, "w") as file:
    file.write(sys.stderr.getvalue())
os._exit(status)
"""
# In a name space of its own: a disk of so many kilobytes, the village in it, the command, and what the disk holds then.
SMALL_DISK = """
mount -t tmpfs -o size="$1"k tmpfs "$2" || exit 77
cp -r "$3"/. "$2" || exit 78
"$4" -c "from sudare.cli import main; main()" publish "$2/recipe.toml"
status=$?
cp -r "$2"/. "$5"
exit $status
"""


@pytest.fixture
def village(tmp_path: Path) -> Path:
    folder = tmp_path / "village"
    for name in ("books", "keys", "out"):
        (folder / name).mkdir(parents=True)
    people = {"place": np.random.default_rng(3).integers(0, 20_000, 30_000)}
    pq.write_table(pa.table(people), folder / "people.parquet", compression="zstd")
    (folder / "recipe.toml").write_text(RECIPE)
    return folder


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it said."""

    returncode: int
    stderr: str


@pytest.fixture(scope="module")
def commands() -> Iterator[Nursery]:
    """Commands in processes of their own, forked from one that has imported everything."""
    with Nursery(IMPORTS, COMMAND) as nursery:
        yield nursery


@pytest.fixture
def command(commands: Nursery, tmp_path: Path) -> Callable[..., Done]:
    """A function that runs one: with a ``limit`` on the size of files, or without the rights of root."""

    def run(*words: object, limit: int | None = None) -> Done:
        said = tmp_path / "said"
        commands.start(limit or "", said, *words)
        status = commands.wait()
        return Done(status, said.read_text())

    return run


def sentence_of(done: Done | subprocess.CompletedProcess[str]) -> str:
    """The one line of a refusal."""
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("Error: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def releases_in(folder: Path) -> int:
    """How many releases the ledger counts; all there is is whole."""
    ledger = Ledger(folder / "books" / "ledger.db")
    if not ledger.path.exists() or not ledger.path.stat().st_size:
        return 0
    ledger.verify()
    return len([entry for entry in ledger.entries() if entry.kind == "spend"])


def left_in(folder: Path) -> set[str]:
    return {path.name for path in (folder / "out").iterdir()}


@pytest.mark.parametrize(
    ("limit", "reason", "releases"),
    [
        (50, "the signing key cannot be written", 0),
        (4_000, "the disk is full or fails", 0),
        (20_000, "the release cannot be written: a file would be too large for the disk", 1),
    ],
)
def test_a_file_that_cannot_grow_is_one_sentence_and_no_release(command, village, limit, reason, releases):
    done = command("publish", village / "recipe.toml", limit=limit)
    assert reason in sentence_of(done)
    assert releases_in(village) == releases
    assert left_in(village) == set()
    if releases:  # with room it works again
        again = "publish", village / "recipe.toml"
        assert "was paid for and is not out" in sentence_of(command(*again, limit=10**9))
        assert command(*again, "--resume", limit=10**9).returncode == 0
        assert releases_in(village) == releases
        sd.verify(village / "out" / "release")


@pytest.mark.parametrize("limit", [8192, 20_000, 90_000])
def test_a_full_disk_spends_nothing(tmp_path, limit):
    script = """
import resource, sys
from sudare.errors import LedgerError
from sudare.privacy import Guarantee, Ledger
path, limit = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    Ledger(path).spend("census", Guarantee("epsilon-DP", epsilon="0.001"), "big", note="x" * 100_000)
except LedgerError as error:
    print(error)
"""
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_cap("census", epsilon=1)
    command = [sys.executable, "-c", script, str(ledger.path), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "cannot be read or written: the disk is full or fails. Make room" in done.stdout
    assert ledger.verify() == 1
    assert ledger.balance("census").spent.epsilon == 0


def test_a_small_disk_that_fills_up(village, tmp_path, full):
    if shutil.which("unshare") is None:
        pytest.skip("no unshare on this machine: a small disk cannot be mounted without rights")
    data = sum(path.stat().st_size for path in village.rglob("*") if path.is_file()) // 1024
    seen = set()
    for room in range(8, 800, 24) if full else (8, 64, 800):
        disk, after = tmp_path / f"disk-{room}", tmp_path / f"after-{room}"
        disk.mkdir()
        after.mkdir()
        command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, "sh"]
        words = [data + 8 + room, disk, village, sys.executable, after]
        done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, check=False, timeout=120)
        if done.returncode == 77 or "unshare" in done.stderr:
            pytest.skip("this machine mounts nothing for users without rights: no small disk")
        out = (after / "out" / "release").exists()
        if done.returncode == 0:
            assert out
        else:
            seen.add(sentence_of(done).partition("(")[0])
        if out:
            sd.verify(after / "out" / "release")
        # What was paid for and is not out is named, and can be completed; without a row there is no record.
        waiting = PendingReleases(Ledger(after / "books" / "ledger.db")).waiting()
        assert releases_in(after) == out + len(waiting)
        assert left_in(after) <= {"release"}
    print(f"{len(seen)} kinds of refusals: {sorted(seen)}")
    assert seen
    assert done.returncode == 0  # the last disk was large enough


@pytest.mark.parametrize(
    ("closed", "reason"),
    [
        ("out", "the release cannot be written: writing is not permitted there"),
        ("books", "Allow reading and writing of the file and its folder"),
        ("keys", "the signing key cannot be written"),
    ],
)
def test_a_folder_that_may_not_be_written_to_costs_nothing(command, village, closed, reason):
    (village / closed).chmod(0o555)
    done = command("publish", village / "recipe.toml")
    (village / closed).chmod(0o755)
    if done.returncode == 77:
        pytest.skip("root cannot give up its right to write everywhere here")
    assert reason in sentence_of(done)
    assert releases_in(village) == 0
    assert left_in(village) == set()


def test_a_ledger_that_may_only_be_read_is_shown_and_not_spent_from(command, village):
    assert command("publish", village / "recipe.toml").returncode == 0
    (village / "books" / "ledger.db").chmod(0o444)
    shutil.rmtree(village / "out" / "release")
    done = command("publish", village / "recipe.toml")
    if done.returncode == 77:
        pytest.skip("root cannot give up its right to write everywhere here")
    assert "is not writable" in sentence_of(done)
    assert releases_in(village) == 1
    assert left_in(village) == set()
