"""A limit on reports per minute and address that keeps no address.

An address is hashed with a secret key into a few counters among many that others share. The key and all counters
are thrown away every minute, and neither is ever written down: nobody can ask later who reported.
"""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Callable
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address

from sudare.collector.refusals import RequestError

WINDOW = 60.0  # seconds
_ROWS, _SLOTS = 2, 1 << 16


class RateLimit:
    """At most ``rate`` reports a minute from one address (one /64 network of IPv6); 0 is no limit.

    Counters are a count-min sketch: two rows of 2**16, each address has one counter in each row, and the smaller one
    bounds what it sent. Addresses that share both counters share the limit, which for 10,000 senders at a time befalls
    one in fifty; memory never grows, however many addresses there are.

    >>> limit = RateLimit(2)
    >>> limit.take("192.0.2.1", 2)
    >>> limit.take("192.0.2.1", 1)
    Traceback (most recent call last):
    sudare.collector.refusals.RequestError: too many reports from one address (allowed: 2 a minute)
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
