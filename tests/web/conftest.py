"""Real servers for the collector's tests: the service in a process of its own, PostgreSQL, and JavaScript."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

SURVEY = """
name = "lunch"
question = "What did you have for lunch?"
answers = {type = "labels", labels = ["rice", "noodles", "bread", "nothing"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
estimate = {minimum = 10}
service = {storage = "reports.db", rate = 0, batch = 1}
"""
PATIENCE = 300.0
"""Seconds that anything may take on a busy machine; nothing waits longer than it must."""
STATIC = Path(__file__).parents[2] / "src" / "sudare" / "collector" / "static"


class Server:
    """``sudare collect serve`` (or another ``command``) in a process of its own; ``prelude`` is run there first."""

    def __init__(self, path: Path | list[str], prelude: str = "", command: str = "serve", port: int = 0) -> None:
        self.path = path
        self.arguments, self.prelude = [command, *(path if isinstance(path, list) else [str(path)])], prelude
        self.asked = str(port)
        self.url = ""
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> Server:
        script = self.prelude + "\nfrom sudare.cli.collect import collect; collect()"
        command = [sys.executable, "-c", script, *self.arguments, "--port", self.asked]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not (found := re.search(r"http://[^\s;]+", line)):
            raise AssertionError(self.process.communicate()[1])
        self.url = found[0]
        return self

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def request(self, path: str, body: object = None, headers: dict[str, str] | None = None) -> tuple[int, dict]:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        try:
            request = Request(self.url + path, data, sent)  # noqa: S310 - our own server
            with urlopen(request, timeout=PATIENCE) as response:  # noqa: S310 - as above
                return response.status, json.loads(response.read())
        except HTTPError as refusal:
            with refusal:
                return refusal.code, json.loads(refusal.read())

    def end(self, how: int) -> int:
        """Send a signal and wait; returns the exit status."""
        self.process.send_signal(how)
        self.process.communicate()
        return self.process.returncode


@pytest.fixture(autouse=True)
def _a_device_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("SUDARE_STATE", str(tmp_path / "state"))


@pytest.fixture
def survey_file(tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY)
    return path


@pytest.fixture
def launch():
    """Starts the service for a survey file; what still runs at the end is stopped."""
    servers: list[Server] = []

    def start(path: Path | list[str], prelude: str = "", **options: Any) -> Server:
        servers.append(Server(path, prelude, **options).start())
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


@pytest.fixture(scope="session")
def postgres_server():
    """A real PostgreSQL server with the binaries that pgserver ships, on a socket in a folder of its own."""
    pytest.importorskip("psycopg", reason="no driver of PostgreSQL: pip install 'psycopg[binary]'")
    found = find_spec("pgserver")
    if found is None:
        pytest.skip("no PostgreSQL server: pip install pgserver")
    binaries = Path(found.origin).parent / "pginstall" / "bin"
    folder = Path(tempfile.mkdtemp(prefix="sudare-postgres-"))
    who = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **who}
    data = folder / "data"
    subprocess.run([binaries / "initdb", "-D", data, "-U", "sudare", "--auth=trust", "--no-sync"], check=True, **silent)
    server = subprocess.Popen([binaries / "postgres", "-D", data, "-k", folder, "-h", ""], **silent)
    try:
        yield f"postgresql://sudare@/postgres?host={folder}", server
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(folder)


@pytest.fixture
def postgres(postgres_server):
    """The address of an empty schema on the server."""
    import psycopg

    url, server = postgres_server
    schema = f"survey_{os.urandom(6).hex()}"
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert server.poll() is None
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
            return f"{url}&options=-csearch_path%3D{schema}"
        time.sleep(0.05)
    raise AssertionError("PostgreSQL did not start")


class Chromium:
    """A headless browser, spoken to over its debugging pipe."""

    def __init__(self, binary: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="sudare-chromium-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
        flags += [f"--user-data-dir={self._profile}", "about:blank"]
        shell = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'  # the browser reads from 3 and writes to 4
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "browser", str(to_browser), str(from_browser), binary, *flags],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _message(self) -> dict:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 16)
            assert part, "the browser is gone"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def evaluate(self, expression: str) -> object:
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression: str) -> object:
        """The value of an expression once it is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := self.evaluate(expression):
                return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}; the page says {self.evaluate('document.body.innerText')}")

    def visit(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(url)})")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)


@pytest.fixture(scope="session")
def chromium():
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if binary is None:
        pytest.skip("no Chromium on this machine")
    browser = Chromium(binary)
    yield browser
    browser.close()


@pytest.fixture(params=["node", "chromium"])
def javascript(request, tmp_path):
    """Runs the body of an async function with the module ``client`` and the JSON ``given``; returns its JSON."""
    if request.param == "node":
        if shutil.which("node") is None:
            pytest.skip("no Node on this machine")

        def run(body: str, given: object) -> object:
            (tmp_path / "given.json").write_text(json.dumps(given))
            script = tmp_path / "script.mjs"
            script.write_text(
                f"import * as client from {json.dumps((STATIC / 'client.js').as_uri())};\n"
                "import { readFileSync } from 'node:fs';\n"
                f"const given = JSON.parse(readFileSync({json.dumps(str(tmp_path / 'given.json'))}));\n"
                f"const result = await (async () => {{ {body} }})();\n"
                "process.stdout.write(JSON.stringify(result));\n"
            )
            (tmp_path / "package.json").write_text('{"type": "module"}')
            done = subprocess.run(["node", script], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        return run
    browser = request.getfixturevalue("chromium")
    browser.visit("about:blank")  # a page that another test left open may refuse scripts of elsewhere

    def run_in_browser(body: str, given: object) -> object:
        module = base64.b64encode((STATIC / "client.js").read_bytes()).decode()
        return json.loads(
            browser.evaluate(
                f"(async () => {{ const client = await import('data:text/javascript;base64,{module}');"
                f"const given = {json.dumps(given)};"
                f"return JSON.stringify(await (async () => {{ {body} }})()); }})()"
            )
        )

    return run_in_browser
