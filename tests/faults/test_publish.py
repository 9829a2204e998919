"""`publish` killed at random moments: no half release under a final name, no release without its row in the ledger.

Half of the kills come after a random time, half at a random one of the moments where Python touches the world (opens,
renames, removes or connects), which finds the gaps between two system calls that a clock would hardly hit. 10 kills in
the quick form, 200 in the full one.
"""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fault_processes import Nursery

import sudare as sd
from sudare.privacy import Ledger
from sudare.privacy import private_files as secret_file
from sudare.workflow import reports as signing
from sudare.workflow.folder import whole_folder
from sudare.workflow.pending import PendingReleases

RECIPE = """
dataset = "village"
data = {path = "people.parquet"}
domain.sex = {type = "categories", values = ["f", "m"]}
domain.place = {type = "line", length = 40}
privacy = {epsilon = 0.01}
ledger = {path = "ledger.db", cap = {epsilon = 100}}
output = {folder = "release", key = "publisher.pem"}
report = {public = false}
"""
IMPORTS = """
import sudare, duckdb, pyarrow.parquet, pyarrow.csv, pyarrow.compute, jinja2, vl_convert, narwhals
import sudare.workflow, sudare.tables.kind, sudare.render
"""
# With a number, the process kills itself when Python is about to touch the world for so many times.
PUBLISHER = """
import os, signal, sys
recipe, moment, seen_file = words
if moment:
    left = int(moment)
    names = ("open", "os.", "sqlite3.", "shutil.", "tempfile.")
    seen = 0
    def watch(event, arguments):
        global left, seen
        if event.startswith(names):
            seen += 1
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)
import sudare
sudare.publish(recipe)
if moment:
    number = seen
    left = 0
    with open(seen_file, "w") as file:
        file.write(str(number))
"""


@pytest.fixture
def village(tmp_path: Path) -> Path:
    """The recipe, beside its data and a recipe with pages."""
    rng = np.random.default_rng(3)
    people = {"sex": rng.choice(["f", "m"], 500), "place": rng.integers(0, 40, 500)}
    pq.write_table(pa.table(people), tmp_path / "people.parquet")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "pages.toml").write_text(RECIPE.replace("public = false", "public = true, internal = true"))
    return tmp_path / "recipe.toml"


def aftermath(folder: Path) -> tuple[int, bool]:
    """How many releases the ledger counts, and whether one is out; everything that is there must be whole."""
    ledger = Ledger(folder / "ledger.db")
    spent = 0
    if ledger.path.exists():
        ledger.verify()
        spent = len(ledger.entries()) - (len(ledger.datasets()) > 0)
        assert ledger.balance("village").spent.epsilon * 100 == spent
    release = folder / "release"
    if release.exists():
        # A release is whole, verified, and paid for.
        certificate = sd.verify(release, publisher=folder / "publisher.pem").certificate
        ledger.verify(certificate["ledger_head"])
        assert certificate["release_id"] in {entry.content.get("release_id") for entry in ledger.entries()}
    for page in (release / "report.html", folder / "release-internal.html"):
        if page.exists():
            assert page.read_text().rstrip().endswith("</html>")
    known = {"people.parquet", "recipe.toml", "ledger.db", "ledger.db-journal", "release", "release-internal.html"}
    known |= {"publisher.pem", "ledger.db.key", "pages.toml", "seen", ".release.lock", ".ledger.db.pending.lock"}
    if ledger.path.exists():
        assert [each.facts.folder for each in PendingReleases(ledger).waiting()] in ([], [str(release)])
    known |= {"ledger.db.pending"}
    strange = {path.name for path in folder.iterdir()} - known
    assert all(name.startswith(".") and ".partial-" in name for name in strange), strange
    return spent, release.exists()


def clear(folder: Path) -> None:
    shutil.rmtree(folder / "release", ignore_errors=True)
    (folder / "release-internal.html").unlink(missing_ok=True)


