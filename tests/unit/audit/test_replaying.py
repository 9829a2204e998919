"""Record and replay, on releases small enough to be seen through."""

from fractions import Fraction

import numpy as np
import pytest

from sudare.audit.replaying import Measured, Neighbour, distance, replay, replay_finding
from sudare.noise import Source, Sparse, measure, respond, secret
from sudare.noise.response import RandomisedResponse
from sudare.privacy import Budget

ONE = Budget(epsilon=Fraction(1))


def sums(values, source):
    return {"sum": measure(np.array([sum(values)]), 1, ONE, source, "sum").tobytes()}


def test_a_sound_release_passes_and_the_distance_is_of_the_sensitivity():
    found = replay(sums, [1, 1, 1], [Neighbour("one more", [1] * 4), Neighbour("the same", [1] * 3)])
    assert [(one.passed, one.ratio) for one in found] == [(True, 1.0), (True, 0.0)]


def test_values_that_move_farther_than_declared():
    (found,) = replay(sums, [1, 1], [Neighbour("two more", [1] * 4)])
    assert not found.passed
    assert found.ratio == 2
    assert "two more: exact values apart by 2 of the sensitivity" in replay_finding("sums", [found]).figure
    (found,) = replay(sums, [1, 1], [Neighbour("replaced", [1] * 4, factor=2)])
    assert found.passed


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (lambda values, source: sums(values, source) | {"rows": bytes(len(values))}, "rows differs"),
        (lambda values, source: sums(values, source) | {f"file {len(values)}": b""}, "other things are published"),
        (lambda values, source: {"sum": source.child("own").words(4).tobytes()}, "sum differs"),
        (
            lambda values, source: {"x": measure(np.array(values), len(values), ONE, source, "x").tobytes()},
            "the replay measures something else",
        ),
        (
            lambda values, source: {"x": measure(np.array(values), 1, ONE, source, "x").tobytes()},
            "the replay measures another number of values",
        ),
        (
            lambda values, source: sums(values, source) if len(values) == 2 else {"sum": b""},
            "the replay measures less than the recording did",
        ),
    ],
)
def test_what_a_replay_finds(broken, problem):
    (found,) = replay(broken, [1, 1], [Neighbour("one more", [1] * 3)])
    assert found.problem == problem
    assert not replay_finding("broken", [found]).passed


def test_secrets_are_replayed():
    def run(values, source):
        return {"key": str(secret(source, "key")).encode()}

    assert replay(run, [1], [Neighbour("other", [2])])[0].passed


def test_distances():
    def measured(exact, budget=ONE):
        return Measured("x", exact, Fraction(1), budget, np.zeros(1))

    here = Sparse(np.array([1, 5]), np.array([2, 9]), 10)
    there = Sparse(np.array([0, 5]), np.array([4, 10]), 10)
    assert distance(measured(here), measured(there)) == 7
    rho = Budget(rho=Fraction(1))
    assert distance(measured(np.array([1, 5]), rho), measured(np.array([4, 1]), rho)) == 25
    far = distance(measured(np.array([-(2**61)])), measured(np.array([2**61])))
    assert far == 2**62  # no overflow


def test_records_that_are_randomised_each_on_its_own():
    law = RandomisedResponse(9, Fraction(1))

    def run(values, source):
        return {"reports": respond(np.array(values), law, source, "reports").tobytes()}

    one, two = Neighbour("one row", [0, 8, 3], rows=1), Neighbour("two rows", [8, 8, 3], rows=1)
    assert [found.passed for found in replay(run, [0, 1, 3], [one, two])] == [True, False]

    def grid(values, source):
        return {"values": measure(np.array(values), 100, ONE, source, "values").tobytes()}

    near, far = Neighbour("near", [100, 5], rows=1), Neighbour("far", [101, 5], rows=1)
    assert [found.passed for found in replay(grid, [0, 5], [near, far])] == [True, False]


def test_the_source_may_be_given():
    seen = []
    replay(lambda values, source: seen.append(source.seeded) or {}, [1], [], Source.from_seed(1))
    assert seen == [True]
