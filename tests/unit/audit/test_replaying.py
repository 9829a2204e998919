"""Record and replay, on releases small enough to be seen through."""

from fractions import Fraction

import numpy as np
import pytest

from sudare.audit.replaying import Neighbour, replay, replay_finding
from sudare.noise import Source, measure, respond, sample, secret
from sudare.noise.response import RandomisedResponse
from sudare.privacy import Budget

ONE = Budget(epsilon=Fraction(1))


def sums(values, source):
    return {"sum": measure(np.array([sum(values)]), 1, ONE, source, "sum").tobytes()}


def test_a_sound_release_passes_and_the_distance_is_of_the_sensitivity():
    found = replay(sums, [1, 1, 1], [Neighbour("one more", [1] * 4), Neighbour("the same", [1] * 3)], promised=ONE)
    assert [(one.passed, one.ratio, one.spent) for one in found] == [(True, 1.0, 1.0), (True, 0.0, 0.0)]


def test_values_that_move_farther_than_declared():
    (found,) = replay(sums, [1, 1], [Neighbour("two more", [1] * 4)])
    assert not found.passed
    assert found.ratio == 2
    assert "two more: exact values apart by 2 of the sensitivity" in replay_finding("sums", [found]).figure()
    (found,) = replay(sums, [1, 1], [Neighbour("replaced", [1] * 4, factor=2)])
    assert found.passed


def test_measurements_that_cost_more_together_than_is_promised():
    """Each is within its sensitivity, but the same record is in both."""

    def twice(values, source):
        return sums(values, source) | {"again": measure(np.array([sum(values)]), 1, ONE, source, "again").tobytes()}

    (found,) = replay(twice, [1, 1], [Neighbour("one more", [1] * 3)], promised=ONE)
    assert (found.passed, found.ratio, found.spent) == (False, 1.0, 2.0)
    assert "a cost of 2 of the promise" in replay_finding("twice", [found]).figure()
    assert replay(twice, [1, 1], [Neighbour("one more", [1] * 3)], promised=ONE.times(Fraction(2)))[0].passed


def test_strangers_may_lie_far_apart_but_must_not_show():
    def with_support(values, source):
        return sums(values, source) | {"support": bytes(len(set(values)))}

    stranger = Neighbour("everybody", [1] * 1000, stranger=True)
    assert replay(sums, [1], [stranger], promised=ONE)[0].passed
    assert not replay(sums, [1], [Neighbour("everybody", [1] * 1000)], promised=ONE)[0].passed
    (other,) = replay(with_support, [1], [Neighbour("other", [1, 2], stranger=True)])
    assert str(other.problem) == "support differs"


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
            # The frozen values would be added to the others, which fit by broadcasting, or fail with NumPy's words.
            lambda values, source: {
                "x": (measure(np.array(values[1:]), 1, ONE, source, "x") + np.array(values[1:])).tobytes()
            },
            "the replay measures another number of values",
        ),
        (
            lambda values, source: sums(values, source) if len(values) == 2 else {"sum": b""},
            "the replay measures less than the recording did",
        ),
        (
            lambda values, source: {
                "x": respond(
                    np.array(values[:1]), RandomisedResponse(len(values) + 1, Fraction(1)), source, "x"
                ).tobytes()
            },
            "the replay measures something else",
        ),
    ],
)
def test_what_a_replay_finds(broken, problem):
    (found,) = replay(broken, [1, 1], [Neighbour("one more", [1] * 3)])
    assert str(found.problem) == problem
    assert not replay_finding("broken", [found]).passed


def test_secrets_are_replayed():
    def run(values, source):
        return {"key": str(secret(source, "key")).encode()}

    assert replay(run, [1], [Neighbour("other", [2])])[0].passed


def drawn(values, source, also=lambda values: b""):
    keys, counts = np.unique(values, return_counts=True)
    kept = sample(keys[:, None], counts, Fraction(1, 2), source, "rows")
    return {"rows": b"".join(bytes([key]) * int(n) for key, n in zip(keys, kept, strict=True)), "also": also(values)}


def test_a_sample_without_the_neighbours_record_is_the_same():
    def apart(first, second):
        return None if len(second["rows"]) == len(first["rows"]) + 1 else "more than a record"

    more = [1, 1, 1, 2, 5]
    for _ in range(20):
        found = replay(drawn, [1, 1, 1, 2], [Neighbour("not drawn", more), Neighbour("drawn", more, drawn=True)])
        assert [str(one.problem) for one in found] == ["None", "rows differs"]
        assert replay(drawn, more[:4], [Neighbour("drawn", more, drawn=True)], apart=apart)[0].passed
    both = [Neighbour("two", [*more, 5], drawn=True)]
    assert str(replay(drawn, more[:4], both, apart=apart)[0].problem) == "a sample differs by several records"


def test_a_sample_that_says_more_is_found():
    def counted(values, source):
        return drawn(values, source, lambda values: bytes([len(values)]))

    found = replay(counted, [1, 1, 2], [Neighbour("not drawn", [1, 1, 2, 3])], apart=lambda first, second: None)
    assert str(found[0].problem) == "also differs"


def test_records_that_are_randomised_each_on_its_own():
    law = RandomisedResponse(9, Fraction(1))

    def run(values, source):
        return {"reports": respond(np.array(values), law, source, "reports").tobytes()}

    one, two = Neighbour("one row", [0, 8, 3], rows=1), Neighbour("two rows", [8, 8, 3], rows=1)
    assert [found.passed for found in replay(run, [0, 1, 3], [one, two])] == [True, False]


def test_the_source_may_be_given():
    seen = []
    replay(lambda values, source: seen.append(source.seeded) or {}, [1], [], Source.from_seed(1))
    assert seen == [True]
