"""Paid once, said, and completed: of ten starts one pays; what ended after its row names the release; it is finished.

While a publication runs to its end, its folder is copied right before moments at which Python touches the world: each
copy is what a kill at that moment leaves on the disk. Put back, it is completed, and must become, byte for byte, what
the run that was not interrupted has published. The quick form takes every eleventh
moment of four kinds, the full one all.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from fault_processes import Nursery
from fault_recipes import RECIPES, SHARED, house, tame

import sudare as sd
from sudare.errors import LedgerWarning, OutputError, PaidError
from sudare.language.messages import OnProgress, Progress
from sudare.noise import Source
from sudare.privacy import Ledger
from sudare.privacy.fingerprint import Fingerprint
from sudare.reconstruct.kind import PerturbationKind
from sudare.workflow import publication as run
from sudare.workflow.folder import lock_path, taken
from sudare.workflow.job import Job
from sudare.workflow.pending import PendingReleases, gathered_hash
from sudare.workflow.public_sources import Sources

KINDS = {"table": 0, "sample": 3, "perturbation": 6, "weights": 7}
IMPORTS = """
import sudare, duckdb, pyarrow.parquet, pyarrow.csv, pyarrow.compute, jinja2, narwhals, sudare.workflow
import sudare.tables.kind, sudare.anonymity.kind, sudare.reconstruct.kind, sudare.reweight.kind
"""
# Publishes, and copies the folder right before every so-many-th touch of the world from the stage "spending" on.
KEEPER = """
import shutil, sys
recipe, folder, copies, step = words
names = ("open", "os.", "sqlite3.", "shutil.", "tempfile.")
seen, on = 0, False
def watch(event, arguments):
    global seen, on
    if on and event.startswith(names):
        seen += 1
        if seen % int(step) == 0:
            on = False
            shutil.copytree(folder, f"{copies}/{seen:04}")
            on = True
def progress(now):
    global on
    on = now.stage not in ("reading", "report", "internal_report")
sys.addaudithook(watch)
import sudare
sudare.publish(recipe, progress=progress)
on = False
"""
# Ten processes that begin at the same moment, when the last of them is there.
TOGETHER = """
import os, sys
import sudare, sudare.tables.kind, duckdb, pyarrow.parquet
from sudare.errors import SudareError
ready, go = os.pipe(), os.pipe()
for _ in range(10):
    if os.fork() == 0:
        os.close(go[1])
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        try:
            sudare.publish(sys.argv[1])
        except SudareError as refusal:
            said = str(refusal)
        else:
            said = "published"
        os.write(1, f"{said}\\n".encode())
        os._exit(0)
for _ in range(10):
    os.read(ready[0], 1)
os.close(go[0])
os.close(go[1])
for _ in range(10):
    os.wait()
