"""The studio killed by ``kill -9`` while tabs change the recipe, upload files, rehearse and publish.

Nothing that was acknowledged is lost, no version or file is there by halves, and the books fit what is published. At
every other restart the jobs that are at work are killed as well.
"""

from __future__ import annotations

import os
import secrets
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from fault_studio import Studio

from sudare.privacy import Ledger
from sudare.studio.service import StudioService
from sudare.studio.tasks import JobStore
from sudare.studio.workspace import Workspace
from sudare.workflow.certificate import verify

OPEN = ("waiting", "running", "spending")


@dataclass
class Load:
    """Tabs at work, and what was acknowledged to them."""

    studio: Studio
    texts: dict[int, str] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    sent: dict[str, bytes] = field(default_factory=dict)
    """The hash of every upload by its name, acknowledged or not."""
    jobs: dict[str, str] = field(default_factory=dict)
    wrong: list[object] = field(default_factory=list)
    ending: threading.Event = field(default_factory=threading.Event)

    @property
    def work(self) -> tuple[Callable[[], None], ...]:
        """What each tab does again and again: two of them change the recipe, against each other."""
        return self.change, self.change, self.undo, self.upload, self.publish, self.rehearse

    def tab(self, work: Callable[[], None]) -> None:
        """One tab, until the end; while there is no studio it tries again."""
        while not self.ending.is_set():
            try:
                work()
            except (OSError, HTTPException):
                time.sleep(0.05)
            except Exception as problem:
                self.wrong.append(problem)
                return

    def changed(self, method: str, path: str, **body: Any) -> int | None:
        """Send a change; the version that was acknowledged, None where another tab was quicker."""
        status, said = self.studio.ask(method, path, body)
        if status == 200:
            if self.texts.setdefault(said["version"], said["text"]) != said["text"]:
                self.wrong.append(f"two texts of version {said['version']}")
            return int(said["version"])
        if status != 409:
            self.wrong.append((path, status, said))
        return None

    def version(self) -> int:
        return int(self.studio.ask("GET", "/api/state")[1]["version"])

    def change(self) -> None:
        changes = {"title": f"title {secrets.token_hex(8)}"}
        self.changed("PATCH", "/api/recipe", based_on=self.version(), changes=changes)

    def undo(self) -> None:
        self.changed("POST", "/api/undo", based_on=self.version())
        time.sleep(0.2)

    def upload(self) -> None:
        name = f"upload-{secrets.token_hex(6)}.csv"
        content = secrets.token_bytes(secrets.randbelow(500_000))
        self.sent[name] = sha256(content).digest()
        status, said = self.studio.answer("POST", f"/api/files/{name}", content)
        if status == 201:
            self.files.add(name)
        else:
            self.wrong.append((name, status, said))
        time.sleep(0.2)

    def publish(self) -> None:
        folder = f"release-{secrets.token_hex(6)}"
        made = self.changed("PATCH", "/api/recipe", based_on=self.version(), changes={"output.folder": folder})
        if made is not None:
            self.begin("publish", folder, based_on=made, confirm="village")

    def rehearse(self) -> None:
        self.begin("rehearse", "", based_on=self.version())
        time.sleep(0.5)

    def begin(self, verb: str, folder: str, **body: Any) -> None:
        """Begin a job; 409 is another tab's change, or another job of the verb."""
        status, said = self.studio.ask("POST", f"/api/{verb}", body)
        if status == 202:
            self.jobs[said["id"]] = folder
        elif status != 409:
            self.wrong.append((verb, status, said))

    def done(self) -> tuple[int, int, int]:
        return len(self.texts), len(self.files), len(self.jobs)


def check_kept(load: Load, folder: Path) -> None:
    """Everything that was acknowledged is there, and nothing by halves."""
    assert load.wrong == []
    with closing(sqlite3.connect(folder / ".sudare-studio" / "studio.db")) as store:
        texts = dict(store.execute("SELECT version, text FROM versions ORDER BY version").fetchall())
        jobs = {name for (name,) in store.execute("SELECT id FROM jobs")}
    acknowledged = dict(load.texts)
    assert {version: texts.get(version) for version in acknowledged} == acknowledged
    assert list(texts) == list(range(1, len(texts) + 1))
    assert set(load.jobs) <= jobs
    there = {path.name: sha256(path.read_bytes()).digest() for path in folder.glob("upload-*")}
    assert set(load.files) <= there.keys()
    assert there.items() <= load.sent.items()


