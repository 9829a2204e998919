"""Signals while a publication counts: nothing private stays on a disk, nothing is half done, and one line says it.

A publication with so little memory that DuckDB spills is stopped (``SIGSTOP``) as soon as its spill is on the disk, and
ended there; what is found does not depend on how fast the machine is. 4 signals in the quick form, 300 over recipes of
all four kinds and 30 with Spark in the full one.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fault_processes import Nursery

import sudare as sd
from sudare.engines import duckdb_engine
from sudare.engines.spark_session import without_pandas_warning
from sudare.errors import InputError, OutputError, ParameterError
from sudare.privacy import Ledger

CANARY = b"canary-of-nobody"
SHARED = """
dataset = "village"
accept_no_guarantee = true
ledger = {path = "ledger.db", cap = {epsilon = 1000}}
output = {folder = "release", key = "publisher.pem"}
report = {public = false}
"""
DATA = 'data = {path = "people.parquet", unit = "person"}'
KINDS = {
    "table": 'domain.place = {type = "line", length = 64}\nprivacy = {epsilon = 0.01}',
    "sample": """kind = "sample"
hierarchies.age = {widths = [1, 10, 50], low = 0, high = 100}
sample = {k = 3, rate = 0.5, levels = {age = 1}}""",
    "perturbation": 'kind = "perturbation"\ncolumns.age = {bounds = [0, 100]}\nperturbation = {epsilon = 0.5}',
    "weights": """kind = "weights"
public = {path = "public.parquet"}
columns.age = {bounds = [0, 100]}
weights = {epsilon = 0.5, number = 12}""",
}
IMPORTS = """
import sudare, duckdb, pyarrow.parquet, pyarrow.csv, pyarrow.compute, jinja2, narwhals, sudare.cli, sudare.cli.publish
import sudare.tables.kind, sudare.anonymity.kind, sudare.reconstruct.kind, sudare.reweight.kind
"""
# A command as in a shell, with little memory for DuckDB, and with temporary files of old code in the same place.
COMMAND = """
import atexit, os, signal, sys, tempfile
import duckdb
scratch, said, *command = words
os.environ["SUDARE_SCRATCH"] = tempfile.tempdir = scratch
os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
connect = duckdb.connect
def small(*names, config=None):
    little = {"memory_limit": "24MB", "threads": 1} if "memory_limit" in config else {}
    return connect(*names, config={**config, **little})
duckdb.connect = small
from sudare.cli import main
try:
    main(command)
except SystemExit as end:
    code = end.code
except KeyboardInterrupt:
    code = 1
finally:
    atexit._run_exitfuncs()
    os._exit(code or 0)
