"""The studio as a process of its own: links, tabs, uploads, jobs; killed at any moment, it loses nothing confirmed."""

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from recipes import closing, opening
from sudare import cli
from sudare.privacy import Ledger
from sudare.workflow.certificate import verify

PATIENCE = 300.0  # seconds, for a busy machine; nothing waits longer than it must
RECIPE = (
    opening("table", "village")
    + '\n[domain.cell]\ntype = "grid"\nshape = [16, 16]\nfrom = ["row", "column"]\n\n[privacy]\nepsilon = 0.5\n'
    + closing("epsilon = 1.0", rehearsal="people = 2000\nrepetitions = 1")
)
# A job's process that waits at a stage for as long as a file is there: to be killed there, or to be cancelled.
WAITING = """
import os, pathlib, sys, time
import sudare.studio.worker as worker
at_once = worker.RowProgress.__call__
def waiting(self, progress):
    at_once(self, progress)
    hold = pathlib.Path(os.environ["HOLD"])
    if progress.stage == os.environ["HOLD_AT"]:
        hold.with_suffix(".here").touch()
        while hold.exists():
            time.sleep(0.02)
worker.RowProgress.__call__ = waiting
worker.main(sys.orig_argv[3:])
os._exit(0)
"""


class Studio:
    """``sudare studio`` in a process of its own, and a browser that has opened its link."""

    def __init__(self, folder: Path, prelude: str = "", environment: dict[str, str] | None = None) -> None:
        script = prelude + "\nfrom sudare.cli.studio import studio; studio()"
        command = [sys.executable, "-c", script, str(folder / "recipe.toml"), "--show-link"]
        self.folder = folder
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | (environment or {})
        )
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found, self.process.communicate()[1]
        self.link = found[0]
        self.origin, _, self.token = self.link.partition("/data#token=")
        # A connection of its own for each request: one that is kept may be closed just when it is used again.
        fresh = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(
            base_url=self.origin, headers={"origin": self.origin}, timeout=PATIENCE, limits=fresh
        )
        self.client.headers["authorization"] = f"Bearer {self.opened().json()['session']}"

    def opened(self) -> httpx.Response:
        """What whoever has the link gets for it."""
        return httpx.post(f"{self.origin}/api/session", json={"token": self.token}, headers={"origin": self.origin})

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    def state(self) -> dict:
        return self.client.get("/api/state").json()

    def change(self, based_on: int, **changes) -> httpx.Response:
        return self.client.patch("/api/recipe", json={"based_on": based_on, "changes": changes})

    def wait(self, job: str, *states: str) -> dict:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.client.get(f"/api/jobs/{job}").json()
            if found["state"] in states:
                return found
            time.sleep(0.02)
        raise AssertionError(found)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.client.close()


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    table = pa.table({"person": np.arange(500), "row": rng.integers(0, 16, 500), "column": rng.integers(0, 16, 500)})
    pq.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path


@pytest.fixture
def launch(folder):
    started = []

    def start(prelude="", **environment):
        started.append(Studio(folder, prelude, environment))
        return started[-1]

    yield start
    for studio in started:
        studio.kill()


@pytest.fixture
def held(tmp_path_factory):
    """The environment of a server whose jobs wait at a stage, and the file that holds them there."""
    place = tmp_path_factory.mktemp("held")
    hold = place / "hold"
    hold.touch()
    (place / "held_worker.py").write_text(WAITING)
    # Python runs this first, in every process: a job's is told by its command.
    (place / "sitecustomize.py").write_text(
        "import sys\nif sys.orig_argv[1:3] == ['-m', 'sudare.studio.worker']:\n    import held_worker\n"
    )

    def environment(stage):
        return {"PYTHONPATH": os.pathsep.join([str(place), *sys.path]), "HOLD": str(hold), "HOLD_AT": stage}

    return environment, hold


def wait_for(path):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if path.exists():
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} never came")


def workers(folder):
    """The processes that hold jobs of the workspace."""
    found = []
    for lock in (folder / ".sudare-studio").glob("job-*.lock"):
        text = lock.read_text()
        found += [int(text)] if text.isdigit() else []
    return found


