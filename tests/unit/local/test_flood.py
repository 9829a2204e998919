"""Forged reports that the law of an encoding rules out are noticed, honest ones are not, whatever people hold."""

import numpy as np
import pytest

from sudare.local import ENCODINGS, FORGED, Tally, encoding_from_json, honest_chance

ONE = {"permanent_unary": {"first": "1/2"}, "square_wave": {"low": 0, "high": 8}}


def encoding_of(name, epsilon="1"):
    return encoding_from_json({"encoding": name, "size": 8, "epsilon": epsilon, **ONE.get(name, {})})


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("people", [[0] * 2000, list(range(8)) * 250])
def test_honest_reports_are_not_suspected(name, people):
    """A right test fails with chance 8e-6 in all sixteen cases together."""
    encoding = encoding_of(name)
    for _ in range(5):
        assert honest_chance(Tally(encoding).add(encoding.randomize(people))) > 1e-7


@pytest.mark.parametrize("name", ["symmetric_unary", "optimised_unary", "permanent_unary"])
def test_a_flood_that_speaks_for_one_value_is_found(name):
    encoding = encoding_of(name)
    honest = encoding.randomize(np.arange(158) % 8).packed
    forged = np.full((600, 1), 1, dtype=np.uint8)
    assert honest_chance(Tally(encoding).add(np.concatenate([honest, forged]))) < FORGED


@pytest.mark.parametrize("name", ["randomised_response", "hadamard_response", "square_wave"])
def test_a_flood_of_one_report_is_found_where_reports_are_numbers(name):
    encoding = encoding_of(name)
    forged = np.zeros((600, encoding.report_bytes), dtype=np.uint8)
    forged[:, 0] = 1
    assert honest_chance(Tally(encoding).add(forged)) < FORGED


def test_forgers_who_follow_the_law_are_people_to_every_test():
    encoding = encoding_of("symmetric_unary")
    assert honest_chance(Tally(encoding).add(encoding.randomize([0] * 700))) > FORGED


def test_no_reports_are_honest():
    assert honest_chance(Tally(encoding_of("symmetric_unary"))) == 1