def kill_jobs(workspace: Workspace) -> int:
    """Kill the processes that hold jobs; how many there were."""
    tasks = JobStore(workspace)
    holders = [tasks.holder(task.id) for task in tasks.listed() if task.is_open]
    for process in filter(None, holders):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return sum(holder is not None for holder in holders)


def settled(studio: Studio, folder: Path) -> dict[str, dict[str, Any]]:
    """All jobs, once each has its end."""
    with closing(sqlite3.connect(folder / ".sudare-studio" / "studio.db")) as store:
        names = [name for (name,) in store.execute("SELECT id FROM jobs ORDER BY time")]
    found = {}
    for name in names:
        while (job := studio.ask("GET", f"/api/jobs/{name}")[1])["state"] in OPEN:
            time.sleep(0.05)
        found[name] = job
    return found


def check_books(load: Load, jobs: dict[str, dict[str, Any]], folder: Path) -> tuple[int, int]:
    """The ledger, the releases and what the jobs say of them tell the same: (spends, releases)."""
    spends = [entry for entry in Ledger(folder / "ledger.db").entries() if entry.kind == "spend"]
    released = {verify(path).to_json()["release_id"]: path.name for path in folder.glob("release-*")}
    paid = {entry.content["release_id"] for entry in spends}
    assert set(released) <= paid
    publications = [job for job in jobs.values() if job["verb"] == "publish"]
    done = {job["result"]["release_id"] for job in publications if job["state"] == "done"}
    unfinished = [job for job in publications if job["state"] == "failed"]
    assert done == set(released)
    assert sum("was paid for and is not out" in job["error"]["message"] for job in unfinished) == len(paid) - len(done)
    for job in unfinished:
        assert (
            "was paid for and is not out" in job["error"]["message"] or "Nothing was spent" in job["error"]["message"]
        )
    for name, release in load.jobs.items():
        assert not release or (folder / release).exists() == (jobs[name]["state"] == "done")
    return len(spends), len(released)


def killed_under_load(load: Load, workspace: Workspace, restarts: int, wait: tuple[int, ...], pause: float) -> int:
    """Kill and restart the studio while all tabs are at work; the number of jobs that were killed too."""
    killed = 0
    threads = [threading.Thread(target=load.tab, args=(work,)) for work in load.work]
    for thread in threads:
        thread.start()
    try:
        for number in range(restarts):
            goal = [sum(pair) for pair in zip(load.done(), wait, strict=True)]
            while not load.wrong and any(now < then for now, then in zip(load.done(), goal, strict=True)):
                time.sleep(0.01)
            time.sleep(pause * secrets.randbelow(1000) / 1000)
            load.studio.kill()
            killed += kill_jobs(workspace) if number % 2 else 0
            check_kept(load, workspace.folder)
            load.studio = Studio.open(workspace.folder)
    finally:
        load.ending.set()
        for thread in threads:
            thread.join()
    return killed


def test_a_restart_under_load_loses_nothing_that_was_acknowledged(tmp_path, full):
    pytest.importorskip("tomlkit", reason="the studio is not installed: pip install 'sudare[studio]'")
    restarts, wait, pause = (40, (10, 2, 1), 2.5) if full else (1, (5, 1, 1), 0.5)
    load = Load(Studio.open(tmp_path))
    workspace = Workspace.open(tmp_path / "recipe.toml")
    try:
        killed = killed_under_load(load, workspace, restarts, wait, pause)
        jobs = settled(load.studio, tmp_path)
    finally:
        load.studio.kill()
    check_kept(load, tmp_path)
    workspace = Workspace.open(workspace.recipe)  # which clears away what those who were killed left half done
    assert StudioService(workspace).versions.current().text == workspace.recipe.read_text()
    assert list(workspace.hidden.glob("upload-*")) == list(tmp_path.glob(".recipe.toml.*")) == []
    spends, releases = check_books(load, jobs, tmp_path)
    changes, files, begun = load.done()
    print(
        f"{restarts} restarts of the studio and {killed} kills of jobs: {changes:,} changes, {files:,} uploads and "
        f"{begun:,} jobs acknowledged, none lost; {spends} spends, {releases} releases"
    )
