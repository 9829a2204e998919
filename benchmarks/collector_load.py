"""How many reports per second a collector takes, durably: real service, real sockets, SQLite synced at every commit.

Goals: 10,000 a second in batches of 100, and 5,000 a second one by one on two cores, with nothing lost that was
acknowledged. The service runs in a process of its own, the senders in this one: threads that keep their connection and
send requests which were made before the clock starts. They share the cores with the service, so the processor time that
each of the two spends on a report is shown too: what a core alone could take is a second over it. The last case starts
with a million reports in the database.
"""

from __future__ import annotations

import os
import re
import signal
import socket
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

GOAL, SINGLE_GOAL, SENDERS, BATCH = 10_000, 5_000, 16, 100
"""Reports sent one by one come from more connections than a batch has reports, as they would from devices."""
HEAD = b"POST /reports HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
SURVEY = """
name = "load"
question = "Where?"
answers = {{type = "bins", start = 0, stop = {size}, step = 1}}
privacy = {{encoding = "symmetric_unary", epsilon = 1}}
service = {{storage = "load.db", rate = 0}}
"""


def bodies(survey: Survey, batch: int, count: int) -> list[bytes]:
    """Whole requests with reports of their own ids."""
    rng = np.random.default_rng(1)
    made = []
    for _ in range(count):
        reports = survey.encoding.randomize(rng.integers(0, survey.encoding.size, batch))
        outbox = Outbox.of(reports, survey.fingerprint)
        body = outbox.body(outbox.rows)
        made.append(HEAD % len(body) + body)
    return made


def fill(survey: Survey, reports: int) -> None:
    """Put reports into the database before the service opens it."""
    with closing(open_store(survey.storage, survey.identity)) as store:
        for start in range(0, reports, 50_000):
            packed = survey.encoding.randomize(np.zeros(min(50_000, reports - start), dtype=np.int64)).packed
            store.add([(os.urandom(16), row.tobytes()) for row in packed])


def send(port: int, waiting: list[bytes], until: float, seconds: list[float], failures: list[str]) -> None:
    """One sender: takes requests until there are none or the time is over."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        while time.perf_counter() < until:
            try:
                request = waiting.pop()
            except IndexError:
                break
            start, answer = time.perf_counter(), b""
            connection.sendall(request)
            while not answer.endswith(b"}"):
                answer += connection.recv(65536)
            if answer.startswith(b"HTTP/1.1 200"):
                seconds.append(time.perf_counter() - start)
            elif not answer.startswith(b"HTTP/1.1 202"):  # at the end the last ones wait for a batch to get full
                failures.append(answer.decode())


def spent_by(process: int) -> float:
    """Processor seconds of a running process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
        waiting = bodies(survey, batch, int(for_seconds * (1200 if batch > 1 else 12_000)))
        seconds: list[float] = []
        failures: list[str] = []
        start, used, own = time.perf_counter(), spent_by(server.pid), time.process_time()
        arguments = (int(found[1]), waiting, start + for_seconds, seconds, failures)
        connections = SENDERS if batch > 1 else 2 * BATCH
        senders = [threading.Thread(target=send, args=arguments) for _ in range(connections)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        elapsed, used, own = time.perf_counter() - start, spent_by(server.pid) - used, time.process_time() - own
        server.send_signal(signal.SIGTERM)
        server.wait()
        with closing(sqlite3.connect(survey.storage)) as connection:
            stored = connection.execute("SELECT count(*) FROM reports").fetchone()[0] - before
    assert not failures, failures[0]
    assert stored >= len(seconds) * batch, "what was acknowledged is not stored"
    rate = len(seconds) * batch / elapsed
    middle, slow = np.percentile(seconds, [50, 99]) * 1000
    case = f"{size:,} answers, requests of {batch}, {connections} senders, {before:,} reports stored before"
    note = "" if batch > 1 else "on two cores, which the senders share"
    yield Row("reports stored", rate, "a second", note=note, case=case, at_least=GOAL if batch > 1 else SINGLE_GOAL)
    yield Row("the service, a report", 1e6 * used / stored, "CPU µs", case=case)
    yield Row("the senders, a report", 1e6 * own / stored, "CPU µs", case=case)
    yield Row("a request, median", middle, "ms", case=case)
    yield Row("a request, 99 %", slow, "ms", case=case)


def rows(quick: bool) -> Iterator[Row]:
    """By answers, batch, and what is stored before."""
    for size, batch, before in ((23, 100, 0), (1024, 100, 0), (23, 1, 0), (23, 100, 1_000_000)):
        if not (quick and before):
            yield from taken(size, batch, before, 2.0 if quick else 5.0)


if __name__ == "__main__":
    run_part(rows)
