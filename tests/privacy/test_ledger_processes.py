"""The ledger between real processes: races for the last budget, `kill -9`, a disk that is full."""

import random
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from sudare.privacy import Guarantee, Ledger

# Waits for the starting shot, tries to spend once, and says how it ended.
RACER = """
import sys, time
from pathlib import Path
from sudare.errors import BudgetError
from sudare.privacy import Cap, Guarantee, Ledger
path, start, name, default = sys.argv[1:]
ledger = Ledger(path, timeout=60)
guarantee = Guarantee("epsilon-DP", epsilon="0.1")
cap = Cap.of(epsilon=default) if default else None
print("ready", flush=True)
while not Path(start).exists():
    time.sleep(0.001)
try:
    print(ledger.spend("census", guarantee, name, default_cap=cap).hash, flush=True)
except BudgetError:
    print("refused", flush=True)
"""

# Spends until it is killed; a line in the file says that a spend was reported as done.
SPENDER = """
import sys, time
from sudare.privacy import Guarantee, Ledger
path, name, reported, pause = sys.argv[1:]
ledger = Ledger(path, timeout=60)
guarantee = Guarantee("epsilon-DP", epsilon="0.001")
with open(reported, "a") as lines:
    for number in range(1_000_000):
        entry = ledger.spend("census", guarantee, f"{name}-{number}", note="x" * 300)
        lines.write(f"{entry.hash}\\n")
        lines.flush()
        time.sleep(float(pause))
"""

# Spends where no file may grow over a limit, as on a full disk.
CRAMPED = """
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


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def race(path: Path, racers: int, default_cap: str = "") -> list[str]:
    """What each of ``racers`` processes printed after starting at the same moment."""
    shot = path.with_suffix(".start")
    processes = [start(RACER, path, shot, f"racer-{number}", default_cap) for number in range(racers)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    shot.touch()
    answers = [process.communicate()[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * racers
    return answers


@pytest.mark.parametrize("admitted", [1, 3])
def test_racing_processes_never_spend_the_same_budget(tmp_path, admitted):
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_cap("census", epsilon=Fraction(admitted, 10))
    answers = race(ledger.path, racers=8)
    assert answers.count("refused") == 8 - admitted
    assert ledger.verify() == 1 + admitted
    assert {entry.hash for entry in ledger.entries()[1:]} == set(answers) - {"refused"}
    assert ledger.remaining("census").epsilon == 0


def test_processes_that_race_to_make_the_ledger_share_one(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    answers = race(ledger.path, racers=6, default_cap="0.2")
    assert answers.count("refused") == 4
    assert [entry.kind for entry in ledger.entries()] == ["cap", "spend", "spend"]


def test_a_killed_process_loses_no_spend_that_it_reported(tmp_path):
    # The victim spends all the time, most of it inside a commit, beside one that leaves it room, and is killed
    # at a random moment, again and again; the other is killed at the end.
    moments = random.Random(20250101)  # noqa: S311 - when to kill, not what to hide
    ledger = Ledger(tmp_path / "ledger.db", timeout=60)
    ledger.set_cap("census", epsilon=1000)
    reported = tmp_path / "reported.txt"
    survivor_reported = tmp_path / "survivor.txt"
    survivor = start(SPENDER, ledger.path, "survivor", survivor_reported, 0.02)
    try:
        for round_ in range(12):
            before = count(reported)
            victim = start(SPENDER, ledger.path, f"victim-{round_}", reported, 0)
            while count(reported) == before:
                assert victim.poll() is None
                time.sleep(0.002)
            time.sleep(moments.uniform(0, 0.08))
            victim.kill()
            assert victim.wait() == -9
            victim.stdout.close()
            ledger.verify()
    finally:
        survivor.kill()
        survivor.wait()
        survivor.stdout.close()
    hashes = {entry.hash for entry in Ledger.open(ledger.path, timeout=60).entries()}
    promised = set((reported.read_text() + survivor_reported.read_text()).split())
    assert len(promised) >= 13
    assert promised <= hashes
    # Each kill can lose at most the report of one spend that is in the ledger: over-counted, never under.
    assert len(hashes) - 1 - len(promised) <= 13
    assert ledger.spent("census").epsilon == Fraction(len(hashes) - 1, 1000)
    ledger.spend("census", Guarantee("epsilon-DP", epsilon=1), "life goes on")


def count(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_journal_left_by_a_crash_is_rolled_back_by_the_next_reader(tmp_path):
    # The victim stops dead between writing pages and removing the journal: the moment that matters most.
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_cap("census", epsilon=1)
    ledger.spend("census", Guarantee("epsilon-DP", epsilon=0.1), "kept")
    before = ledger.entries()
    script = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("PRAGMA cache_spill = 1")
connection.execute("BEGIN IMMEDIATE")
for number in range(200):
    connection.execute("INSERT INTO entries VALUES (?, '', '', '', ?, '', '')", (number + 3, "x" * 4000))
os.kill(os.getpid(), signal.SIGKILL)
"""
    victim = start(script, ledger.path)
    assert victim.wait() == -9
    victim.stdout.close()
    assert ledger.path.with_name("ledger.db-journal").stat().st_size > 0
    assert ledger.path.stat().st_size > 100_000
    assert ledger.entries() == before
    assert ledger.verify() == 2


@pytest.mark.parametrize("limit", [8192, 20_000, 90_000])
def test_a_full_disk_is_one_sentence_and_spends_nothing(tmp_path, limit):
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_cap("census", epsilon=1)
    cramped = start(CRAMPED, ledger.path, limit)
    sentence = cramped.communicate()[0]
    assert "cannot be read or written: the disk is full or fails. Make room" in sentence
    assert ledger.verify() == 1
    assert ledger.spent("census").epsilon == 0