"""


@pytest.fixture(scope="module")
def nursery():
    with Nursery(IMPORTS, KEEPER) as made:
        yield made


def settled_in(folder: Path, kind: str = "table") -> Path:
    """The recipe of a kind, beside its data."""
    folder.mkdir(exist_ok=True)
    for name in ("people.parquet", "people.csv", "public.csv"):
        shutil.copy(house() / name, folder)
    for name in ("people.parquet", "people.csv"):
        tame(folder / name)
    # At epsilon 0.5 one table in thirteen is empty: two of them are equal, and to complete one would show little.
    text = RECIPES[KINDS[kind]].replace("privacy = {epsilon = 0.5}", "privacy = {epsilon = 2}")
    (folder / "recipe.toml").write_text(text + SHARED)
    return folder / "recipe.toml"


def spends_in(folder: Path) -> list[str]:
    """The ids of the releases that the ledger has, all of it verified."""
    ledger = Ledger(folder / "ledger.db")
    return [row.content["release_id"] for row in ledger.entries() if row.kind == "spend"]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def hidden_in(folder: Path) -> set[str]:
    """What is kept beside a release that is not out, or taken."""
    return {path.name for path in folder.iterdir() if path.name.endswith((".pending", ".lock"))}


class Ended(Exception):  # noqa: N818 - it stands for a kill
    """Ends a run in its middle."""


def stopped_at(stage: str, problem: BaseException | type[BaseException] = Ended) -> OnProgress:
    """What a run reports to, and is ended by at a stage."""

    def stop(now: Progress) -> None:
        if now.stage == stage:
            raise problem

    return stop


def interrupted(recipe: Path, problem: BaseException | type[BaseException] = Ended) -> PaidError:
    """A run that ends at a stage after its row, and what is said of it."""

    with pytest.raises((PaidError, KeyboardInterrupt, SystemExit)) as end:
        sd.publish(recipe, progress=stopped_at("writing", problem))
    assert not (recipe.parent / "release").exists()
    return end.value if isinstance(end.value, PaidError) else end.value.__cause__


# Paid once


def test_ten_starts_at_the_same_moment_pay_for_one_release(tmp_path):
    recipe = settled_in(tmp_path / "house")
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER, str(recipe)], capture_output=True, text=True, check=True, timeout=300
    )
    outcomes = done.stdout.splitlines()
    assert (len(outcomes), outcomes.count("published")) == (10, 1), done
    refusals = ("another publication into this folder is under way", "the output folder exists already")
    assert all(outcome.startswith((*refusals, "published")) for outcome in outcomes), outcomes
    assert len(spends_in(recipe.parent)) == 1
    sd.verify(recipe.parent / "release")
    assert hidden_in(recipe.parent) == set()


def test_who_comes_while_one_is_at_work_spends_nothing(tmp_path):
    recipe, said = settled_in(tmp_path / "house"), []

    def again(now: Progress) -> None:
        if now.stage in ("reading", "protecting", "writing"):
            for asked in ({}, {"resume": True}, {"anew": True}):
                with pytest.raises(OutputError, match="another publication into this folder is under way"):
                    sd.publish(recipe, **asked)
            said.append((now.stage, len(PendingReleases(Ledger(tmp_path / "house" / "ledger.db")).waiting())))

    sd.publish(recipe, progress=again)
    assert said == [("reading", 0), ("protecting", 0), ("writing", 0)]  # a run at work is not one that was lost
    assert len(spends_in(recipe.parent)) == 1


def test_a_folder_is_the_same_by_all_its_names(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "sub")
    names = [tmp_path / "sub" / "release", tmp_path / "link" / "release", tmp_path / "sub" / "x" / ".." / "release"]
    assert len({lock_path(name) for name in names}) == 1
    with taken(names[0]):
        for name in names[1:]:
            with pytest.raises(OutputError, match="under way"), taken(name):
                pass
    (tmp_path / "sub" / "gone").symlink_to(tmp_path / "nowhere")
    for name in (tmp_path / "sub" / "gone", tmp_path / "sub" / "x" / ".."):
        with pytest.raises(OutputError, match="exists already"), taken(name):
            pass
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["gone"]


# Said


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (MemoryError(), "the machine ran out of memory"),
        (OSError(28, "No space left on device"), "no space is left on the disk"),
        (Ended("a secret"), "Ended"),
        (KeyboardInterrupt(), "the run was interrupted"),
        (SystemExit(143), "the run was interrupted"),
    ],
)
def test_whatever_ends_a_run_after_its_row_names_the_release(tmp_path, problem, reason):
    recipe = settled_in(tmp_path / "house")
    said = str(interrupted(recipe, problem=problem))
    (release,) = spends_in(recipe.parent)
    assert said.startswith(f"release {release} was paid for and is not out: ")
    assert reason in said
    assert "secret" not in said
    assert "sudare publish RECIPE --resume" in said
    # Whoever begins again is told as well, and pays nothing unawares.
    with pytest.raises(PaidError, match=f"release {release} was paid for and is not out"):
        sd.publish(recipe)
    assert sd.publish(recipe, resume=True).release_id == release
    assert spends_in(recipe.parent) == [release]
    assert hidden_in(recipe.parent) == set()


def test_ctrl_c_after_the_row_is_one_sentence(tmp_path):
    recipe = settled_in(tmp_path / "house")
    code = """
