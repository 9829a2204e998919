"""Fuzzing guided by coverage: atheris chooses the bytes that Hypothesis draws its inputs from.

    python tests/faults/guided.py recipes -runs=5000

The first word is a kind of input of `fault_attempts`; the rest goes to libFuzzer. Needs atheris (``sudare[fuzz]``).
An input that is no result and no `SudareError` ends the run with its traceback and an exit code other than 0.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

SEEDS, SEED_BYTES = 64, 4096


def main(name: str, *arguments: str) -> None:
    """Fuzz one kind of input until libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["sudare"]):
        import fault_attempts
    from hypothesis import HealthCheck, given, settings

    tempfile.tempdir = fault_attempts.quick_scratch()
    attempt = fault_attempts.ATTEMPTS[name]

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(attempt.inputs)
    def use(drawn: object) -> None:
        attempt(drawn)

    # Bytes enough to draw a whole input from: from a single one upwards libFuzzer would take long to get there.
    corpus = Path(tempfile.mkdtemp(prefix="sudare-corpus-"))
    for number in range(SEEDS):
        (corpus / str(number)).write_bytes(os.urandom(SEED_BYTES))
    limits = ["-len_control=0", f"-max_len={SEED_BYTES}", "-rss_limit_mb=12000", "-timeout=120", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, *arguments, str(corpus)], use.hypothesis.fuzz_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
