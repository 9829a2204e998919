"""The studio under clients that mean ill: slow, oversized, foreign. What it stores is tested where it is made."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fault_changes import CANARY

RECIPE = """
dataset = "village"
data = {path = "people.parquet"}
domain.town = {type = "categories", values = ["A", "B"]}
privacy = {epsilon = 0.5}
ledger = {cap = {epsilon = 1}}
output = {folder = "release"}
"""
# So that a test need not wait for those who are waited for.
STUDIO = """
import sudare.collector.patience as patience
import sudare.studio.guards as guards
guards.BODY_SECONDS = patience.HEAD_SECONDS = 2.0
from sudare.cli.studio import studio
studio()
"""


@dataclass(frozen=True)
class Studio:
    """An open studio, and the cookie of its steward."""

    process: subprocess.Popen[str]
    port: int
    cookie: str

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def status(self, method: str = "GET", path: str = "/api/state", body: bytes | None = None, **headers: str) -> int:
        """The status of a steward's own request, with ``headers`` changed."""
        given = {"host": self.host, "cookie": self.cookie, "origin": f"http://{self.host}"} | headers
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if body is not None:
                given |= {"content-type": "application/json", "content-length": str(len(body))}
            for name, value in given.items():
                if value:
                    connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body)
            answer = connection.getresponse()
            assert CANARY.encode() not in answer.read()
            return answer.status


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    tmp_path: Path = tmp_path_factory.mktemp("studio")
    pytest.importorskip("tomlkit", reason="the studio is not installed: pip install 'sudare[studio]'")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    pq.write_table(pa.table({"town": ["A", "B", CANARY]}), tmp_path / "people.parquet")
    command = [sys.executable, "-c", STUDIO, str(tmp_path / "recipe.toml"), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        port, token = re.search(r":(\d+)/\?token=(\S+)", process.stdout.readline()).groups()
        with closing(http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)) as connection:
            connection.request("GET", f"/?token={token}")
            cookie = connection.getresponse().getheader("set-cookie").partition(";")[0]
        yield Studio(process, int(port), cookie)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ended(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    answer = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(4096):
            answer += part
    return answer


def test_slow_clients_hold_up_nobody_and_are_closed(studio, full):
    rounds = 10 if full else 1
    for _ in range(rounds):
        head = f"PUT /api/recipe HTTP/1.1\r\nhost: {studio.host}\r\ncookie: {studio.cookie}\r\n"
        head += f"origin: http://{studio.host}\r\ncontent-type: application/json\r\n"
        beginnings = [b"", b"GET /api/st", head.encode(), head.encode() + b"content-length: 900\r\n\r\n{"]
        slow = [socket.create_connection(("127.0.0.1", studio.port), timeout=60) for _ in range(60)]
        try:
            for number, connection in enumerate(slow):
                connection.sendall(beginnings[number % 4])
            assert [studio.status() for _ in range(5)] == [200] * 5
            for number, connection in enumerate(slow):
                answer = ended(connection)
                assert answer.startswith(b"HTTP/1.1 408 ") if number % 4 == 3 else answer == b""
        finally:
            for connection in slow:
                connection.close()
    print(f"{60 * rounds} slow clients of the studio")


def test_oversized_bodies_are_cut_off(studio, full):
    megabytes = 1_000 if full else 60
    block = b" " * (1 << 20)
    head = f"PUT /api/recipe HTTP/1.1\r\nhost: {studio.host}\r\ncookie: {studio.cookie}\r\norigin: http://{studio.host}\r\n"
    sent = 0
    while sent < megabytes:
        with closing(socket.create_connection(("127.0.0.1", studio.port), timeout=60)) as connection:
            announced = sent % 2 == 0
            length = "content-length: 1000000000" if announced else "transfer-encoding: chunked"
            connection.sendall(f"{head}{length}\r\n\r\n".encode())
            with suppress(BrokenPipeError, ConnectionResetError):
                for _ in range(20):
                    sent += 1
                    connection.sendall(block if announced else b"100000\r\n" + block + b"\r\n")
            answer = b""
            with suppress(ConnectionResetError):
                answer = connection.recv(4096)
            assert answer.startswith(b"HTTP/1.1 413 ") or answer == b""
    assert studio.status() == 200
    print(f"{sent:,} MB of oversized bodies to the studio")


def test_nobody_but_the_steward_gets_in(studio):
    foreign = {
        "no cookie": ({"cookie": ""}, 401),
        "a guessed cookie": ({"cookie": studio.cookie[:-1] + "!"}, 401),
        "another host": ({"host": "evil.example"}, 403),
        "a host that resolves here": ({"host": f"evil.example:{studio.port}"}, 403),
        "another site": ({"origin": "https://evil.example"}, 403),
        "another port of this machine": ({"origin": "http://127.0.0.1:1"}, 403),
        "no site": ({"origin": "null"}, 403),
        "a frame of another site": ({"sec_fetch_site": "cross-site"}, 403),
    }
    for who, (headers, status) in foreign.items():
        assert studio.status(**headers) == status, who
        assert studio.status("POST", "/api/undo", b"{}", **headers) == status, who
    assert studio.status("POST", "/api/undo", b"{}", origin="") == 403  # what changes something says where it is from
    assert studio.status() == 200
