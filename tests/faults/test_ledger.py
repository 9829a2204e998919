"""The ledger between real processes: races for the last budget, `kill -9`, a torn journal.

The quick form kills 25 times and races 8 processes, the full form kills 1,000 times and races 16, ten times over.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from fault_processes import Nursery

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
IMPORTS = "import time; from sudare.privacy import Guarantee, Ledger"
SPENDER = """
import time
from sudare.privacy import Guarantee, Ledger
path, name, reported, pause = words
ledger = Ledger(path, timeout=60)
guarantee = Guarantee("epsilon-DP", epsilon="0.001")
with open(reported, "a") as lines:
    for number in range(1_000_000):
        entry = ledger.spend("census", guarantee, f"{name}-{number}", note="x" * 300)
        lines.write(f"{entry.hash}\\n")
        lines.flush()
        time.sleep(float(pause))
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
def test_racing_processes_never_spend_the_same_budget(tmp_path, full, admitted):
    racers, times = (16, 10) if full else (8, 1)
    for number in range(times):
        ledger = Ledger(tmp_path / f"ledger-{number}.db")
        ledger.set_cap("census", epsilon=Fraction(admitted, 10))
        answers = race(ledger.path, racers)
        assert answers.count("refused") == racers - admitted
        assert ledger.verify() == 1 + admitted
        assert {entry.hash for entry in ledger.entries()[1:]} == set(answers) - {"refused"}
        assert ledger.balance("census").remaining.epsilon == 0


def test_processes_that_race_to_make_the_ledger_share_one(tmp_path, full):
    racers = 16 if full else 6
    ledger = Ledger(tmp_path / "ledger.db")
    answers = race(ledger.path, racers, default_cap="0.2")
    assert answers.count("refused") == racers - 2
    assert [entry.kind for entry in ledger.entries()] == ["cap", "spend", "spend"]


def test_a_killed_process_loses_no_spend_that_it_reported(tmp_path, full):
    # The victim spends all the time, most of it inside a commit, beside one that leaves it room, and is killed
    # at a random moment, again and again; the other is killed at the end. Every 100 kills begin a new ledger:
    # each spend reads the whole of it.
    kills = 1_000 if full else 25
    moments = random.Random() if full else random.Random(20250101)  # noqa: S311 - when to kill, not what to hide
    with Nursery(IMPORTS, SPENDER) as victims, Nursery(IMPORTS, SPENDER) as others:
        for part in range(0, kills, 100):
            folder = tmp_path / str(part)
            folder.mkdir()
            kill_spenders(folder, min(100, kills - part), victims, others, moments)
    print(f"{kills:,} spenders killed")


def kill_spenders(folder: Path, kills: int, victims: Nursery, others: Nursery, moments: random.Random) -> None:
    ledger = Ledger(folder / "ledger.db", timeout=60)
    cap = 1000
    ledger.set_cap("census", epsilon=cap)
    reported, survivor_reported = folder / "reported.txt", folder / "survivor.txt"
    others.start(ledger.path, "survivor", survivor_reported, 0.05)
    for round_ in range(kills):
        before = count(reported)
        victims.start(ledger.path, f"victim-{round_}", reported, 0)
        # Half of them have reported a spend; the others may be in the middle of their first.
        while round_ % 2 and count(reported) == before:
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.02))
        victims.kill()
        assert victims.wait() == -9
        ledger.verify()
    others.kill()
    assert others.wait() == -9
    entries = Ledger.open(ledger.path, timeout=60).entries()
    hashes = {entry.hash for entry in entries}
    promised = set((reported.read_text() + survivor_reported.read_text()).split())
    assert len(promised) >= kills // 2
    assert promised <= hashes
    # Each kill can lose at most the report of one spend that is in the ledger: over-counted, never under.
    assert len(hashes) - 1 - len(promised) <= kills + 1
    assert ledger.balance("census").spent.epsilon == Fraction(len(hashes) - 1, 1000) <= cap
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