"""
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
ROWS = 300_000


@pytest.fixture(scope="module")
def one_nursery():
    with Nursery(IMPORTS, COMMAND) as made:
        yield made


@pytest.fixture
def nursery(one_nursery):
    """Whose child, if a test fails, is not left stopped."""
    yield one_nursery
    if one_nursery.process:
        one_nursery.kill()
        one_nursery.wait()


@pytest.fixture(scope="module")
def people(tmp_path_factory) -> Path:
    """Records whose ids do not fit into 24 MB, and public ones."""
    folder = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(5)
    ids = [f"{CANARY.decode()}-{number % (ROWS // 2)}" for number in range(ROWS)]
    ages = rng.integers(0, 100, ROWS)
    table = pa.table({"person": ids, "place": rng.integers(0, 64, ROWS), "age": ages})
    pq.write_table(table, folder / "people.parquet")
    pq.write_table(pa.table({"age": rng.integers(0, 100, 500)}), folder / "public.parquet")
    return folder


@pytest.fixture
def village(people, tmp_path) -> Path:
    """A recipe of each kind beside the records."""
    for name in ("people.parquet", "public.parquet"):
        os.link(people / name, tmp_path / name)
    for kind, text in KINDS.items():
        (tmp_path / f"{kind}.toml").write_text(f"{SHARED}{DATA}\n{text}\n")
    (tmp_path / "scratch").mkdir(mode=0o700)
    return tmp_path


ENCRYPTED = getattr(duckdb_engine, "can_encrypt", bool)()  # old code, which these tests are held against, never does


def spilt(scratch: Path) -> bool:
    """Whether ids are on the disk: such that can be read, unless what is spilt is encrypted here."""
    try:
        found = [path for path in scratch.glob("**/spill/*.tmp") if path.stat().st_size]
        return bool(found) and (ENCRYPTED or any(CANARY in path.read_bytes() for path in found))
    except FileNotFoundError:  # removed while it was looked at
        return False


def halt(process: int) -> bool:
    """Stop a process; whether it still lives."""
    os.kill(process, signal.SIGSTOP)
    while True:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        if state in "TtZX":
            return state in "Tt"


def has_ended(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def listens(process: int) -> bool:
    """Whether the command has begun: before, a signal ends a process that has done nothing yet."""
    status = Path(f"/proc/{process}/status").read_text()
    caught = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]  # a zombie has none
    return bool(caught) and bool(int(caught[0], 16) >> (signal.SIGTERM - 1) & 1)


def stop_when_spilt(process: int, scratch: Path) -> bool:
    """Leave the process stopped at a moment when its spill is on the disk; False if it ended before."""
    while True:
        if spilt(scratch):
            if not halt(process):
                return False
            if spilt(scratch):
                return True
            os.kill(process, signal.SIGCONT)
        elif has_ended(process):
            return False
        time.sleep(0.001)


def canaries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and CANARY in path.read_bytes()]


def end(nursery: Nursery, number: signal.Signals) -> int:
    os.kill(nursery.process, number)
    os.kill(nursery.process, signal.SIGCONT)
    return nursery.wait()


def require_whole(folder: Path, code: int, said: str, number: signal.Signals) -> None:
    """What was published is whole and paid for, and an orderly end left nothing half done."""
    ledger = Ledger(folder / "ledger.db")
    if ledger.path.exists():
        ledger.verify()
    if (folder / "release").exists():
        found = sd.verify(folder / "release").certificate
        ledger.verify(found["ledger_head"])
    if number != signal.SIGKILL:
        if code == -number:  # its work was done, and it listened no more
            assert (folder / "release").exists(), said
            code = 0
        assert code in (0, 128 + number), said
        lines = [line for line in said.splitlines() if not line.startswith("Note: ")]  # of a ledger that begins
        assert len(lines) == (code != 0), said
        assert "Traceback" not in said
        assert not [path for path in folder.iterdir() if ".partial-" in path.name]


def test_a_signal_while_records_are_counted_leaves_nothing_private(village, nursery):
    scratch, said = village / "scratch", village / "said"
    for number in SIGNALS:
        nursery.start(scratch, said, "publish", village / "table.toml", "--quiet")
        assert stop_when_spilt(nursery.process, scratch), "the records must be so many that DuckDB spills"
        (room,) = scratch.iterdir()
        assert stat.S_IMODE(room.stat().st_mode) == 0o700
        assert bool(canaries(scratch)) != ENCRYPTED  # so that the search below would find what is there
        code = end(nursery, number)
        assert not (village / "release").exists()
        require_whole(village, code, said.read_text(), number)
        if number != signal.SIGKILL:
            assert code == 128 + number
            assert number.name in said.read_text()
            assert not list(scratch.iterdir())
    # What the kill left goes with the next command, which names it.
    (room,) = scratch.iterdir()
    assert bool(canaries(scratch)) != ENCRYPTED
    nursery.start(scratch, said, "ledger", "show", "--ledger", village / "ledger.db")
    assert nursery.wait() in (0, 1)  # there is no ledger yet
    assert f"Removed what a run that was killed had left behind: {room}." in said.read_text()
    assert not list(scratch.iterdir())


def test_what_lives_or_is_not_ours_is_left_alone(village, nursery, tmp_path, monkeypatch):
    from sudare.engines.scratch import PREFIX, remove_leftovers

    scratch, said = village / "scratch", village / "said"
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    (scratch / f"{PREFIX}00112233445566aa").symlink_to(precious)
    (scratch / "somebody-elses").mkdir()
    (scratch / "somebody-elses" / "lock").touch()
    for name in (f"{PREFIX}notes", f"{PREFIX}00112233445566cc"):  # called like a room, and none
        (scratch / name).mkdir(mode=0o700)
        (scratch / name / "notes.txt").write_text("kept")
    dead = scratch / f"{PREFIX}00112233445566bb"
    dead.mkdir(mode=0o700)
    (dead / "lock").touch()
    (dead / "inner").mkdir()
    (dead / "inner" / "link").symlink_to(precious)
    (dead / "link").symlink_to(precious)
    nursery.start(scratch, said, "publish", village / "table.toml", "--quiet")
    others = {f"{PREFIX}00112233445566aa", "somebody-elses", f"{PREFIX}notes", f"{PREFIX}00112233445566cc"}
    assert stop_when_spilt(nursery.process, scratch)
    (living,) = {path.name for path in scratch.iterdir()} - others - {dead.name}
    dead.mkdir(mode=0o700, exist_ok=True)  # the publication above has removed it already
    before = sorted(scratch.glob(f"{living}/**/*"))
    monkeypatch.setenv("SUDARE_SCRATCH", str(scratch))
    found = remove_leftovers()
    assert dead in found.removed
    assert scratch / living not in {*found.removed, *found.kept}
    assert sorted(scratch.glob(f"{living}/**/*")) == before
    assert {path.name for path in scratch.iterdir()} == others | {living}
    assert (precious / "file").read_text() == "kept"
    os.kill(nursery.process, signal.SIGCONT)
    assert nursery.wait() == 0  # the living one goes on to its end
    assert {path.name for path in scratch.iterdir()} == others
    sd.verify(village / "release")


def test_a_room_in_another_place_is_found_by_its_note(village, nursery):
    scratch, said, other = village / "scratch", village / "said", village / "other"
    other.mkdir(mode=0o700)
    recipe = village / "table.toml"
    recipe.write_text(recipe.read_text().replace('"person"}', '"person", scratch = "other"}'))
    nursery.start(scratch, said, "publish", recipe, "--quiet")
    assert stop_when_spilt(nursery.process, other)
    assert not spilt(scratch)
    assert end(nursery, signal.SIGKILL) == -signal.SIGKILL
    (room,) = other.iterdir()
    nursery.start(scratch, said, "ledger", "show", "--ledger", village / "ledger.db")
    nursery.wait()
    assert str(room) in said.read_text()
    assert not [*scratch.iterdir(), *other.iterdir()]


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda place: place.chmod(0o777), "others can remove and replace what is in the scratch folder"),
        (lambda place: place.chmod(0o770), "others can remove and replace what is in the scratch folder"),
        (
            lambda place: (place.rename(place.with_name("real")), place.symlink_to("real")),
            "the scratch folder is a link",
        ),
        (lambda place: place.rmdir(), "the scratch folder cannot be made: No such file or directory"),
    ],
)
def test_a_place_that_cannot_be_private_is_refused_before_anything_is_paid(village, monkeypatch, spoil, what):
    spoil(village / "scratch")
    monkeypatch.setenv("SUDARE_SCRATCH", str(village / "scratch"))
    with pytest.raises(OutputError, match=f"^{what}"):
        sd.publish(village / "table.toml")
    assert not (village / "ledger.db").exists()


def test_a_place_is_an_absolute_path_and_may_be_shared_with_the_sticky_bit(village, monkeypatch):
    monkeypatch.setenv("SUDARE_SCRATCH", "somewhere")
    with pytest.raises(ParameterError, match=r"^SUDARE_SCRATCH is not an absolute path"):
        sd.read(village / "public.parquet").values(["age"])
    (village / "scratch").chmod(0o1777)
    monkeypatch.setenv("SUDARE_SCRATCH", str(village / "scratch"))
    assert sd.read(village / "public.parquet").values(["age"])
    assert not list((village / "scratch").iterdir())


def test_a_forked_child_removes_nothing_of_its_parent(tmp_path):
    from sudare.engines.scratch import PrivateFolder, close_rooms, remove_leftovers

    held = PrivateFolder.within(tmp_path)
    child = os.fork()
    if child == 0:
        try:
            held.remove()
            close_rooms()
            with PrivateFolder.within(tmp_path) as own:
                os._exit(own.path.parent == held.path.parent)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert held.path.is_dir()
    assert not remove_leftovers(tmp_path).kept
    assert [path.name for path in tmp_path.iterdir()] == [held.path.parent.name]
    held.remove()
    assert not list(tmp_path.iterdir())


def test_a_signal_at_any_moment_over_all_kinds(village, nursery, full, monkeypatch):
    from sudare.engines.scratch import remove_leftovers

    dice = random.Random() if full else random.Random(2)  # noqa: S311 - when to end, not what to hide
    scratch, said, results = village / "scratch", village / "said", []
    kept = {path.name for path in village.iterdir()}
    monkeypatch.setenv("SUDARE_SCRATCH", str(scratch))
    lasts: dict[str, float] = {}
    for turn in range(300 if full else 4):
        kind, number = list(KINDS)[turn % 4], SIGNALS[(turn // 4 + turn) % 4]
        begun = time.perf_counter()
        nursery.start(scratch, said, "publish", village / f"{kind}.toml", "--quiet")
        if turn % 8 < 4:
            spilled = stop_when_spilt(nursery.process, scratch)
        else:
            spilled = False
            while not (listens(nursery.process) or has_ended(nursery.process)):
                time.sleep(0.001)
            until = time.perf_counter() + dice.uniform(0, lasts[kind])
            while time.perf_counter() < until and not has_ended(nursery.process):
                time.sleep(0.002)
        code = end(nursery, number)
        lasts[kind] = time.perf_counter() - begun  # of the last one alone: the machine may have been busy before
        require_whole(village, code, said.read_text(), number)
        if number == signal.SIGKILL:
            assert code in (0, -number)
            assert not remove_leftovers().kept
        assert not list(scratch.iterdir()), (kind, number)
        results.append((kind, number.name, spilled, code != 0, (village / "release").exists()))
        for path in [path for path in village.iterdir() if path.name not in kept]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    ended = [each for each in results if each[3]]
    print(f"{len(results)} signals, {len(ended)} before the end, {sum(each[2] for each in results)} while spilt")
    assert ended


SPARK = """
data = {path = "people.parquet", unit = "person", engine = "spark", release = "cluster"}
domain.place = {type = "line", length = 64}
method = {name = "top_down"}
privacy = {epsilon = 0.01}
"""


@pytest.fixture
def spark_village(village) -> Path:
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'sudare[spark]'")
    pq.write_table(pq.read_table(village / "people.parquet").slice(0, 1000), village / "few.parquet")
    (village / "spark.toml").write_text(SHARED + SPARK.replace("people", "few"))
    return village


def frozen(scratch: Path) -> bool:
    try:
        return any(scratch.glob("**/rows-*/*.parquet"))
    except FileNotFoundError:
        return False


def begin_with_spark(village: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A publication by a Spark of its own, stopped when it has exact counts on the disk; and its Java processes."""
    scratch = village / "scratch"
    light = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    environment = {**os.environ, "SUDARE_SCRATCH": str(scratch), "TMPDIR": str(scratch), "SPARK_SUBMIT_OPTS": light}
    with (village / "said").open("w") as said:
        # The tests themselves may run under nohup, which a command heeds.
        heard = "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_DFL)"
        code = f"{heard}; from sudare.cli import main; main(sys.argv[1:])"
        command = [sys.executable, "-c", code, "publish", str(village / "spark.toml"), "--quiet"]
        process = subprocess.Popen(command, stderr=said, env=environment, text=True)
    while not frozen(scratch):
        assert process.poll() is None, (village / "said").read_text()
        time.sleep(0.01)
    assert halt(process.pid)
    assert frozen(scratch)
    return process, [
        int(child) for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ]


