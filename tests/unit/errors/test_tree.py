import pickle
from fractions import Fraction
from pathlib import Path, PurePosixPath

import numpy as np
import pytest

from sudare import errors
from sudare.errors import InputError, Message, ParameterError, SudareError, did_you_mean, either


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
    below = {kind: kind.__bases__[0] for kind in tree if kind is not SudareError}
    assert below.pop(errors.LedgerWarning) is errors.PrivacyWarning  # whoever hears warnings hears this one too
    assert {below.pop(errors.MissingColumnError), below.pop(errors.MissingFileError)} == {InputError}
    assert below.pop(errors.MissingRecipeError) is errors.RecipeError
    assert below.pop(errors.NoCapError) is errors.BudgetError
    assert set(below.values()) == {SudareError}


def test_errors_survive_the_way_back_from_a_worker_process():
    error = pickle.loads(pickle.dumps(ParameterError("wrong", value=3, hint="Try 2.")))  # noqa: S301 - ours
    assert type(error) is ParameterError
    assert str(error) == "wrong (got 3). Try 2."
    assert (error.what, error.value, error.hint) == ("wrong", 3, "Try 2.")


def test_did_you_mean_names_the_nearest_word_or_nothing():
    assert str(did_you_mean("epsilo", ["delta", "epsilon"])) == "Did you mean 'epsilon'?"
    assert did_you_mean("zzz", ["delta", "epsilon"]) is None


def kinds():
    return sorted(SudareError.classes.values(), key=lambda kind: kind.code)


def test_codes_stay_as_they_are():
    own = {
        kind.code: kind.__name__ for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "code")
    }
    assert own == {
        "error": "SudareError",
        "parameter": "ParameterError",
        "domain": "DomainError",
        "table": "TableError",
        "input": "InputError",
        "missing_column": "MissingColumnError",
        "missing_file": "MissingFileError",
        "missing_extra": "MissingExtraError",
        "recipe": "RecipeError",
        "missing_recipe": "MissingRecipeError",
        "budget": "BudgetError",
        "no_cap": "NoCapError",
        "ledger": "LedgerError",
        "output": "OutputError",
        "paid": "PaidError",
        "capacity": "CapacityError",
        "verification": "VerificationError",
        "accounting": "AccountingError",
        "privacy_warning": "PrivacyWarning",
        "ledger_warning": "LedgerWarning",
    }
    assert ParameterError("wrong", code="parameter.seed").code == "parameter.seed"


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.ParameterError, ValueError),
        (errors.DomainError, ValueError),
        (errors.TableError, ValueError),
        (errors.RecipeError, ValueError),
        (errors.MissingRecipeError, FileNotFoundError),
        (errors.MissingFileError, FileNotFoundError),
        (errors.MissingColumnError, KeyError),
        (errors.MissingExtraError, ImportError),
        (errors.CapacityError, MemoryError),
        (errors.PrivacyWarning, UserWarning),
    ],
)
def test_an_error_is_also_what_a_python_programmer_would_catch(kind, builtin):
    with pytest.raises(builtin) as caught:
        raise kind("no {name!r}", name="age", value=Path("a.csv"))
    assert str(caught.value) == "no 'age' (got 'a.csv')"


def full(kind):
    problem = kind.__new__(kind)
    SudareError.__init__(
        problem,
        "{count:,} of {name!r} and {path}: {reason}",
        value=Fraction(1, 3),
        allowed=["a", either(["b", "c"])],
        hint=ParameterError("{name} is wrong", name="{x}"),
        code="own",
        count=np.int64(1200),
        name="{count}",
        path=PurePosixPath("a/b"),
        reason=Message("part {number}", number=2),
    )
    return problem


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.code)
def test_errors_survive_pickling(kind):
    problem = full(kind)
    said = "1,200 of '{count}' and a/b: part 2 (got 1/3; allowed: a, b or c). {x} is wrong"
    assert str(problem) == said
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301 - ours
    assert type(again) is kind
    assert (str(again), again.code, again.template, again.given) == (said, "own", problem.template, "1/3")


def test_braces_in_values_and_in_texts():
    problem = InputError(
        "a {{brace}} and {value_of}", value="{y}", allowed='{{"mesh": {name}}}', value_of="{x}", name="{z}"
    )
    assert str(problem) == "a {brace} and {x} (got '{y}'; allowed: {\"mesh\": {z}})"
    assert str(SudareError("a text of another package {with} {0} {")) == "a text of another package {with} {0} {"


def test_a_hint_follows_one_full_stop():
    inner = ParameterError("wrong", hint="Try 2.")
    assert str(SudareError("not out: {reason}", reason=inner, hint="Resume.")) == "not out: wrong. Try 2. Resume."


def test_the_systems_reasons_are_ours():
    assert str(errors.system_reason(OSError(13, "zugriff verweigert"))) == "Permission denied"
    assert str(errors.system_reason(OSError(99999, "something rare"))) == "something rare"
    assert str(errors.system_reason(OSError("no number"))) == "OSError"
