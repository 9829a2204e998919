import gc

import pytest

from sudare.collector.intake import RateLimit
from sudare.collector.storage import RequestError


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def refused(limit, address, reports=1):
    try:
        limit.take(address, reports)
    except RequestError as refusal:
        return refusal
    return None


def test_an_address_has_its_number_a_minute_and_a_new_one_afterwards():
    clock = Clock()
    limit = RateLimit(10, clock)
    limit.take("192.0.2.1", 10)
    clock.now += 20.5
    refusal = refused(limit, "192.0.2.1")
    assert (refusal.status, refusal.retry_after) == (429, 40)
    assert refused(limit, "192.0.2.2") is None  # another address
    clock.now += 40
    assert refused(limit, "192.0.2.1", 10) is None


def test_what_is_refused_is_not_counted():
    limit = RateLimit(10, Clock())
    assert refused(limit, "192.0.2.1", 11)
    assert refused(limit, "192.0.2.1", 10) is None


def test_a_network_of_ipv6_is_one_sender():
    limit = RateLimit(1, Clock())
    limit.take("2001:db8:1:2::1", 1)
    assert refused(limit, "2001:db8:1:2:ffff::9")
    assert refused(limit, "2001:db8:1:3::1") is None


def test_no_address_at_all_is_one_sender_and_zero_is_no_limit():
    limit = RateLimit(1, Clock())
    limit.take("", 1)
    assert refused(limit, "not an address")
    free = RateLimit(0, Clock())
    for _ in range(1000):
        free.take("192.0.2.1", 1000)


def test_many_senders_share_little_and_memory_does_not_grow():
    limit = RateLimit(5, Clock())
    turned_away = 0
    for number in range(20_000):
        turned_away += refused(limit, f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 5) is not None
    assert turned_away < 20_000 * 0.06  # expected 2 in 100 over the minute, 7 at its end
    assert len(limit._sent) == 2 * 2**16


def test_no_address_is_kept_in_memory():
    limit = RateLimit(5, Clock())
    limit.take("192.0.2.77", 1)
    kept = [thing for thing in gc.get_referents(limit, vars(limit)) if isinstance(thing, str | bytes)]
    assert not any(
        "192.0.2" in str(thing) or b"\xc0\x00\x02" in (thing if isinstance(thing, bytes) else b"") for thing in kept
    )


def test_the_key_is_a_new_one_every_minute():
    clock = Clock()
    limit = RateLimit(5, clock)
    before = limit._places("192.0.2.1")
    clock.now += 61
    limit.take("192.0.2.9", 1)
    assert limit._places("192.0.2.1") != before


@pytest.mark.parametrize("rate", [1, 7])
def test_the_sentence_names_the_limit(rate):
    limit = RateLimit(rate, Clock())
    assert str(refused(limit, "192.0.2.1", rate + 1)) == (
        f"too many reports from one address (allowed: {rate} a minute)"
    )