def test_a_signal_while_spark_holds_exact_counts_leaves_none(spark_village, full, monkeypatch):
    scratch = spark_village / "scratch"
    monkeypatch.setenv("SUDARE_SCRATCH", str(scratch))
    for turn in range(30 if full else 1):
        number = SIGNALS[turn % 4]
        process, javas = begin_with_spark(spark_village)
        assert javas
        assert {path.name.partition("-")[0] for path in scratch.iterdir()} == {"sudare"}  # and nothing of Spark's own
        os.kill(process.pid, number)
        os.kill(process.pid, signal.SIGCONT)
        code, said = process.wait(), (spark_village / "said").read_text()
        if number == signal.SIGKILL:
            for java in javas:
                while Path(f"/proc/{java}").exists():
                    time.sleep(0.01)
            from sudare.engines.scratch import remove_leftovers

            assert not remove_leftovers().kept
        else:
            assert code == 128 + number
            assert said.splitlines()[-1] == f"The command was stopped by the signal {number.name}."
            assert "Traceback" not in said
            assert "\tat " not in said
            assert not any(Path(f"/proc/{java}").exists() for java in javas)
        assert not list(scratch.iterdir())
        assert not (spark_village / "release").exists()


def test_a_java_process_that_dies_is_one_sentence(spark_village, full):
    if not full:
        pytest.skip("starts another Spark: in the full form only")
    process, (java,) = begin_with_spark(spark_village)
    os.kill(java, signal.SIGKILL)
    os.kill(process.pid, signal.SIGCONT)
    assert process.wait() == 1
    said = (spark_village / "said").read_text()
    assert said.splitlines()[-1].startswith("Error: Spark's Java process stopped before it finished.")
    assert "Traceback" not in said
    assert not list((spark_village / "scratch").iterdir())


def test_a_python_worker_that_dies_is_one_sentence(spark, tmp_path, capfd):
    def dies(batches):
        os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    with without_pandas_warning():
        frame = spark.range(4).mapInArrow(dies, "id bigint")
    records = sd.read(frame, scratch=tmp_path)
    with pytest.raises(InputError, match=r"^a Python worker of Spark stopped before it finished\. The usual cause"):
        records.count(sd.Domain(id=sd.Line(4)), unit="id")
    assert "\tat " not in capfd.readouterr().err
    assert not list(tmp_path.iterdir())
