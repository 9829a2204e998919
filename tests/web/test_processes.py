"""Real processes: kill -9 under load, orderly ends, two collectors, a survey that changed between starts."""

import http.client
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import numpy as np
import pytest

from sudare.collector import load
from sudare.local import encode_report

KILLS = int(os.environ.get("SUDARE_KILLS", "2"))
SENDERS = 4
BATCH = 25


class Load:
    """Senders that never give up on a batch: each is sent under the same ids until it is acknowledged."""

    def __init__(self, survey):
        self.survey = survey
        self.port = 0  # nobody listens there; while there is no service, another program may get the port it had
        self.sent, self.acknowledged = {}, set()
        self.counted = self.repeated = 0
        self._lock, self._ending = threading.Lock(), threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(SENDERS)]
        for thread in self._threads:
            thread.start()

    def end(self):
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def _send(self):
        while not self._ending.is_set():
            packed = self.survey.encoding.randomize(np.zeros(BATCH, dtype=np.int64)).packed
            rows = {os.urandom(16): row.tobytes() for row in packed}
            items = [{"id": identity.hex(), "report": encode_report(report)} for identity, report in rows.items()]
            body = json.dumps({"survey": self.survey.fingerprint, "reports": items})
            with self._lock:
                self.sent |= rows
            receipt = None
            while receipt is None and not self._ending.is_set():
                receipt = self._post(body)
            if receipt is not None:
                with self._lock:
                    self.acknowledged |= rows.keys()
                    self.counted += receipt["stored"]
                    self.repeated += receipt["known"]

    def _post(self, body):
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
                connection.request("POST", "/reports", body, {"content-type": "application/json"})
                answer = connection.getresponse()
                content = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            time.sleep(0.01)
            return None
        assert answer.status == 200, content
        return content


def kept_in(url):
    """Every stored report by its id, read past the collector."""
    query = "SELECT id, report FROM "
    if "://" not in url:
        with closing(sqlite3.connect(url)) as connection:
            return connection.execute(query + "reports").fetchall()
    import psycopg

    with psycopg.connect(url) as connection:
        return [(bytes(i), bytes(r)) for i, r in connection.execute(query + "sudare_reports").fetchall()]


# A disk that takes its time, so that a kill meets reports which wait for it.
SLOW_DISK = """
import time
from sudare.collector.sqlite_store import SqliteStore
add = SqliteStore.add
SqliteStore.add = lambda self, rows: (time.sleep(0.02), add(self, rows))[1]
"""
# A collector that acknowledges what it has not stored yet: what the test below must notice.
HASTY = """
from concurrent.futures import Future
from sudare.collector.group_commit import GroupCommit, Receipt
queue = GroupCommit.add
def hasty(self, rows):
    queue(self, rows)
    receipt = Future()
    receipt.set_result(Receipt(len(rows), 0))
    return receipt
GroupCommit.add = hasty
"""


def kill_under_load(launch, survey_file, kills, prelude=""):
    """Kills the service again and again while reports are sent; returns the load, what is stored, and the estimate."""
    survey = load(survey_file)
    moments = random.Random(5)  # noqa: S311 - when to kill, not what to hide
    sending = Load(survey)
    try:
        for _ in range(kills):
            server = launch(survey_file, prelude)
            before, sending.port = len(sending.acknowledged), server.port
            while len(sending.acknowledged) < before + 10 * BATCH:
                assert server.process.poll() is None
                time.sleep(0.002)
            time.sleep(moments.uniform(0, 0.15))
            assert server.end(signal.SIGKILL) == -9
            sending.port = 0
        server = launch(survey_file)
        sending.port = server.port
        time.sleep(0.3)
    finally:
        sending.end()
    status, estimate = server.request("/estimate")
    assert status == 200
    assert server.end(signal.SIGTERM) in (0, -signal.SIGTERM)
    return sending, kept_in(survey.storage), estimate


@pytest.mark.parametrize(("database", "prelude"), [("sqlite", ""), ("sqlite", SLOW_DISK), ("postgresql", "")])
def test_kill_9_under_load_loses_no_acknowledged_report_and_counts_none_twice(
    request, launch, survey_file, database, prelude
):
    if database == "postgresql":
        url = request.getfixturevalue("postgres")
        survey_file.write_text(survey_file.read_text().replace("reports.db", url))
    sending, kept, estimate = kill_under_load(launch, survey_file, KILLS, prelude)
    assert len(sending.acknowledged) >= 10 * BATCH * KILLS
    assert len(dict(kept)) == len(kept)  # none twice
    assert sending.acknowledged <= dict(kept).keys()  # none lost
    assert dict(kept).items() <= sending.sent.items()  # each as it was sent
    assert estimate["reports"] == len(kept)  # and each counted once
    # Batches are stored whole or not at all; one that was stored but not acknowledged was known when it came again.
    assert len(kept) % BATCH == 0
    assert sending.counted + sending.repeated == len(sending.acknowledged)
    assert 0 <= len(kept) - len(sending.acknowledged) <= SENDERS * BATCH


def test_a_collector_that_acknowledges_too_early_would_be_noticed(launch, survey_file):
    # So slow that nothing is stored before the kill, however busy the machine is.
    sending, kept, _ = kill_under_load(launch, survey_file, 1, SLOW_DISK.replace("0.02", "600") + HASTY)
    assert not sending.acknowledged <= dict(kept).keys()


def test_an_orderly_end_answers_those_who_wait_and_closes_the_log(launch, survey_file):
    server = launch(survey_file)
    sending = Load(load(survey_file))
    sending.port = server.port
    while len(sending.acknowledged) < 20 * BATCH:
        time.sleep(0.002)
    status = server.end(signal.SIGTERM)
    sending.port = 0
    sending.end()
    assert status in (0, -signal.SIGTERM)
    assert not survey_file.with_name("reports.db-wal").exists()
    assert sending.acknowledged <= dict(kept_in(str(survey_file.with_name("reports.db")))).keys()


def start_in_vain(survey_file, *arguments):
    script = "from sudare.cli.collect import collect; from sudare.errors import SudareError\n"
    script += "try:\n    collect(standalone_mode=False)\nexcept SudareError as mistake:\n    print(mistake); exit(1)"
    command = [sys.executable, "-c", script, "serve", str(survey_file), "--port", "0", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stdout


def test_a_second_collector_a_changed_survey_and_a_taken_port_are_sentences(launch, survey_file):
    server = launch(survey_file)
    assert "is used by another collector. Stop that one first" in start_in_vain(survey_file)
    other = survey_file.with_name("other.toml")
    other.write_text(survey_file.read_text().replace("reports.db", "other.db"))
    assert "the collector cannot listen there: Address already in use" in start_in_vain(
        other, "--port", str(server.port)
    )
    server.end(signal.SIGKILL)
    survey_file.write_text(survey_file.read_text().replace("epsilon = 1", "epsilon = 2"))
    assert "belongs to another survey: privacy differs. Give this survey a storage of its own" in start_in_vain(
        survey_file
    )


def test_the_service_writes_nothing_about_requests(launch, survey_file):
    server = launch(survey_file)
    server.request("/survey")
    server.request("/reports", {"survey": "x", "reports": []})
    server.process.terminate()
    with server.process as process:  # not `communicate`: it misses what came together with the line read at the start
        output, errors = process.stdout.read(), process.stderr.read()
    assert output.startswith("Answer here")
    assert (output.count("\n"), errors) == (1, "")
