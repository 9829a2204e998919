"""How many reports per second a collector takes, durably: real service, real sockets, SQLite synced at every commit.

Goal: 10,000 a second in batches of 100. The service runs in a process of its own, the senders in this one: threads
that keep their connection and send batches which were made before the clock starts. The last case starts with a
million reports in the database.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from part import run_part
from row import Row
from sudare.collector import load
from sudare.collector.collection import open_store
from sudare.collector.outbox import Outbox
from sudare.collector.survey import Survey

GOAL, SENDERS, BATCH = 10_000, 16, 100
"""Reports sent one by one come from more connections than a batch has reports, as they would from devices."""
SURVEY = """
name = "load"
question = "Where?"
answers = {{type = "bins", start = 0, stop = {size}, step = 1}}
privacy = {{encoding = "symmetric_unary", epsilon = 1}}
service = {{storage = "load.db", rate = 0}}
"""


def bodies(survey: Survey, batch: int, count: int) -> list[bytes]:
    """Requests with reports of their own ids."""
    rng = np.random.default_rng(1)
    made = []
    for _ in range(count):
        reports = survey.encoding.randomize(rng.integers(0, survey.encoding.size, batch))
        outbox = Outbox.of(reports, survey.fingerprint)
        made.append(outbox.body(outbox.rows))
    return made


def fill(survey: Survey, reports: int) -> None:
    """Put reports into the database before the service opens it."""
    with closing(open_store(survey.storage, survey.identity)) as store:
        for start in range(0, reports, 50_000):
            packed = survey.encoding.randomize(np.zeros(min(50_000, reports - start), dtype=np.int64)).packed
            store.add([(os.urandom(16), row.tobytes()) for row in packed])


def send(port: int, waiting: list[bytes], until: float, seconds: list[float], failures: list[str]) -> None:
    """One sender: takes requests until there are none or the time is over."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while time.perf_counter() < until:
        try:
            body = waiting.pop()
        except IndexError:
            break
        start = time.perf_counter()
        connection.request("POST", "/reports", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        if answer.status == 200:
            seconds.append(time.perf_counter() - start)
        elif answer.status != 202:  # at the end the last ones wait for a batch that does not get full
            failures.append(content.decode())
    connection.close()


def taken(size: int, batch: int, before: int, for_seconds: float) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.toml"
        path.write_text(SURVEY.format(size=size))
        survey = load(path)
        fill(survey, before)
        command = [sys.executable, "-c", "from sudare.cli.collect import collect; collect()", "serve", str(path)]
        server = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        found = re.search(r":(\d+)$", server.stdout.readline().strip())
        assert found is not None, "the service did not start"
        waiting = bodies(survey, batch, int(for_seconds * (1200 if batch > 1 else 5000)))
        seconds: list[float] = []
        failures: list[str] = []
        start = time.perf_counter()
        arguments = (int(found[1]), waiting, start + for_seconds, seconds, failures)
        connections = SENDERS if batch > 1 else 2 * BATCH
        senders = [threading.Thread(target=send, args=arguments) for _ in range(connections)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        elapsed = time.perf_counter() - start
        server.send_signal(signal.SIGTERM)
        server.wait()
        with closing(sqlite3.connect(survey.storage)) as connection:
            stored = connection.execute("SELECT count(*) FROM reports").fetchone()[0] - before
    assert not failures, failures[0]
    assert stored >= len(seconds) * batch, "what was acknowledged is not stored"
    rate = len(seconds) * batch / elapsed
    middle, slow = np.percentile(seconds, [50, 99]) * 1000
    case = f"{size:,} answers, requests of {batch}, {connections} senders, {before:,} reports stored before"
    goal = {"at_least": GOAL} if batch > 1 else {}
    yield Row("reports stored", rate, "a second", case=case, **goal)
    yield Row("a request, median", middle, "ms", case=case)
    yield Row("a request, 99 %", slow, "ms", case=case)


def rows(quick: bool) -> Iterator[Row]:
    """By answers, batch, and what is stored before."""
    for size, batch, before in ((23, 100, 0), (1024, 100, 0), (23, 1, 0), (23, 100, 1_000_000)):
        if not (quick and before):
            yield from taken(size, batch, before, 2.0 if quick else 5.0)


if __name__ == "__main__":
    run_part(rows)
