import pickle
from fractions import Fraction
from pathlib import PurePosixPath

import numpy as np
import pytest

from sudare import errors
from sudare.errors import ParameterError, SudareError, did_you_mean


def test_sentence_has_what_value_allowed_and_hint_in_this_order():
    error = ParameterError("epsilon is not positive", value=-1, allowed="> 0", hint="Give more.")
    assert str(error) == "epsilon is not positive (got -1; allowed: > 0). Give more."
    assert (error.what, error.value, error.allowed, error.hint) == (
        "epsilon is not positive",
        -1,
        "> 0",
        "Give more.",
    )


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({}, "wrong"),
        ({"value": None}, "wrong (got None)"),
        ({"allowed": "a, b"}, "wrong (allowed: a, b)"),
        ({"hint": "Try a."}, "wrong. Try a."),
    ],
)
def test_absent_parts_leave_no_trace(parts, sentence):
    assert str(SudareError("wrong", **parts)) == sentence


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Fraction(1, 3), "1/3"),
        (np.float64(0.5), "0.5"),
        (np.int64(7), "7"),
        (0.1, "0.1"),
        (True, "True"),
        (PurePosixPath("a/b.csv"), "'a/b.csv'"),
        ("two\nlines", r"'two\nlines'"),
        ([1, "a"], "[1, 'a']"),
    ],
)
def test_value_is_shown_as_its_owner_wrote_it(value, written):
    assert str(SudareError("wrong", value=value)) == f"wrong (got {written})"


def test_every_error_is_one_step_below_the_root():
    tree = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    below = {kind: kind.__base__ for kind in tree if kind is not SudareError}
    assert below.pop(errors.LedgerWarning) is errors.PrivacyWarning  # whoever hears warnings hears this one too
    assert set(below.values()) == {SudareError}


def test_errors_survive_the_way_back_from_a_worker_process():
    error = pickle.loads(pickle.dumps(ParameterError("wrong", value=3, hint="Try 2.")))  # noqa: S301 - ours
    assert type(error) is ParameterError
    assert str(error) == "wrong (got 3). Try 2."
    assert (error.what, error.value, error.hint) == ("wrong", 3, "Try 2.")


def test_did_you_mean_names_the_nearest_word_or_nothing():
    assert did_you_mean("epsilo", ["delta", "epsilon"]) == "Did you mean 'epsilon'?"
    assert did_you_mean("zzz", ["delta", "epsilon"]) is None