def test_from_a_recipe_to_a_verified_release(launch, folder):
    """The way of the page: look, rehearse, publish, verify; and the link is dead for everybody else."""
    studio = launch()
    assert studio.opened().status_code == 401
    assert httpx.get(f"{studio.origin}/api/state").status_code == 401
    assert studio.client.get("/api/data").json()["columns"][0]["name"] == "person"
    job = studio.client.post("/api/rehearse", json={"based_on": 1})
    assert job.status_code == 202
    assert studio.client.post("/api/rehearse", json={"based_on": 1}).status_code == 409
    (name,) = studio.wait(job.json()["id"], "done")["result"]["rehearsals"]
    assert studio.client.get(f"/api/rehearsals/{name}/map").json()["panels"][0]["total"] == 2000
    assert "Japan" in studio.client.get("/api/world").text
    assert not (folder / "ledger.db").exists()
    job = studio.client.post("/api/publish", json={"based_on": 1, "confirm": "village"}).json()
    done = studio.wait(job["id"], "done", "failed")
    assert done["state"] == "done", done
    assert studio.client.delete(f"/api/jobs/{job['id']}").status_code == 409
    assert verify(folder / "release").ok
    assert studio.client.post("/api/verify", json={"release": done["result"]["folder"]}).json()["ok"]
    ledger = studio.client.get("/api/ledger").json()
    assert [row["kind"] for row in ledger["entries"]] == ["spend", "cap"]
    page = studio.client.get("/api/publish").json()
    assert not page["can_publish"]
    assert page["release"]["release_id"] == done["result"]["release_id"]


def test_a_server_killed_in_the_middle_of_edits_loses_no_confirmed_one(launch, folder):
    """Edits without pause, and SIGKILL at a random moment: what was answered with 200 is there, in its order."""
    rng = np.random.default_rng(5)
    confirmed = []
    for _ in range(2):
        studio = launch()
        version = studio.state()["version"]
        timer = threading.Timer(float(rng.uniform(0.05, 0.4)), studio.process.kill)
        try:
            while True:
                title = f"edit {len(confirmed)}"
                answer = studio.change(version, title=title)
                assert answer.status_code == 200
                version = answer.json()["version"]
                confirmed.append((version, title))
                if timer.ident is None:
                    timer.start()
        except httpx.TransportError:
            pass
        timer.join()
        studio.kill()
    studio = launch()
    with sqlite3.connect(folder / ".sudare-studio" / "studio.db") as store:
        texts = dict(store.execute("SELECT version, text FROM versions").fetchall())
    store.close()
    for version, title in confirmed:
        assert f'title = "{title}"' in texts[version]
    state = studio.state()
    assert state["version"] == max(texts)
    assert (folder / "recipe.toml").read_text() == texts[max(texts)]
    # One edit more than was confirmed may be there: it was stored and its answer was lost.
    assert max(texts) - confirmed[-1][0] <= 1


def test_a_killed_server_does_not_take_a_publication_along(launch, folder, held):
    """SIGKILL while the job reads: the job goes on, and a second server sees how it ended."""
    environment, hold = held
    studio = launch(**environment("reading"))
    job = studio.client.post("/api/publish", json={"based_on": 1, "confirm": "village"}).json()
    wait_for(hold.with_suffix(".here"))
    studio.kill()
    again = launch()
    assert again.client.get(f"/api/jobs/{job['id']}").json()["state"] == "running"
    assert again.client.post("/api/publish", json={"based_on": 1, "confirm": "village"}).status_code == 409
    hold.unlink()
    assert again.wait(job["id"], "done", "failed")["state"] == "done"
    assert len(Ledger(folder / "ledger.db").entries("village")) == 2
    assert verify(folder / "release").ok


