"""What ``POST /reports`` accepts: one report or a batch, checked before anything is stored, at a limited rate.

    {"survey": FINGERPRINT, "id": ID, "report": REPORT}
    {"survey": FINGERPRINT, "reports": [{"id": ID, "report": REPORT}, ...]}

An id is 32 hexadecimal digits that the device drew at random, a report is base64url without padding. Every other key
is refused: a client that sends more than its report gets an error, and nothing of it is kept. A batch with one bad
report is refused as a whole. The texts of a batch are checked and decoded together, for speed.
"""

from __future__ import annotations

import json
import os
import re
import time
from array import array
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from sudare.collector.sealing import unseal
from sudare.collector.storage import ID_BYTES, RequestError, Row
from sudare.collector.survey import Survey
from sudare.errors import InputError
from sudare.local import Encoding

WINDOW = 60.0  # seconds
_ROWS, _SLOTS = 2, 1 << 16


class RateLimit:
    """At most ``rate`` reports a minute from one address (one /64 network of IPv6); 0 is no limit.

    No address is stored: a secret key hashes it into counters that others share, and both are deleted every minute.
    Counters are a count-min sketch: two rows of 2**16, each address has one counter in each row, and the smaller one
    bounds what it sent. Addresses that share both counters share the limit, which for 10,000 senders at a time befalls
    one in fifty; memory never grows, however many addresses there are.

    >>> limit = RateLimit(2)
    >>> limit.take("192.0.2.1", 2)
    >>> limit.take("192.0.2.1", 1)
    Traceback (most recent call last):
    sudare.collector.storage.RequestError: too many reports from one address (allowed: 2 a minute)
    """

    def __init__(self, rate: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._forget()

    def take(self, address: str, reports: int) -> None:
        """Count ``reports`` of ``address``; refuse them where the minute's number would be passed."""
        if not self._rate:
            return
        if self._clock() >= self._end:
            self._forget()
        places = self._places(address)
        sent = min(self._sent[place] for place in places)
        if sent + reports > self._rate:
            raise RequestError(
                429,
                "too many reports from one address",
                allowed="{rate:,} a minute",
                retry_after=max(1, int(self._end - self._clock()) + 1),
                rate=self._rate,
            )
        for place in places:
            # Conservative update: a counter that is larger already belongs to somebody who shares it.
            self._sent[place] = max(self._sent[place], sent + reports)

    def _forget(self) -> None:
        self._end = self._clock() + WINDOW
        self._key = os.urandom(32)
        self._sent = array("L", bytes(array("L").itemsize * _ROWS * _SLOTS))

    def _places(self, address: str) -> list[int]:
        try:
            parsed = ip_address(address)
        except ValueError:  # a socket without addresses, or a header that says nothing
            network = b""
        else:
            network = parsed.packed[:8] if isinstance(parsed, IPv6Address) else parsed.packed
        digest = blake2b(network, key=self._key, digest_size=4 * _ROWS).digest()
        return [row * _SLOTS + int.from_bytes(digest[4 * row : 4 * row + 4], "little") % _SLOTS for row in range(_ROWS)]


MOST_REPORTS = 1_000
_MOST_BYTES = 4 << 20
_OVERHEAD = 80  # characters of JSON around a report
_HEXADECIMAL = re.compile(r"[0-9a-f]+")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_ONE, _BATCH, _ITEM = {"survey", "id", "report"}, {"survey", "reports"}, {"id", "report"}


def most_reports(encoding: Encoding) -> int:
    """The largest batch: long reports come in smaller ones, so that a request stays below 4 MiB.

    >>> from sudare.local import SymmetricUnary
    >>> most_reports(SymmetricUnary(23, 1)), most_reports(SymmetricUnary(2**16, 1))
    (1000, 381)
    """
    return max(1, min(MOST_REPORTS, _MOST_BYTES // (_OVERHEAD + _text_length(encoding))))


def largest_body(encoding: Encoding) -> int:
    """Bytes of the largest batch, with room for blanks between its parts."""
    return 1024 + 2 * most_reports(encoding) * (_OVERHEAD + _text_length(encoding))


def rows_of(body: bytes, survey: Survey) -> list[Row]:
    """The reports in the body of a request; `RequestError` unless all of them are reports of this survey."""
    listed = _listed(body, survey)
    identities = _identities([item["id"] for item in listed])
    packed = _reports([item["report"] for item in listed], survey.encoding)
    try:
        survey.encoding.check(packed)
    except InputError as problem:
        raise RequestError.of(problem) from None
    return list(zip(identities, _slices(packed.tobytes(), packed.shape[1]), strict=True))


MOST_SEALED = 50_000
"""Reports in one batch of a relay."""


def sealed_rows(body: bytes, survey: Survey, key: X25519PrivateKey) -> list[Row]:
    """The reports in a batch of the relay's; `RequestError` unless it is one of this survey.

    A report that cannot be opened or that no device could have made is left out: a relay cannot see which it is, and
    one bad report must not hold up all others.
    """
    try:
        content = json.loads(body)
        listed, fingerprint = [b64decode(text, altchars=b"-_") for text in content["sealed"]], content["survey"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise RequestError(400, "the request is not a batch of sealed reports") from None
    _check_survey(fingerprint, survey)
    if len(listed) < survey.smallest_batch:
        raise RequestError(400, "the batch is smaller than the survey promises")
    rows: dict[bytes, bytes] = {}
    for sealed in listed:
        with suppress(RequestError, InputError):
            identity, report = unseal(sealed, key, fingerprint)
            survey.encoding.check(np.frombuffer(report, dtype=np.uint8)[None])
            rows.setdefault(identity, report)
    if not rows:
        raise RequestError(400, "the request is not a batch of sealed reports")
    return list(rows.items())


def _check_survey(fingerprint: Any, survey: Survey) -> None:
    if fingerprint != survey.fingerprint:
        raise RequestError(
            409,
            "the report is for another survey, or for this one before it was changed",
            hint="Load the survey again.",
        )


def _listed(body: bytes, survey: Survey) -> list[dict[str, Any]]:
    """The reports as objects with exactly the keys id and report (and survey, where it is one report)."""
    try:
        content = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RequestError(400, "the request is not JSON") from None
    if not isinstance(content, dict) or content.keys() not in (_ONE, _BATCH):
        raise RequestError(
            400, "the request is not a report", allowed="the keys survey, id and report; or survey and reports"
        )
    _check_survey(content["survey"], survey)
    if "report" in content:
        return _once(body, [content], 12)
    listed: Any = content["reports"]
    most = most_reports(survey.encoding)
    if not isinstance(listed, list) or not listed:
        raise RequestError(400, "there are no reports in the request", allowed="1 to {most} reports", most=most)
    if len(listed) > most:
        raise RequestError(413, "there are too many reports in one request", allowed="1 to {most} reports", most=most)
    if not all(type(item) is dict and item.keys() == _ITEM for item in listed):
        raise RequestError(400, "the request is not a list of reports", allowed="the keys id and report for each")
    return _once(body, listed, 6 + 8 * len(listed))


def _once(body: bytes, listed: list[dict[str, Any]], quotes: int) -> list[dict[str, Any]]:
    """Refuse keys that come twice: Python keeps the last of them, others the first.

    Every key and every value has two quotation marks, and values are checked to be words without any.
    """
    if body.count(b'"') != quotes:
        raise RequestError(400, "the request is not a report", allowed="each key once, each value a text")
    return listed


def _identities(texts: list[Any]) -> list[bytes]:
    joined = _joined(texts, 2 * ID_BYTES)
    if joined is None or not _HEXADECIMAL.fullmatch(joined):
        raise RequestError(
            400,
            "an id is malformed",
            allowed="{id_bytes} hexadecimal digits, lower case",
            id_bytes=2 * ID_BYTES,
        )
    identities = _slices(bytes.fromhex(joined), ID_BYTES)
    if len(set(identities)) < len(identities):
        raise RequestError(400, "two reports of one request have the same id", allowed="an id of its own for each")
    return identities


def _reports(texts: list[Any], encoding: Encoding) -> NDArray[np.uint8]:
    """The bytes of reports (n, report_bytes): each text is filled up with zero bits to whole groups of 4 characters."""
    joined = _joined(texts, _text_length(encoding), "A" * (-_text_length(encoding) % 4))
    if joined is None or not _BASE64URL.fullmatch(joined):
        raise RequestError(
            400,
            "a report is malformed",
            allowed="{report_bytes} bytes as {text_length} characters of base64url",
            report_bytes=encoding.report_bytes,
            text_length=_text_length(encoding),
        )
    filled = np.frombuffer(b64decode(joined, altchars=b"-_"), dtype=np.uint8).reshape(len(texts), -1)
    if filled[:, encoding.report_bytes :].any():
        raise RequestError(400, "a report is malformed", allowed="no bits beyond the last byte")
    return np.ascontiguousarray(filled[:, : encoding.report_bytes])


def _joined(texts: list[Any], length: int, filling: str = "") -> str | None:
    """All texts end to end, each followed by ``filling``; None where one is no text of that length."""
    if not all(type(text) is str and len(text) == length for text in texts):
        return None
    return filling.join(texts) + filling


def _slices(content: bytes, length: int) -> list[bytes]:
    return [content[start : start + length] for start in range(0, len(content), length)]


def _text_length(encoding: Encoding) -> int:
    return -(-encoding.report_bytes * 4 // 3)
