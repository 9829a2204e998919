"""Grants: the same part of the same data has the same noise, anything else has its own."""

import pickle

import numpy as np
import pytest

from sudare.errors import AccountingError
from sudare.noise import Source

HELD = np.array([3, 1, 4]), np.array([1, 5])


def words(part):
    return part.source().words(6).tolist()


def test_a_part_repeats_itself_and_nothing_else():
    grant = Source.system().grant("subtrees")
    part = grant.part("subtree 5", *HELD)
    assert words(part) == words(part) == words(grant.part("subtree 5", *(array.copy() for array in HELD)))
    others = [
        grant.part("subtree 6", *HELD),
        grant.part("subtree 5", *HELD[::-1]),
        grant.part("subtree 5", np.array([3, 1, 5]), HELD[1]),
        grant.part("subtree 5", np.array([3, 1, 4, 1]), np.array([5])),  # the same bytes, divided otherwise
        grant.part("subtree 5"),
        Source.system().grant("subtrees").part("subtree 5", *HELD),
    ]
    assert len({tuple(words(each)) for each in [part, *others]}) == len(others) + 1
    assert len({each.seal for each in [part, *others]}) == len(others) + 1


def test_a_grant_travels_and_shows_no_key():
    grant = Source.system().grant("subtrees")
    there = pickle.loads(pickle.dumps(grant))  # noqa: S301 - our own bytes
    assert words(there.part("a", *HELD)) == words(grant.part("a", *HELD))
    for shown in (repr(grant), repr(grant.part("a")), str(grant.part("a").seal)):
        assert grant.key.hex() not in shown
        assert str(grant.key) not in shown


def test_a_grant_knows_whether_it_is_seeded():
    assert Source.from_seed(1).grant("x").part("a").source().seeded
    assert not Source.system().grant("x").part("a").source().seeded
    assert words(Source.from_seed(1).grant("x").part("a")) == words(Source.from_seed(1).grant("x").part("a"))


def test_a_label_is_granted_once():
    source = Source.system()
    source.grant("subtrees")
    with pytest.raises(AccountingError, match="used twice"):
        source.grant("subtrees")