import os, signal, sys
import sudare.tables.kind as table_job
def interrupted(*given):
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass
table_job.write = interrupted
from sudare.cli import main
main()
"""
    command = [sys.executable, "-c", code, "publish", str(recipe)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    (release,) = spends_in(recipe.parent)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.startswith(f"release {release} was paid for and is not out: the run was interrupted.")
    assert done.stderr.count("\n") == 1


def test_nothing_is_said_of_a_run_that_ended_before_its_row(tmp_path):
    recipe = settled_in(tmp_path / "house")
    for stage in ("reading", "spending"):
        with pytest.raises(Ended):
            sd.publish(recipe, progress=stopped_at(stage))
    assert hidden_in(recipe.parent) == set()
    with pytest.raises(OutputError, match="no release that was paid for waits"):
        sd.publish(recipe, resume=True)
    assert not (recipe.parent / "ledger.db").exists()


def test_the_ledger_lists_rows_without_a_release(tmp_path):
    from click.testing import CliRunner

    from sudare.cli import main

    recipe = settled_in(tmp_path / "house")
    interrupted(recipe)
    (release,) = spends_in(recipe.parent)
    words = ["ledger", "show", "--ledger", str(recipe.parent / "ledger.db")]
    shown = CliRunner().invoke(main, words).output
    line = next(line for line in shown.splitlines() if line.startswith(release))
    assert line.split("\t")[1] == "village"
    assert line.split("\t")[3:] == [str(recipe.parent / "release"), "complete it: sudare publish RECIPE --resume"]
    (listed,) = json.loads(CliRunner().invoke(main, [*words, "--json"]).output)["pending"]
    assert (listed["release_id"], listed["can_resume"]) == (release, True)
    done = CliRunner().invoke(main, ["publish", str(recipe), "--resume", "--json"])
    assert json.loads(done.output)["release_id"] == release
    assert "pending" not in CliRunner().invoke(main, words).output
    assert json.loads(CliRunner().invoke(main, [*words, "--json"]).output)["pending"] == []


# Completed


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_completed_is_what_was_paid_for(tmp_path, kind, full, nursery):
    recipe, copies = settled_in(tmp_path / "house", kind), tmp_path / "copies"
    folder = recipe.parent
    nursery.start(recipe, folder, copies, 1 if full else 11)
    assert nursery.wait() == 0
    whole, (release,) = bytes_of(folder / "release"), spends_in(folder)
    assert hidden_in(folder) == set()  # no key of noise stays
    stages = {"not paid": 0, "paid, not out": 0, "out": 0}
    for copy in sorted(copies.iterdir()):
        shutil.rmtree(folder)
        shutil.copytree(copy, folder)
        waiting = PendingReleases(Ledger(folder / "ledger.db")).waiting()
        stage = "out" if (folder / "release").exists() else "paid, not out" if waiting else "not paid"
        stages[stage] += 1
        assert [each.facts.release_id for each in waiting] == ([release] if stage == "paid, not out" else [])
        if stage == "paid, not out":
            assert sd.publish(recipe, resume=True).release_id == release
        else:
            with pytest.raises(OutputError):
                sd.publish(recipe, resume=True)
        if stage != "not paid":
            assert bytes_of(folder / "release") == whole
            assert spends_in(folder) == [release]
            sd.verify(folder / "release", publisher=folder / "publisher.pem")
        assert not (folder / "ledger.db.pending").exists()
    print(f"{kind}: {stages}")
    assert stages["paid, not out"]


def test_the_record_is_the_owners_alone_and_holds_no_key_in_plain(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(run.Source, "system", lambda own=run.Source.system: drawn.append(own()) or drawn[-1])
    recipe = settled_in(tmp_path / "house")
    interrupted(recipe)
    records = PendingReleases(Ledger(recipe.parent / "ledger.db"))
    (path,) = records.folder.iterdir()
    assert (records.folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)
    key = drawn[0].key_to_seal()
    assert key not in path.read_bytes()
    assert key.hex() not in path.read_text()
    # Only with the publisher's key, and only as it was written.
    (recipe.parent / "publisher.pem").rename(recipe.parent / "other.pem")
    with pytest.raises(PaidError, match="sealed with another publisher's key"):
        sd.publish(recipe, resume=True)
    (recipe.parent / "other.pem").replace(recipe.parent / "publisher.pem")
    content = path.read_text()
    path.write_text(content.replace('"language": "en"', '"language": "ja"'))
    with pytest.raises(PaidError, match="its record was changed"):
        sd.publish(recipe, resume=True)
    path.write_text("{")
    with pytest.raises(sd.errors.LedgerError, match="the record of a release that was paid for cannot be read"):
        sd.publish(recipe, resume=True)
    path.write_bytes(bytes(len(content)))  # a kill between overwriting and removing
    assert records.waiting() == ()
    assert hidden_in(recipe.parent) == set()


def test_an_older_copy_of_the_ledger_does_not_take_the_record_away(tmp_path):
    """Restored for a moment, it lacks the row as well as the head before it."""
    recipe = settled_in(tmp_path / "house")
    path = recipe.parent / "ledger.db"
    Ledger(path).set_cap("other", epsilon=1)
    older = path.read_bytes()
    Ledger(path).set_cap("another", epsilon=1)
    interrupted(recipe)
    newest = path.read_bytes()
    path.write_bytes(older)
    assert PendingReleases(Ledger(path)).waiting() == ()
    path.unlink()
    assert PendingReleases(Ledger(path)).waiting() == ()
    path.write_bytes(newest)
    assert len(PendingReleases(Ledger(path)).waiting()) == 1
    sd.publish(recipe, resume=True)
    assert hidden_in(recipe.parent) == set()


@pytest.mark.parametrize("backup", ["the last one", "none"])
def test_a_restored_backup_takes_no_paid_record_away_and_shows_no_second_draw(tmp_path, monkeypatch, backup):
    """The backup holds the head that the run began with, so that nothing but the record tells that it was paid."""
    from click.testing import CliRunner

    from sudare.cli import main

    monkeypatch.setenv("SUDARE_STATE", "off")
    recipe = settled_in(tmp_path / "house")
    folder, path = recipe.parent, recipe.parent / "ledger.db"
    if backup != "none":
        sd.publish(recipe)
        (folder / "release").rename(tmp_path / "first")
        older = path.read_bytes()
    with pytest.raises(PaidError):
        sd.publish(recipe, progress=stopped_at("protecting"))
    release, newest = spends_in(folder)[-1], path.read_bytes()
    (record,) = (folder / "ledger.db.pending").iterdir()
    kept = record.read_bytes()
    if backup == "none":
        path.unlink()
        Ledger(path).set_cap("other", epsilon=1)
    else:
        path.write_bytes(older)
    for asked in ({}, {"resume": True}):
        with pytest.raises(sd.errors.LedgerError, match=f"release {release} is not in this ledger.*--resume"):
            sd.publish(recipe, **asked)
    words = ["ledger", "show", "--ledger", str(path)]
    shown = CliRunner().invoke(main, words).output
    assert any(line.startswith(release) and "restore the newer one" in line for line in shown.splitlines())
    listed = json.loads(CliRunner().invoke(main, [*words, "--json"]).output)
    assert [listed["pending"], listed["pending_elsewhere"][0]["release_id"]] == [[], release]
    assert record.read_bytes() == kept
    assert not (folder / "release").exists()
    path.write_bytes(newest)
    assert sd.publish(recipe, resume=True).release_id == release
    assert spends_in(folder)[-1] == release
    assert hidden_in(folder) == set()


def test_who_pays_anew_with_another_ledger_gives_the_record_up(tmp_path, monkeypatch):
    monkeypatch.setenv("SUDARE_STATE", "off")
    recipe = settled_in(tmp_path / "house")
    interrupted(recipe)
    (recipe.parent / "ledger.db").unlink()
    sd.publish(recipe, anew=True)
    assert len(spends_in(recipe.parent)) == 1
    assert hidden_in(recipe.parent) == set()


def test_a_mark_cut_off_by_a_power_cut_is_a_mark(tmp_path):
    recipe = settled_in(tmp_path / "house")
    interrupted(recipe)
    (record,) = (recipe.parent / "ledger.db.pending").iterdir()
    first, _, row = record.read_text().partition("\n")
    assert row.strip() == Ledger(recipe.parent / "ledger.db").head()
    record.write_text(f"{first}\n{row[:5]}")
    newest = (recipe.parent / "ledger.db").read_bytes()
    (recipe.parent / "ledger.db").unlink()
    assert PendingReleases(Ledger(recipe.parent / "ledger.db")).waiting() == ()
    (recipe.parent / "ledger.db").write_bytes(newest)
    sd.publish(recipe, resume=True)


def test_an_interrupt_when_the_release_is_out_names_it(tmp_path):
    recipe = settled_in(tmp_path / "house")
    recipe.write_text(recipe.read_text().replace("public = false", "public = true"))
    with pytest.raises(KeyboardInterrupt) as end:
        sd.publish(recipe, progress=stopped_at("report", KeyboardInterrupt))
    (release,) = spends_in(recipe.parent)
    assert str(end.value.__cause__).startswith(f"release {release} is out, and not all of its reports are drawn")
    assert sd.verify(recipe.parent / "release").ok
    assert hidden_in(recipe.parent) == set()


def refuses(recipe: Path, reason: str) -> None:
    (release,) = spends_in(recipe.parent)
    with pytest.raises(PaidError, match=f"release {release} was paid for and is not out: {reason}"):
        sd.publish(recipe, resume=True)
    assert not (recipe.parent / "release").exists()
    assert spends_in(recipe.parent) == [release]


@pytest.mark.parametrize("kind", ["table", "perturbation"])
def test_data_that_differ_in_one_record_are_not_completed_on(tmp_path, kind):
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    recipe = settled_in(tmp_path / "house", kind)
    interrupted(recipe)
    path = Job.open(recipe).kind.private_origin
    content = path.read_bytes()
    if path.suffix == ".csv":
        pc.write_csv(pc.read_csv(path).slice(1), path)
    else:
        pq.write_table(pq.read_table(path).slice(1), path)
    refuses(recipe, "the private or the public files are not those that were read")
    path.write_bytes(content)
    sd.publish(recipe, resume=True)


def test_another_public_file_is_not_completed_on(tmp_path):
    recipe = settled_in(tmp_path / "house", "weights")
    interrupted(recipe)
    with (recipe.parent / "public.csv").open("a") as file:
        file.write('30,"f"\n')
    refuses(recipe, "the private or the public files are not those that were read")


def test_rows_in_another_order_are_not_completed_on(tmp_path, monkeypatch):
    recipe = settled_in(tmp_path / "house", "perturbation")
    interrupted(recipe)
    own = PerturbationKind.gather
    monkeypatch.setattr(
        PerturbationKind, "gather", lambda *given: {name: column[::-1] for name, column in own(*given).items()}
    )
    refuses(recipe, "the data are read differently than in the first run")


def test_another_recipe_or_version_does_not_complete_it(tmp_path, monkeypatch):
    recipe = settled_in(tmp_path / "house")
    interrupted(recipe)
    text = recipe.read_text()
    recipe.write_text(text.replace("epsilon = 2", "epsilon = 3"))
    refuses(recipe, "the recipe is not the one that was paid for")
    recipe.write_text("# Spacing and comments may be others.\n" + text)
    monkeypatch.setattr("sudare.workflow.pending.__version__", "9.9")
    refuses(recipe, "it was begun with another version of sudare")
    monkeypatch.undo()
    sd.publish(recipe, resume=True)


def test_data_without_a_fingerprint_are_paid_for_anew_or_not(tmp_path, monkeypatch):
    recipe = settled_in(tmp_path / "house")
    monkeypatch.setattr(run.Sources, "of", lambda _: Sources(Fingerprint()))  # as for a cluster's file system
    interrupted(recipe)
    refuses(recipe, "its data have no fingerprint. It cannot be completed")
    sd.publish(recipe, anew=True)
    assert len(spends_in(recipe.parent)) == 2
    assert hidden_in(recipe.parent) == set()


def test_data_that_cannot_be_compared_are_not_completed_on(tmp_path, monkeypatch):
    """As a kind of another package may gather them: a frame has no hash here, and others would pass for it."""
    import pyarrow as pa

    recipe = settled_in(tmp_path / "house", "perturbation")
    monkeypatch.setattr(PerturbationKind, "compared", lambda _, data: pa.table(data))
    interrupted(recipe)
    refuses(recipe, "its data have no fingerprint. It cannot be completed")
    source = Source.from_seed(1)
    values = [1, np.int64(1), np.float64(1), Fraction(1), b"1", "1", None, True, np.ones(1), [1], {"1": 1}]
    assert len({gathered_hash(value, source) for value in values} - {None}) == len(values)
    assert gathered_hash([1, {"frame": pa.table({"age": [1]})}], source) is None


def test_who_publishes_into_another_folder_hears_of_the_one_that_waits(tmp_path):
    recipe = settled_in(tmp_path / "house")
    interrupted(recipe)
    (release,) = spends_in(recipe.parent)
    other = recipe.with_name("other.toml")
    other.write_text(recipe.read_text().replace('folder = "release"', 'folder = "elsewhere"'))
    with pytest.warns(LedgerWarning, match=rf"^release {release} of this data set was paid for and is not out"):
        sd.publish(other)
    sd.publish(recipe, resume=True)
    assert len(spends_in(recipe.parent)) == 2


def test_another_one_is_paid_for_where_that_is_asked(tmp_path):
    recipe = settled_in(tmp_path / "house")
    interrupted(recipe)
    with pytest.raises(Ended):  # before the row: the first one can still be completed
        sd.publish(recipe, anew=True, progress=stopped_at("spending"))
    assert len(PendingReleases(Ledger(recipe.parent / "ledger.db")).waiting()) == 1
    made = sd.publish(recipe, anew=True)
    assert spends_in(recipe.parent)[1:] == [made.release_id]
    assert hidden_in(recipe.parent) == set()


def test_a_record_of_a_release_that_is_out_goes_with_the_next_command(tmp_path):
    recipe = settled_in(tmp_path / "house")
    interrupted(recipe)
    records = PendingReleases(Ledger(recipe.parent / "ledger.db"))
    (record,) = records.waiting()
    sd.publish(recipe, resume=True)
    records.add(record)  # as after a kill between the two
    with pytest.raises(OutputError, match="exists already"):
        sd.publish(recipe)
    assert hidden_in(recipe.parent) == set()


def test_rows_come_in_the_same_order_every_time(tmp_path):
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(5)
    people = {"person": rng.integers(0, 60_000, 200_000), "age": rng.integers(0, 99, 200_000)}
    pq.write_table(pa.table(people), tmp_path / "people.parquet", row_group_size=4_000)
    for bound in ({}, {"unit": "person", "max_rows": 2, "key": b"k" * 16}):
        first, *others = (sd.read(tmp_path / "people.parquet").values(["age"], **bound)["age"] for _ in range(4))
        assert all(np.array_equal(first, other) for other in others)


def test_the_table_of_one_run_is_not_that_of_another(tmp_path):
    """So that the comparisons above mean something: two runs that pay draw other noise."""
    recipe = settled_in(tmp_path / "house")
    first = bytes_of(sd.publish(recipe).folder)
    shutil.rmtree(recipe.parent / "release")
    assert bytes_of(sd.publish(recipe).folder)["table.parquet"] != first["table.parquet"]
