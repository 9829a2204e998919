"""Fuzzing: 1,000 inputs of ten kinds in the quick form, always the same ones; 100,000 fresh ones in the full form.

The profiles of Hypothesis in the conftest.py of all tests say which.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fault_attempts import ATTEMPTS, OF, Attempt, Hang, check_sentence, quick_scratch
from fault_changes import CANARY
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sudare.errors import InputError

QUICK, FULL = 1_000, 100_000
MEMORY = 12 << 30


@pytest.fixture(autouse=True)
def scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", quick_scratch())


@pytest.fixture(autouse=True)
def memory_limit() -> Iterator[None]:
    """An input that asks for all memory ends in a MemoryError here, and so is found."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    # On top of what the process has: one that ran other tests before may have mapped more than an input may ask for.
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_every_input_ends_in_a_result_or_in_one_sentence(name: str, full: bool) -> None:
    attempt = ATTEMPTS[name]
    used, wanted = 0, attempt.share * (FULL if full else QUICK) // OF

    @settings(
        max_examples=wanted,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(attempt.inputs)
    def use(drawn: object) -> None:
        nonlocal used
        used += 1
        attempt(drawn)

    try:
        use()
    finally:
        print(f"{name}: {used:,} inputs")
    assert used >= wanted


def test_the_shares_add_up() -> None:
    assert sum(attempt.share for attempt in ATTEMPTS.values()) == OF


# What the fuzzer must notice


def leaks(_: object, __: object) -> None:
    raise InputError("a value is not allowed", value=f"{CANARY}-12")


def breaks_a_line(_: object, __: object) -> None:
    class TwoLinesError(InputError):
        def __str__(self) -> str:
            return "one\ntwo"

    raise TwoLinesError("one")


def forgets_a_key(_: object, __: object) -> None:
    {}["epsilon"]


def never_ends(_: object, __: object) -> None:
    while True:
        time.sleep(0.01)


def warns(_: object, __: object) -> None:
    np.float64(1) / np.float64(0)


@pytest.mark.parametrize(
    ("use", "find"),
    [(leaks, AssertionError), (breaks_a_line, AssertionError), (forgets_a_key, KeyError), (warns, RuntimeWarning)],
)
def test_what_it_must_notice(use: Callable[[object, object], None], find: type[BaseException]) -> None:
    with pytest.raises(find):
        Attempt(1, st.none(), use)(None)


def test_it_notices_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fault_attempts.LONGEST", 0.05)
    with pytest.raises(Hang):
        Attempt(1, st.none(), never_ends)(None)


def test_a_sentence_is_no_find() -> None:
    check_sentence("epsilon is not positive (got -1; allowed: a finite number > 0)")
