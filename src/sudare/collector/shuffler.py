"""A relay between devices and a collector, run by another party: ``sudare collect shuffle``.

It receives sealed reports, which it cannot read, and forwards whole batches of them in the order of their random
tickets; it writes nothing about reports to a disk. It knows who sent and not what, the collector what and not who: if
they do not work together, each batch is shuffled in the sense of amplification (`sudare.local.shuffled`).

Where the organiser hands out codes, the relay asks each report for one that was not used. It holds the hashes of the
codes, and of those that were used, in sorted files: no order, and no link from a code to a report, which only travels
inside the seal.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from sudare.collector.client import Client
from sudare.collector.group_commit import GroupCommit
from sudare.collector.intake import MOST_REPORTS
from sudare.collector.sealing import OVERHEAD
from sudare.collector.storage import ID_BYTES, RequestError, Row, StorageError
from sudare.errors import InputError, Message, OutputError, ParameterError, SudareError
from sudare.privacy.private_files import write_secret

_KEYS = {"id", "sealed"}


class Codes:
    """Single-use codes by their hashes: those in the file ``path``, without those in ``path`` with ``.used`` added."""

    def __init__(self, path: Path) -> None:
        with InputError.from_system("the codes cannot be read: {reason}", value=str(path)):
            self._known = set(path.read_text(encoding="ascii").split())
        self._file = path.with_name(f"{path.name}.used")
        self._used = set(self._file.read_text(encoding="ascii").split()) if self._file.exists() else set()
        self._held: dict[str, bytes] = {}
        self._lock = Lock()

    def hold(self, code: Any, ticket: bytes) -> bool:
        """Reserve a code for a report until its batch is forwarded; False where the code was used before."""
        digest = _hash(code) if isinstance(code, str) else ""
        with self._lock:
            if digest not in self._known:
                raise RequestError(403, "the code is not one of the organiser's")
            if digest in self._used:
                return False
            if self._held.setdefault(digest, ticket) != ticket:
                raise RequestError(403, "the code is being used for another report")
        return True

    def spend(self, tickets: set[bytes]) -> None:
        """The reports of these tickets are with the collector: their codes are used."""
        with self._lock:
            spent = {digest for digest, ticket in self._held.items() if ticket in tickets}
            self._used |= spent
            for digest in spent:
                del self._held[digest]
            partial = self._file.with_name(f".{self._file.name}.partial-{os.getpid()}")
            with OutputError.from_system("the used codes cannot be written: {reason}", value=str(self._file)):
                partial.write_text(
                    "".join(f"{digest}\n" for digest in sorted(self._used)), encoding="ascii", newline="\n"
                )
                partial.replace(self._file)


def make_codes(number: int, path: str | Path) -> Path:
    """Write ``number`` codes to ``path``, for people, and their hashes to ``path.hashes``, for the relay."""
    path = Path(path)
    codes = [secrets.token_urlsafe(12) for _ in range(number)]
    hashes = path.with_name(f"{path.name}.hashes")
    with OutputError.from_system("the codes cannot be written: {reason}", value=str(path)):
        for place, lines in ((path, codes), (hashes, sorted(map(_hash, codes)))):
            write_secret(place, "".join(f"{line}\n" for line in lines).encode())
    return hashes


class Shuffler:
    """The relay's half: takes rows of (ticket, sealed report), and forwards ``batch`` or more of them at once.

    The guarantee of the survey counts on a smallest batch; a relay may wait for more.
    """

    def __init__(self, client: Client, codes: Codes | None = None, batch: int | None = None) -> None:
        self.client, self.survey, self.codes = client, client.survey, codes
        least = self.survey.smallest_batch
        if batch is not None and batch < least:
            raise ParameterError(
                "the batch is smaller than the survey promises", value=batch, allowed="{least} or more", least=least
            )
        self.batch = batch or least
        self._most = -(-4 * (OVERHEAD + ID_BYTES + self.survey.encoding.report_bytes) // 3)
        self.group = GroupCommit(self._forward, self.batch, seconds=float("inf"))

    def rows(self, body: bytes) -> tuple[list[Row], int]:
        """The sealed reports of a request, and how many others were taken before."""
        try:
            content = json.loads(body)
            fingerprint, listed = content["survey"], content["reports"]
            wanted = _KEYS | ({"code"} if self.codes else set())
            whole = 1 <= len(listed) <= MOST_REPORTS and all(item.keys() == wanted for item in listed)
            rows = [(bytes.fromhex(item["id"]), base64.urlsafe_b64decode(item["sealed"])) for item in listed]
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            whole, fingerprint, listed, rows = False, self.survey.fingerprint, [], []
        if not whole or any(len(identity) != ID_BYTES or len(sealed) > self._most for identity, sealed in rows):
            raise RequestError(400, "the request is not a list of sealed reports")
        if fingerprint != self.survey.fingerprint:
            raise RequestError(409, "the report is for another survey, or for this one before it was changed")
        if self.codes is None:
            return rows, 0
        new = [row for row, item in zip(rows, listed, strict=True) if self.codes.hold(item["code"], row[0])]
        return new, len(rows) - len(new)

    def _forward(self, rows: Sequence[Row]) -> list[bool]:
        if len(rows) < self.batch:  # the relay is being stopped: fewer than a batch go nowhere
            raise StorageError("the relay stopped before there was a batch of reports")
        body = {"survey": self.survey.fingerprint, "sealed": [_text(sealed) for _, sealed in rows]}
        try:
            self.client.forward(json.dumps(body).encode())
        except SudareError as problem:
            raise StorageError("the collector did not take the batch: {reason}", reason=problem) from None
        if self.codes is not None:
            self.codes.spend({identity for identity, _ in rows})
        return [True] * len(rows)


_ANY = 10**9
"""A relay answers no survey: what one may cost is for the devices to say."""


def shuffle(
    forward: str,
    *,
    batch: int | None = None,
    codes: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8001,
    ready: Callable[[str, int], None] | None = None,
) -> None:
    """Serve the relay in front of the collector at ``forward`` until stopped."""
    from sudare.collector.serving import PatientServer, listen, shown_address

    client = Client(forward, most_epsilon=_ANY)
    relay = Shuffler(client, None if codes is None else Codes(Path(codes)), batch)
    with listen(host, port, 2048, Message("relay")) as listening:
        server = PatientServer(create_relay(relay), 2000, timeout_graceful_shutdown=10)
        if ready is not None:
            ready(shown_address(host, listening), relay.batch)
        server.run(sockets=[listening])


def create_relay(relay: Shuffler) -> Any:
    """The relay's web service: ``POST /reports`` alone."""
    # Starlette's own routes: FastAPI reads annotations, and finds no names that are imported here.
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from sudare.collector.service import answered, body_of, receipt_of

    most_bytes = 1024 + MOST_REPORTS * (relay._most + 120)

    async def take(request: Request) -> JSONResponse:
        rows, known = await asyncio.to_thread(relay.rows, await body_of(request, most_bytes))
        if not rows:
            return JSONResponse({"stored": 0, "known": known})
        return await receipt_of(relay.group.add(rows), len(rows), 100, known)

    app = Starlette(routes=[Route("/reports", take, methods=["POST"])])
    answered(app)
    return app


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii")


def _hash(code: str) -> str:
    return hashlib.sha256(b"sudare code" + code.strip().encode()).hexdigest()