@pytest.mark.parametrize(("stage", "spent"), [("reading", 0), ("protecting", 1)])
def test_a_killed_job_is_told_by_the_ledger(launch, folder, held, stage, spent):
    """SIGKILL of the job itself, before and after it has spent."""
    environment, hold = held
    studio = launch(**environment(stage))
    job = studio.client.post("/api/publish", json={"based_on": 1, "confirm": "village"}).json()
    wait_for(hold.with_suffix(".here"))
    if spent:
        assert studio.client.delete(f"/api/jobs/{job['id']}").status_code == 409
    (process,) = workers(folder)
    os.kill(process, signal.SIGKILL)
    found = studio.wait(job["id"], "failed")
    assert ("was paid for and is not out" if spent else "Nothing was spent") in found["error"]["message"]
    rows = [row for row in Ledger(folder / "ledger.db").entries() if row.kind == "spend"]
    assert len(rows) == spent
    assert not (folder / "release").exists()
    page = studio.client.get("/api/publish").json()
    assert (page["pending"] or {}).get("release_id") == (rows[0].content["release_id"] if spent else None)
    if spent:
        hold.unlink()
        again = studio.client.post("/api/publish", json={"based_on": 1, "confirm": "village"}).json()
        assert "was paid for and is not out" in studio.wait(again["id"], "failed")["error"]["message"]
        asked = {"based_on": 1, "confirm": "village", "paid": "complete"}
        done = studio.wait(studio.client.post("/api/publish", json=asked).json()["id"], "done", "failed")
        assert done["result"]["release_id"] == rows[0].content["release_id"]
        assert len(Ledger(folder / "ledger.db").entries("village")) == 2
        assert studio.client.get("/api/publish").json()["pending"] is None
        assert verify(folder / "release").ok


def test_a_cancelled_publication_ends_and_has_spent_nothing(launch, folder, held):
    environment, hold = held
    studio = launch(**environment("reading"))
    job = studio.client.post("/api/publish", json={"based_on": 1, "confirm": "village"}).json()
    wait_for(hold.with_suffix(".here"))
    (process,) = workers(folder)
    assert studio.client.delete(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"
    end = time.monotonic() + PATIENCE
    while workers(folder) and time.monotonic() < end:
        time.sleep(0.02)
    assert not workers(folder), process
    assert not (folder / "ledger.db").exists()
    assert not list(folder.glob("*release*"))
    assert studio.client.get(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"


def test_slow_and_broken_clients_do_not_stop_the_others(launch):
    """Requests that never end are closed one day; until then the others are served."""
    studio = launch("import sudare.collector.serving as patience; patience.HEAD_SECONDS = 5")
    slow = [socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE) for _ in range(20)]
    for one in slow[:10]:
        one.sendall(b"POST /api/undo HTTP/1.1\r\nhost: x\r\n")
    with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE) as broken:
        broken.sendall(b"\x16\x03\x01 not http at all\r\n\r\n")
        assert b"400" in broken.recv(100)
    assert studio.state()["version"] == 1
    for one in slow:
        with one:
            assert one.recv(100) == b""
    assert studio.state()["version"] == 1


def test_a_wrong_command_is_one_sentence(folder, monkeypatch):
    monkeypatch.setattr(cli, "COMMANDS", (*cli.COMMANDS, "studio"))
    monkeypatch.chdir(folder)
    (folder / "data.csv").write_text("a,b\n1,2\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for arguments, said in (
            (["missing.toml"], "there is no such recipe"),
            (["."], "there is no such recipe"),
            (["data.csv"], "the recipe is not TOML"),
            (["recipe.toml", "--host", "0.0.0.0"], "served on this machine only"),  # noqa: S104 - it is refused
            (["recipe.toml", "--port", port], "cannot listen there"),
        ):
            done = CliRunner().invoke(cli.main, ["studio", *arguments, "--no-browser"])
            assert done.exit_code == 1
            assert said in done.output
            assert len(done.output.splitlines()) == 1
    assert not (folder / ".sudare-studio").exists()


def test_an_interrupt_ends_the_studio_quietly(launch):
    studio = launch()
    studio.process.send_signal(signal.SIGINT)
    _, error = studio.process.communicate(timeout=PATIENCE)
    assert error == ""
    assert studio.process.returncode == 0
