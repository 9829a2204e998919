"""Fuzzing guided by coverage: atheris chooses the bytes that Hypothesis draws its inputs from.

    python tests/faults/guided.py recipes -runs=5000

The first word is a kind of input of `fault_attempts`, or ``planted`` for one with a fault that chance does not find;
the rest goes to libFuzzer, which ends the process: what is left in ``TMPDIR`` is the caller's to remove. Needs atheris
(``sudare[fuzz]``). An input that is no result and no `SudareError` ends the run with its traceback and an exit code
other than 0.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SEEDS, SEED_BYTES, MOST_BYTES = 128, 64, 512
PADDING = bytes(1 << 14)
"""Behind the fuzzer's bytes, for the few draws that need more: zeros, each the first of its choices."""


def main(name: str, *arguments: str) -> None:
    """Fuzz one kind of input until libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["sudare"]):
        import fault_attempts

        import sudare

        # Also what a command imports when it is first needed: later nothing is instrumented, and atheris says what is.
        for found in walk_packages(sudare.__path__, "sudare."):
            if not found.name.endswith("__main__"):
                import_module(found.name)
    attempt = _planted(atheris) if name == "planted" else fault_attempts.ATTEMPTS[name]
    warnings.simplefilter("error")  # as in the tests: a warning is a find
    _fuzz(atheris, attempt, *arguments)


def _fuzz(atheris: Any, attempt: Any, *arguments: str) -> None:
    different: set[int] = set()
    used: dict[bytes, int] = {}

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(attempt.inputs)
    def use(drawn: object) -> None:
        different.add(hash(repr(drawn)))
        if len(different) % 100 == 0:  # there is no moment after the last one
            print(f"different inputs: {len(different)}", flush=True)
        attempt(drawn)

    def use_bytes(content: bytes) -> None:
        used[content] = len(use.hypothesis.fuzz_one_input(content + PADDING) or b"")

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        # Most inputs are drawn from 10 to 30 bytes. To change a byte that nothing is drawn from would be a run for
        # nothing: only those that were used are changed, and what is drawn beyond them is drawn anew.
        changed = atheris.Mutate(content[: used.get(content)], most)
        return (changed + random.Random(seed).randbytes(SEED_BYTES))[:most]  # noqa: S311 - libFuzzer's own dice

    corpus = Path(tempfile.mkdtemp(prefix="sudare-corpus-"))
    for number in range(SEEDS):
        (corpus / str(number)).write_bytes(os.urandom(SEED_BYTES))
    limits = ["-len_control=0", "-reduce_inputs=0", f"-max_len={MOST_BYTES}", "-rss_limit_mb=12000", "-timeout=120"]
    atheris.Setup(
        [sys.argv[0], *limits, "-print_final_stats=1", *arguments, str(corpus)], use_bytes, custom_mutator=mutate
    )
    atheris.Fuzz()


def _planted(atheris: Any) -> Any:
    """A fault behind six comparisons: one input in 2**24 has it, and each step towards it shows in the coverage."""
    from fault_attempts import Attempt

    def use(drawn: tuple[int, ...], _: Path) -> None:
        if drawn[0] == 3 and drawn[1] == 1 and drawn[2] == 4 and drawn[3] == 1 and drawn[4] == 5 and drawn[5] == 9:
            raise KeyError("planted")

    return Attempt(1, st.tuples(*[st.integers(0, 15)] * 6), atheris.instrument_func(use))


if __name__ == "__main__":
    main(*sys.argv[1:])
