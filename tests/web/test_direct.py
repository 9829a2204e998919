"""Requests in pieces, in rows and in odd forms: the short way answers as the long one does."""

import json
import os
import socket
import sqlite3
from contextlib import closing

import pytest

from sudare.collector import load
from sudare.collector.outbox import Outbox


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(
        'name = "lunch"\nquestion = "Lunch?"\nanswers = {type = "labels", labels = ["rice", "bread"]}\n'
        'privacy = {encoding = "symmetric_unary", epsilon = 1}\nservice = {rate = 0, batch = 1}\n'
    )
    return path


@pytest.fixture
def server(launch, path):
    return launch(path)


def body(server):
    survey = load(server.path)
    outbox = Outbox.of(survey.randomize(["rice"]), survey.fingerprint)
    return outbox.body(outbox.rows)


def request(content, more=b"", name=b"content-length"):
    head = b"POST /reports HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n"
    return head + more + name + b": %d\r\n\r\n" % len(content) + content


def answers(connection, number):
    """The statuses and bodies of so many answers."""
    read, found = b"", []
    while len(found) < number:
        part = connection.recv(65536)
        if not part:
            break
        read += part
        while b"\r\n\r\n" in read:
            head, _, rest = read.partition(b"\r\n\r\n")
            headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            length = int(headers[b"content-length"])
            if len(rest) < length:
                break
            found.append((int(head.split()[1]), json.loads(rest[:length])))
            read = rest[length:]
    return found


def connected(server):
    return closing(socket.create_connection(("127.0.0.1", server.port), timeout=60))


def stored(server):
    with closing(sqlite3.connect(server.path.with_name("reports.db"))) as connection:
        return connection.execute("SELECT count(*) FROM reports").fetchone()[0]


STORED = (200, {"stored": 1, "known": 0})


def test_one_connection_many_reports_in_whatever_pieces(server):
    with connected(server) as connection:
        for cut in (0, 1, 40, 104, 150):
            whole = request(body(server))
            connection.sendall(whole[:cut])
            connection.sendall(whole[cut:])
            assert answers(connection, 1) == [STORED]
        one = body(server)
        for _ in range(2):  # the same report again is known, whichever way it takes
            connection.sendall(request(one, b"x-other: 1\r\n"))
            connection.sendall(request(one))
        assert answers(connection, 4) == [STORED, *[(200, {"stored": 0, "known": 1})] * 3]
    assert stored(server) == 6


def test_requests_that_come_before_the_answer_are_answered_in_order(server):
    with connected(server) as connection:
        connection.sendall(b"".join(request(body(server)) for _ in range(5)))
        assert answers(connection, 5) == [STORED] * 5
        connection.sendall(request(body(server)))
        connection.sendall(request(b"{}") + request(body(server)))
        assert [status for status, _ in answers(connection, 3)] == [200, 400, 200]
    assert stored(server) == 7


def test_a_connection_that_is_to_be_closed_is(server):
    with connected(server) as connection:
        connection.sendall(request(body(server), b"connection: close\r\n"))
        assert answers(connection, 2) == [STORED]  # and then the end
    with connected(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: here\r\n\r\n")
        connection.sendall(request(body(server)))
        assert answers(connection, 2) == [(200, {"storing": True}), STORED]


@pytest.mark.parametrize(
    ("more", "status"),
    [
        (b"content-length: 3\r\n", 400),
        (b"transfer-encoding: chunked\r\n", 400),
        (b"Content-Type: text/plain\r\n", 415),
        (b"content-encoding: gzip\r\n", 415),
        (b"expect: nothing\r\n", 200),
    ],
)
def test_what_leaves_doubt_is_read_by_the_general_parser(server, more, status):
    with connected(server) as connection:
        whole = request(body(server), more)
        if b"Content-Type" in more:
            whole = whole.replace(b"content-type: application/json\r\n", b"")
        connection.sendall(whole)
        assert connection.recv(65536).startswith(b"HTTP/1.1 %d " % status)
    assert stored(server) == (1 if status == 200 else 0)


def test_half_a_report_is_none(server):
    with connected(server) as connection:
        connection.sendall(request(body(server))[:-20])
    with connected(server) as connection:
        connection.sendall(request(os.urandom(60)))
        assert answers(connection, 1)[0][0] == 400
    assert stored(server) == 0


MOVED = """
import uvicorn.config
import uvicorn.protocols.http.h11_impl as inner
inner.Renamed = inner.H11Protocol
del inner.H11Protocol
uvicorn.config.HTTP_PROTOCOLS["h11"] = "uvicorn.protocols.http.h11_impl:Renamed"
"""
CHANGED = """
import sudare.collector.direct as direct
direct._NEEDED = (*direct._NEEDED, "what another version lacks")
del direct.DirectProtocol._taken  # the short way would fail
"""


@pytest.mark.parametrize("prelude", [MOVED, CHANGED], ids=["moved", "changed"])
def test_with_another_uvicorn_all_reports_take_the_long_way(launch, path, prelude):
    server = launch(path, prelude)
    with connected(server) as connection:
        for _ in range(3):
            connection.sendall(request(body(server)))
            assert answers(connection, 1) == [STORED]
        connection.sendall(request(b"{}"))
        assert answers(connection, 1)[0][0] == 400
    assert stored(server) == 3
