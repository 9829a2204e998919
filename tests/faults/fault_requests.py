"""Requests that must not be accepted, as bytes for a socket: what all services have to refuse, and how to send them."""

from __future__ import annotations

import json
import random
import socket
import string
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

Request = tuple[str, bytes]


class Mischief:
    """Makes malformed requests for one address; a kind is a method named ``bad_...``, those of a subclass included.

    ``target`` is what a good request asks for (``POST /reports``), ``headers`` what its sender puts into each, and
    ``good`` makes the JSON of one that would be accepted.
    """

    def __init__(self, target: str, headers: dict[str, str], good: Callable[[], Any], seed: int | None) -> None:
        self.method, self.path = target.split()
        self.headers, self.good = headers, good
        self.dice = random.Random(seed)  # noqa: S311 - tests may be repeatable
        self.kinds = [getattr(self, name) for name in sorted(dir(type(self))) if name.startswith("bad_")]

    def request(self) -> Request:
        """The name of a kind, and a request of it."""
        kind: Callable[[], bytes] = self.dice.choice(self.kinds)
        return kind.__name__, kind()

    def http(
        self,
        body: Any,
        method: str | None = None,
        path: str | None = None,
        headers: dict[str, str | None] | None = None,
    ) -> bytes:
        """A request with the headers that it needs, ``headers`` changed or (None) left out."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {"content-type": "application/json", "content-length": str(len(content))}
        given = self.headers | fields | (headers or {})
        lines = [f"{name}: {value}" for name, value in given.items() if value is not None]
        first = f"{method or self.method} {path or self.path} HTTP/1.1"
        return "\r\n".join([first, *lines, "connection: close", "", ""]).encode() + content

    def junk(self) -> Any:
        """A JSON value of any kind, but never a right one."""
        return self.dice.choice(
            [
                None,
                True,
                -1,
                1e308,
                "",
                "\x00" * 5,
                "".join(self.dice.choices(string.printable, k=self.dice.randrange(1, 60))),
                "é" * 32,
                "٣" * 32,  # digits, but not those
                [],
                [[]],
                {},
                {"id": {}},
                self.dice.randbytes(8).hex() + "\n",
                10**400,
            ]
        )

    # Kinds of mischief: bodies

    def bad_bytes(self) -> bytes:
        return self.http(self.dice.randbytes(self.dice.randrange(1, 400)))

    def bad_cut_json(self) -> bytes:
        content = json.dumps(self.good()).encode()
        return self.http(content[: self.dice.randrange(1, len(content))])

    def bad_top(self) -> bytes:
        return self.http(self.dice.choice([self.junk(), [self.good()]]))

    def bad_depth(self) -> bytes:
        opening = self.dice.choice([b"[", b'{"survey":', b'{"reports":['])
        return self.http(opening * self.dice.randrange(1000, 20_000))

    def bad_announced_size(self) -> bytes:
        """The size is announced and never comes: the announcement alone is refused."""
        return self.http(b"", headers={"content-length": str(self.dice.choice([10**7, 10**9, 10**15]))})

    def bad_type(self) -> bytes:
        kind = self.dice.choice(
            [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json", ""]
        )
        return self.http(self.good(), headers={"content-type": kind})

    def bad_encoding(self) -> bytes:
        return self.http(self.good(), headers={"content-encoding": self.dice.choice(["gzip", "br", "deflate", "x"])})

    def bad_http(self) -> bytes:
        good = self.http(self.good())
        target = f"{self.method} {self.path}".encode()
        return self.dice.choice(
            [
                self.dice.randbytes(200) + b"\r\n\r\n",
                good.replace(b"HTTP/1.1", b"HTTP/9.9", 1),
                good.replace(target, target.replace(b" ", b"  ", 1), 1),
                good.replace(b"content-length: ", b"content-length: -", 1),
                good.replace(b"content-length: ", b"content-length: 1\r\ncontent-length: ", 1),
                good.replace(b"\r\ncontent-type", b"\r\nbad header\x00: y\r\ncontent-type", 1),
                good.replace(b"\r\ncontent-type", b"\r\n" + b"h" * 1_000_000 + b": x\r\ncontent-type", 1),
                good.replace(b"\r\n", b"\n\x01\n", 1),
                good.replace(b"content-type", b"transfer-encoding: chunked\r\ncontent-type", 1),
            ]
        )

    def bad_chunks(self) -> bytes:
        head = self.http(b"", headers={"content-length": None, "transfer-encoding": "chunked"})
        body = json.dumps(self.good()).encode()
        half = body[: len(body) // 2]
        return head + self.dice.choice([b"zz\r\n" + body, b"%x\r\n%s\r\n0\r\n\r\n" % (len(half), half), b"-1\r\n\r\n"])


def answer_to(port: int, request: bytes) -> int | None:
    """The status of the answer, None if the connection was closed without one."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=300)) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(request)  # may be refused before all is sent; the answer is there then
        answer = b""
        with suppress(ConnectionResetError):
            while b"\r\n" not in answer and (part := connection.recv(4096)):
                answer += part
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None
