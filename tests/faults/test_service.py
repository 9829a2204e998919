"""The collector under clients that mean ill or fail: slow, oversized, foreign, replayed, reordered, and a restart."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from fault_processes import memory_of

from sudare.collector import load
from sudare.local import encode_report


def batch_of(survey, reports: int, answer: int = 0) -> dict:
    packed = survey.encoding.randomize(np.full(reports, answer, dtype=np.int64)).packed
    items = [{"id": os.urandom(16).hex(), "report": encode_report(row.tobytes())} for row in packed]
    return {"survey": survey.fingerprint, "reports": items}


def stored(survey) -> dict[bytes, bytes]:
    with closing(sqlite3.connect(survey.storage)) as connection:
        return dict(connection.execute("SELECT id, report FROM reports").fetchall())


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def status_of(connection: socket.socket) -> int | None:
    """The status of the answer; None where the connection ended without one."""
    answer = b""
    with suppress(ConnectionResetError):
        while b"\r\n" not in answer and (part := connection.recv(4096)):
            answer += part
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


# So that a test need not wait for those who are waited for.
IMPATIENT = """
import sudare.collector.serving as patience
import sudare.collector.service as service
patience.HEAD_SECONDS = service.BODY_SECONDS = 5.0
"""
HEAD = b"POST /reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"


def test_slow_clients_hold_up_nobody_and_are_not_waited_for_forever(launch, survey_file, full):
    # Some send nothing, some stop within the head, some within the body, some send a byte now and then.
    clients = 1_000 if full else 100
    survey = load(survey_file)
    server = launch(survey_file, IMPATIENT)
    beginnings = [
        b"",
        b"POST /rep",
        HEAD + b"content-length: 900\r\n\r\n{",
        HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n",
    ]
    slow: list[socket.socket] = []
    try:
        for number in range(clients):
            slow.append(connected(server.port))
            slow[-1].sendall(beginnings[number % 4])
        for _ in range(20):  # meanwhile others are served
            status, receipt = server.request("/reports", batch_of(survey, 50))
            assert (status, receipt) == (200, {"stored": 50, "known": 0})
            with suppress(OSError):
                slow[2].sendall(b" ")
        answers = [status_of(connection) for connection in slow]
        assert set(answers[2::4]) == {408}
        assert set(answers[0::4]) == set(answers[1::4]) == {None}  # closed: there is no request to answer
        assert set(answers[3::4]) <= {400, 408}
    finally:
        for connection in slow:
            connection.close()
    assert len(stored(survey)) == 1_000
    assert server.process.poll() is None
    print(f"{clients:,} slow clients")


def test_oversized_bodies_are_cut_off_and_need_no_memory(launch, survey_file, full):
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc on this machine: the memory of the service cannot be seen")
    megabytes = 2_000 if full else 200
    survey = load(survey_file)
    server = launch(survey_file)
    before = memory_of(server.process.pid)
    block = b" " * (1 << 20)
    sent = 0
    while sent < megabytes:
        with closing(connected(server.port)) as connection:
            announced = sent % 2 == 0
            length = b"content-length: 1000000000\r\n\r\n" if announced else b"transfer-encoding: chunked\r\n\r\n"
            connection.sendall(HEAD + length)
            with suppress(BrokenPipeError, ConnectionResetError):
                for _ in range(20):
                    sent += 1
                    connection.sendall(block if announced else b"100000\r\n" + block + b"\r\n")
            assert status_of(connection) in (413, None)  # None: the rest that was still on its way cut the answer off
    assert memory_of(server.process.pid) < before + 100_000
    assert server.request("/reports", batch_of(survey, 3))[1] == {"stored": 3, "known": 0}
    assert len(stored(survey)) == 3
    print(f"{sent:,} MB of oversized bodies")


def test_foreign_origins_read_nothing_and_are_never_welcomed(launch, survey_file):
    survey_file.write_text(survey_file.read_text().replace("rate = 0", 'rate = 0, origins = ["https://example.jp"]'))
    server = launch(survey_file)
    origins = [
        "https://example.jp.evil.example",
        "http://example.jp",
        "https://evil.example",
        "null",
        "https://example.jp:444",
    ]
    for origin in ["https://example.jp", *origins]:
        for method, path in (("GET", "/survey"), ("GET", "/estimate"), ("OPTIONS", "/reports")):
            with closing(connected(server.port)) as connection:
                asked = "access-control-request-method: POST\r\n" if method == "OPTIONS" else ""
                head = f"{method} {path} HTTP/1.1\r\nhost: x\r\norigin: {origin}\r\n{asked}connection: close\r\n\r\n"
                connection.sendall(head.encode())
                answer = b""
                while part := connection.recv(65536):
                    answer += part
            allowed = re.findall(rb"(?i)access-control-allow-origin: (\S+)", answer)
            assert allowed == ([b"https://example.jp"] if origin == "https://example.jp" else [])


def test_replayed_and_reordered_reports_count_once(launch, survey_file, full):
    # Everybody sends the same batches, in another order, with the reports of a batch shuffled, many times.
    senders, batches, rounds = (8, 100, 10) if full else (4, 12, 2)
    survey = load(survey_file)
    server = launch(survey_file)
    made = [batch_of(survey, 50) for _ in range(batches)]
    receipts: list[tuple[int, int]] = []

    def send(seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - an order, not a secret
        for _ in range(rounds):
            for batch in dice.sample(made, len(made)):
                again = {**batch, "reports": dice.sample(batch["reports"], 50)}
                status, receipt = server.request("/reports", again)
                receipts.append((receipt["stored"], receipt["known"]) if status == 200 else (-1, -1))

    threads = [threading.Thread(target=send, args=(seed,)) for seed in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receipts) == senders * batches * rounds
    assert {sum(receipt) for receipt in receipts} == {50}
    assert sum(new for new, _ in receipts) == 50 * batches
    sent = {bytes.fromhex(item["id"]) for batch in made for item in batch["reports"]}
    assert stored(survey).keys() == sent
    assert server.request("/estimate")[1]["reports"] == len(sent)
    # The same id with another report: the first one stands.
    forged = {**made[0], "reports": [{**made[0]["reports"][0], "report": made[1]["reports"][0]["report"]}]}
    assert server.request("/reports", forged)[1] == {"stored": 0, "known": 1}
    kept = stored(survey)[bytes.fromhex(made[0]["reports"][0]["id"])]
    assert encode_report(kept) == made[0]["reports"][0]["report"]
    print(f"{len(receipts):,} batches of 50, each sent {senders * rounds} times: {len(sent):,} reports stored")


def test_a_restart_under_load_loses_nothing_that_was_acknowledged(launch, survey_file, full):
    # Orderly and not: half of the ends are SIGTERM, half SIGKILL; senders go on until they are acknowledged.
    restarts = 30 if full else 2
    survey = load(survey_file)
    acknowledged: set[bytes] = set()
    lock, ending, port = threading.Lock(), threading.Event(), [0]

    def send() -> None:
        while not ending.is_set():
            batch = batch_of(survey, 20)
            body = json.dumps(batch).encode()
            head = HEAD + f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
            while not ending.is_set():
                try:
                    with closing(connected(port[0])) as connection:
                        connection.sendall(head + body)
                        status = status_of(connection)
                except OSError:
                    status = None
                if status == 200:
                    with lock:
                        acknowledged.update(bytes.fromhex(item["id"]) for item in batch["reports"])
                    break
                time.sleep(0.02)

    server = launch(survey_file)
    port[0] = server.port
    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(restarts):
            before = len(acknowledged)
            while len(acknowledged) < before + 200:
                time.sleep(0.005)
            assert server.end(signal.SIGTERM if number % 2 else signal.SIGKILL) in (0, -signal.SIGTERM, -signal.SIGKILL)
            assert acknowledged <= stored(survey).keys()
            server = launch(survey_file)
            port[0] = server.port
    finally:
        ending.set()
        for thread in threads:
            thread.join()
    assert acknowledged <= stored(survey).keys()
    assert server.request("/estimate")[1]["reports"] == len(stored(survey))
    print(f"{restarts} restarts, {len(acknowledged):,} reports acknowledged, none lost")


def test_schemathesis_finds_no_server_error(launch, survey_file, full):
    tool = Path(sys.executable).with_name("schemathesis")
    if not full or not tool.exists():
        pytest.skip("Schemathesis runs with --full, and where it is installed: pip install 'sudare[fuzz]'")
    server = launch(survey_file)
    command = [
        tool,
        "run",
        f"{server.url}/openapi.json",
        "--max-examples",
        "1000",
        "--no-color",
        "--continue-on-failure",
    ]
    command += ["--checks", "not_a_server_error,content_type_conformance,response_schema_conformance"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800, cwd=survey_file.parent)
    print(done.stdout[-1500:])
    assert done.returncode == 0, done.stdout[-3000:]
    assert server.process.poll() is None
