"""A studio in a process of its own, over a workspace whose private file holds canaries."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from fault_changes import CANARIES, CANARY

RECIPE = """
dataset = "village"
data = {path = "people.parquet", outside = "drop"}
domain.town = {type = "categories", values = ["A", "B"]}
privacy = {epsilon = 0.5}
ledger = {path = "ledger.db", cap = {epsilon = 1000}}
output = {folder = "release", key = "publisher.pem"}
report = {public = false}
rehearsal = {people = 50, repetitions = 1}
"""
# So that a test need not wait for those who are waited for.
IMPATIENT = """
import sudare.collector.serving as patience
import sudare.studio.guards as guards
import sudare.studio.processes as processes
guards.BODY_SECONDS = patience.HEAD_SECONDS = 5.0
processes._BEGIN_SECONDS = 5.0
from sudare.cli.studio import studio
studio()
"""


@dataclass(frozen=True)
class Studio:
    """An open studio, and the session of its steward."""

    process: subprocess.Popen[str]
    port: int
    session: str

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Over a folder, which gets a recipe and its data the first time."""
        if not (folder / "recipe.toml").exists():
            (folder / "recipe.toml").write_text(RECIPE)
            pq.write_table(pa.table({"town": ["A", "B", CANARY]}), folder / "people.parquet")
        command = [sys.executable, "-c", IMPATIENT, str(folder / "recipe.toml"), "--show-link"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        port, token = re.search(r":(\d+)/data#token=(\S+)", process.stdout.readline()).groups()
        status, said = cls(process, int(port), "").ask("POST", "/api/session", {"token": token})
        assert status == 200
        return cls(process, int(port), said["session"])

    def kill(self) -> None:
        """As by ``kill -9``."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """What the steward's own page sends with every request."""
        return {"host": self.host, "authorization": f"Bearer {self.session}", "origin": f"http://{self.host}"}

    def answer(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        """Status and body of the answer to a steward's own request, with ``headers`` changed."""
        given = self.headers | ({} if body is None else {"content-type": "application/json"}) | headers
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in (given if body is None else given | {"content-length": str(len(body))}).items():
                if value:
                    connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body)
            answer = connection.getresponse()
            content = answer.read()
        assert not any(canary.encode() in content for canary in CANARIES)
        return answer.status, content

    def status(self, method: str = "GET", path: str = "/api/state", body: bytes | None = None, **headers: str) -> int:
        """The status alone."""
        return self.answer(method, path, body, **headers)[0]

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of the answer to JSON."""
        status, content = self.answer(method, path, None if body is None else json.dumps(body).encode())
        return status, json.loads(content)