def test_a_killed_publish_leaves_nothing_half_done(village, full):
    kills = 200 if full else 10
    dice = random.Random() if full else random.Random(4)  # noqa: S311 - when to kill, not what to hide
    folder = village.parent
    stages = {"nothing": 0, "paid, not out": 0, "out": 0}
    with Nursery(IMPORTS, PUBLISHER) as nursery:
        begun = time.perf_counter()
        nursery.start(village, 10**9, folder / "seen")
        assert nursery.wait() == 0
        lasts, moments = time.perf_counter() - begun, int((folder / "seen").read_text())
        assert aftermath(folder) == (1, True)
        before = 1
        for number in range(kills):
            clear(folder)
            # The first publication of a data set makes a ledger and a key, which can be torn too.
            if number % 4 == 0:
                for name in ("ledger.db", "ledger.db-journal", "publisher.pem"):
                    (folder / name).unlink(missing_ok=True)
                shutil.rmtree(folder / "ledger.db.pending", ignore_errors=True)
                before = 0
            if number % 10 == 9:  # long after the release is out, while its pages are drawn
                nursery.start(folder / "pages.toml", "", "")
                time.sleep(dice.uniform(lasts, lasts + 2))
                nursery.kill()
            elif number % 2:
                nursery.start(village, "", "")
                time.sleep(dice.uniform(0, lasts))
                nursery.kill()
            else:
                nursery.start(village, dice.randint(1, moments), folder / "seen")
            assert nursery.wait() in (0, -9)
            spent, out = aftermath(folder)
            assert spent - before in (0, 1)
            assert spent > before or not out
            stages["out" if out else "paid, not out" if spent > before else "nothing"] += 1
            before = spent
            if PendingReleases(Ledger(folder / "ledger.db")).waiting():
                # What was paid for comes out, and costs nothing more.
                sd.publish(folder / "pages.toml" if number % 10 == 9 else village, resume=True)
                assert aftermath(folder) == (spent, True)
                assert not (folder / "ledger.db.pending").exists()
        clear(folder)
        nursery.start(village, "", "")
        assert nursery.wait() == 0
        assert aftermath(folder) == (before + 1, True)
    print(f"{kills} publications killed: {stages}")
    assert all(stages.values()) or not full  # ten moments may all be early ones


def test_what_a_killed_process_left_is_in_nobodys_way(tmp_path, monkeypatch):
    # In a container the next process may well have the number of the one that was killed.
    monkeypatch.setattr("os.getpid", lambda: 7)
    killed = [whole_folder(tmp_path / "release") for _ in range(2)]
    for each in killed:
        each.__enter__().joinpath("half").touch()
    with whole_folder(tmp_path / "release") as folder:
        folder.joinpath("whole").touch()
    assert [path.name for path in (tmp_path / "release").iterdir()] == ["whole"]


def test_two_that_make_the_key_at_once_have_the_same_one(tmp_path, monkeypatch):
    # The other one's key appears between looking for a key and putting this one in its place.
    path = tmp_path / "publisher.pem"
    link, other = secret_file.os.link, []

    def slow_link(partial, place):
        monkeypatch.setattr(secret_file.os, "link", link)
        other.append(signing.load_or_create(path))
        link(partial, place)

    monkeypatch.setattr(secret_file.os, "link", slow_link)
    mine = signing.load_or_create(path)
    assert signing.public_text(mine) == signing.public_text(other[0])
    assert [each.name for each in tmp_path.iterdir()] == ["publisher.pem"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_system_without_hard_links_has_keys_too(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(secret_file.os, "link", refuse)
    made = signing.load_or_create(tmp_path / "publisher.pem")
    assert signing.public_text(signing.load_or_create(tmp_path / "publisher.pem")) == signing.public_text(made)
    assert [each.name for each in tmp_path.iterdir()] == ["publisher.pem"]
