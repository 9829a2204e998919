"""The studio under clients that mean ill: slow, oversized, foreign, and many that ask for the same."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from fault_processes import memory_of
from fault_studio import Studio

from sudare.errors import RecipeError
from sudare.privacy import Ledger
from sudare.studio.service import UPLOAD_BYTES
from sudare.workflow.certificate import verify
from sudare.workflow.publication import publish


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("tomlkit", reason="the studio is not installed: pip install 'sudare[studio]'")
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[Studio]:
    opened = Studio.open(folder)
    yield opened
    alive = opened.process.poll() is None
    opened.kill()
    assert alive


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
        head = f"PUT /api/recipe HTTP/1.1\r\nhost: {studio.host}\r\nauthorization: Bearer {studio.session}\r\n"
        head += f"origin: http://{studio.host}\r\ncontent-type: application/json\r\n"
        beginnings = [b"", b"GET /api/st", head.encode(), head.encode() + b"content-length: 900\r\n\r\n{"]
        slow: list[socket.socket] = []
        try:
            for number in range(60):
                slow.append(socket.create_connection(("127.0.0.1", studio.port), timeout=60))
                slow[-1].sendall(beginnings[number % 4])
            assert [studio.status() for _ in range(5)] == [200] * 5
            for number, connection in enumerate(slow):
                answer = ended(connection)
                assert answer.startswith(b"HTTP/1.1 408 ") if number % 4 == 3 else answer == b""
        finally:
            for connection in slow:
                connection.close()
    print(f"{60 * rounds} slow clients of the studio")


def cut_off(connection: socket.socket) -> bool:
    """Whether what was sent was too large: by the answer, or because nobody listens any more."""
    answer = b""
    with suppress(ConnectionResetError):
        answer = connection.recv(4096)
    return answer.startswith(b"HTTP/1.1 413 ") or answer == b""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of the studio cannot be seen: no /proc")
def test_oversized_bodies_are_cut_off(studio, full):
    megabytes = 1_000 if full else 60
    before = memory_of(studio.process.pid)
    block = b" " * (1 << 20)
    head = f"PUT /api/recipe HTTP/1.1\r\nhost: {studio.host}\r\nauthorization: Bearer {studio.session}\r\norigin: http://{studio.host}\r\n"
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
            assert cut_off(connection)
    assert studio.status() == 200
    assert memory_of(studio.process.pid) < before + 100_000
    print(f"{sent:,} MB of oversized bodies to the studio")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of the studio cannot be seen: no /proc")
def test_oversized_uploads_are_cut_off_and_leave_nothing(studio, folder, full):
    # As a stream: nothing says beforehand that it is too large.
    uploads, most = 10 if full else 1, UPLOAD_BYTES >> 20
    before = memory_of(studio.process.pid)
    head = f"POST /api/files/large.csv HTTP/1.1\r\nhost: {studio.host}\r\nauthorization: Bearer {studio.session}\r\n"
    head += f"origin: http://{studio.host}\r\ntransfer-encoding: chunked\r\n\r\n"
    block = b"100000\r\n" + b"7" * (1 << 20) + b"\r\n"
    for _ in range(uploads):
        with closing(socket.create_connection(("127.0.0.1", studio.port), timeout=60)) as connection:
            connection.sendall(head.encode())
            sent = 0
            with suppress(BrokenPipeError, ConnectionResetError):
                for _ in range(most + 20):
                    connection.sendall(block)
                    sent += 1
            assert sent >= most
            assert cut_off(connection)
    assert studio.status() == 200
    assert memory_of(studio.process.pid) < before + 100_000
    assert not list(folder.glob("*large*"))
    assert not list((folder / ".sudare-studio").glob("upload-*"))
    print(f"{uploads} uploads of more than {most} MB to the studio")


def test_nobody_but_the_steward_gets_in(studio):
    foreign = {
        "no session": ({"authorization": ""}, 401),
        "a guessed session": ({"authorization": f"Bearer {studio.session[:-1]}!"}, 401),
        "the session without its scheme": ({"authorization": studio.session}, 401),
        "the session as a cookie": ({"authorization": "", "cookie": f"session={studio.session}"}, 401),
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


def at_once(number: int, ask: Callable[[], tuple[int, Any]]) -> list[tuple[int, Any]]:
    """The answers to ``number`` requests that are sent at the same time."""
    answers: list[tuple[int, Any]] = []
    gate = threading.Barrier(number)

    def send() -> None:
        gate.wait()
        answers.append(ask())

    threads = [threading.Thread(target=send) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_a_change_that_is_sent_again_is_made_once(studio, full):
    # Many tabs send the same changes, each made to a version; all but the first to come are too late.
    rounds, tabs = (100, 16) if full else (5, 8)
    _, state = studio.ask("GET", "/api/state")
    seen, last = [], state["version"]
    dice = random.Random(9)  # noqa: S311 - an order, not a secret
    for number in range(rounds):
        body = {"based_on": last, "changes": {"title": f"change {number}"}}
        answers = at_once(tabs, lambda body=body: studio.ask("PATCH", "/api/recipe", body))
        assert Counter(status for status, _ in answers) == {200: 1, 409: tabs - 1}
        seen.append(body)
        last += 1
        assert next(said for status, said in answers if status == 200)["version"] == last
        for old in dice.sample(seen, min(3, len(seen))):  # and once more later, in another order
            assert studio.ask("PATCH", "/api/recipe", old)[0] == 409
    assert studio.ask("GET", "/api/state")[1]["version"] == last
    print(f"{rounds} changes of a recipe, each sent {tabs} times at once and again later: {rounds} versions")


def test_a_publication_that_is_asked_for_again_spends_once(studio, folder, full):
    rounds, tabs = (15, 16) if full else (1, 8)
    for number in range(rounds):
        _, state = studio.ask("GET", "/api/state")
        change = {"based_on": state["version"], "changes": {"output.folder": f"release-{number}"}}
        _, state = studio.ask("PATCH", "/api/recipe", change)
        body = {"based_on": state["version"], "confirm": "village"}
        answers = at_once(tabs, lambda body=body: studio.ask("POST", "/api/publish", body))
        assert Counter(status for status, _ in answers) == {202: 1, 409: tabs - 1}
        job = next(said for status, said in answers if status == 202)
        while job["state"] not in ("done", "failed"):
            time.sleep(0.05)
            _, job = studio.ask("GET", f"/api/jobs/{job['id']}")
        assert job["state"] == "done", job
        assert verify(folder / f"release-{number}").ok
    spends = [entry for entry in Ledger(folder / "ledger.db").entries() if entry.kind == "spend"]
    assert len(spends) == rounds
    print(f"{rounds} publications, each asked for {tabs} times at once: {len(spends)} spends")


def test_a_recipe_in_another_encoding_is_neither_shown_nor_published_nor_overwritten(studio, folder):
    """As an editor of a Japanese Windows saves it; the command line refuses it with the same sentence."""
    recipe = folder / "recipe.toml"
    before, (_, state) = recipe.read_bytes(), studio.ask("GET", "/api/state")
    spent = len(Ledger(folder / "ledger.db").entries())
    content = before.replace(b"village", "村".encode("cp932")).replace(b'"A", "B"', '"村", "町"'.encode("cp932"))
    recipe.write_bytes(content)
    try:
        asked = [
            ("GET", "/api/state", None),
            ("GET", "/api/publish", None),
            ("PATCH", "/api/recipe", {"based_on": state["version"], "changes": {"title": "changed"}}),
            ("PUT", "/api/recipe", {"based_on": state["version"], "text": "kind = 'table'\n"}),
            ("POST", "/api/undo", {"based_on": state["version"]}),
            ("POST", "/api/publish", {"based_on": state["version"], "confirm": "village"}),
        ]
        for request in asked:
            status, said = studio.ask(*request)
            assert (status, said["error"]["what"]) == (422, "the recipe is not text in UTF-8"), request
            assert recipe.read_bytes() == content
        with pytest.raises(RecipeError, match="the recipe is not text in UTF-8"):
            publish(recipe)
        assert len(Ledger(folder / "ledger.db").entries()) == spent
    finally:
        recipe.write_bytes(before)
    assert studio.ask("GET", "/api/state")[1]["version"] == state["version"]
