"""Who catches the planted breaches: the quick audit, and the tests that each mutant names.

    python tests/privacy/mutants/run_gallery.py                     # all of them: `make mutants`
    python tests/privacy/mutants/run_gallery.py "one row too many" --no-audit

Each mutant is planted in two fresh processes: one runs the quick audit up to its first failure, one the named tests up
to theirs. Two mutants are worked on at a time. At the end stands a table of who caught what, also in
`build/mutants.json`. The exit code is 1 where a mutant survives, where its text is gone, or where the quick audit
catches fewer than `LEAST`; 0 else.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))
MARK, VARIABLE, Mutant, gallery = (
    getattr(importlib.import_module("planting"), name) for name in ("MARK", "VARIABLE", "Mutant", "gallery")
)

LEAST = 35
"""How many mutants the quick audit must catch."""
PATIENCE = 600.0
"""Seconds after which a process is stopped; what was stopped has caught nothing."""
AUDIT = """
import json, sys, tempfile
from pathlib import Path
from sudare.audit import run
found, names, first = None, [], sys.argv[1:]
with tempfile.TemporaryDirectory(prefix="sudare-mutant-") as folder:
    try:
        parts = sorted(run.parts_of(Path(folder), run.QUICK), key=lambda part: part[1].__name__ not in first)
        for finding in (one for part, findings in parts for one in run._to_its_end(part, findings)):
            names.append(f"{finding.part}: {finding.name}")
            if not finding.passed:
                found = f"{names[-1]}: {finding.figure()}"
                break
    except Exception as mistake:
        found = f"stopped after {len(names)} findings by {type(mistake).__name__}: {mistake}"
json.dump({"found": found, "names": names}, sys.stdout)
"""
"""The quick audit up to its first failure, the parts that are meant to fail first. An audit that cannot go on failed
too: a check of the package's own stopped it, or arrays that do not fit since a neighbour was measured otherwise."""


PLACES = {
    "replay: publish": "publication_findings",
    "replay: reports": "collection_findings",
    "replay": "replay_findings",
    "laws: keys": "key_findings",
    "laws: recorded noise": "recorded_findings",
    "laws: records of a sample": "sampling_findings",
    "laws": "law_findings",
    "distinguishers": "promise_findings",
    "sampling": "sampling_findings",
    "behaviour: publish, completed": "completed_findings",
    "behaviour: publish": "book_findings",
    "behaviour: statements": "statement_findings",
    "behaviour": "refusal_findings",
}
"""How a case of a mutant begins, to the function of `sudare.audit` that finds it."""


def part_of(case: str) -> str:
    """The function of `sudare.audit` that looks at a case.

    >>> part_of("replay: table, tree"), part_of("behaviour: publish, ledger")
    ('replay_findings', 'book_findings')
    """
    return next(found for begins, found in PLACES.items() if case.startswith(begins))


@dataclass(frozen=True)
class Caught:
    """What came of one mutant: by which finding and which test it was caught, None where it was not."""

    name: str
    room: str
    audit: str | None
    test: str | None
    fault: str | None
    seconds: float

    @property
    def survived(self) -> bool:
        """Whether nobody noticed, or nothing was tried."""
        return self.fault is not None or (self.audit is None and self.test is None)


def run(command: list[str], mutant: str | None, mark: Path) -> subprocess.CompletedProcess[str]:
    """A process with the mutant planted, and in every process that it starts."""
    paths = [str(HERE / "plant"), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    planted = {} if mutant is None else {VARIABLE: mutant, MARK: str(mark)}
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | planted
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def audited(mutant: Mutant | None, mark: Path) -> tuple[str | None, list[str]]:
    """The first failure of the quick audit, and the names of what it looked at."""
    first = [] if mutant is None else [part_of(case) for case in mutant.audit]
    made = run([sys.executable, "-c", AUDIT, *first], mutant and mutant.name, mark)
    if made.returncode:
        raise RuntimeError(f"the audit broke: {made.stderr.strip().splitlines()[-1:]}")
    found = json.loads(made.stdout)
    return found["found"], found["names"]


def tested(mutant: Mutant, mark: Path) -> str | None:
    """The first named test that fails."""
    options = ["-n", "0", "-x", "-q", "--no-header", "--tb=line", "-rf", "-W", "ignore::pytest.PytestConfigWarning"]
    options += ["-p", "no:schemathesis"]  # which takes longer to load than most tests to run
    made = run([sys.executable, "-m", "pytest", *options, *mutant.tests], mutant.name, mark)
    if not mark.exists():
        raise RuntimeError(f"the named tests never import the planted module: {made.stdout.strip()[-300:]}")
    if made.returncode == 0:
        return None
    failed = [line for line in made.stdout.splitlines() if line.startswith("FAILED")]
    if made.returncode != 1 or not failed:
        raise RuntimeError(f"the tests broke: {made.stdout.strip()[-300:]}")
    return failed[0].removeprefix("FAILED ").split(" - ")[0]


def caught(mutant: Mutant, *, audit: bool, tests: bool) -> Caught:
    """Try one mutant."""
    start, by_audit, by_test, fault = time.monotonic(), None, None, None
    with tempfile.TemporaryDirectory(prefix="sudare-mutants-") as folder:
        for tried, wanted in (("audit", audit), ("tests", tests and bool(mutant.tests))):
            mark = Path(folder) / tried
            if not wanted:
                continue
            try:
                if tried == "audit":
                    by_audit, _ = audited(mutant, mark)
                else:
                    by_test = tested(mutant, mark)
            except subprocess.TimeoutExpired:
                fault = f"the {tried} took more than {PATIENCE:g} s"
            except RuntimeError as problem:
                fault = str(problem)
    return Caught(mutant.name, mutant.room, by_audit, by_test, fault, round(time.monotonic() - start, 1))


def meant(case: str, name: str) -> bool:
    """Whether a mutant means the finding of this name: the same part, and all the pieces that it lists.

    >>> meant("replay: table, tree", "replay: table, max_rows 3, tree, epsilon 0.5")
    True
    """
    (part, _, pieces), (own, _, known) = case.partition(": "), name.partition(": ")
    return part == own and set(pieces.split(", ")) <= {"", *known.split(", ")}


def unknown_cases(mutants: list[Mutant], folder: Path) -> list[str]:
    """Sentences for cases that a sound quick audit does not have, and for what it finds all the same."""
    try:
        found, names = audited(None, folder / "sound")
    except (subprocess.TimeoutExpired, RuntimeError) as problem:
        return [f"the quick audit does not end without any mutant: {problem}"[:400]]
    wrong = [f"the quick audit fails without any mutant: {found}"] if found else []
    for mutant in mutants:
        wrong += [
            f"{mutant.name}: no finding is called {case!r}"
            for case in mutant.audit
            if not any(meant(case, name) for name in names)
        ]
    return wrong


def shown(found: list[Caught]) -> str:
    """The table, room by room."""
    lines = []
    for room in dict.fromkeys(one.room for one in found):
        lines.append(f"\n{room}")
        for one in (one for one in found if one.room == room):
            by = [f"audit: {one.audit}" if one.audit else "", one.test or "", one.fault or ""]
            lines.append(f"  {one.name} ({one.seconds:g} s)")
            lines += [f"      {each[:160]}" for each in by if each] or ["      SURVIVED"]
    return "\n".join(lines)


def main() -> int:
    """All mutants, or those named."""
    parser = argparse.ArgumentParser(description="who catches the planted breaches")
    parser.add_argument("names", nargs="*", help="mutants or rooms; all without")
    parser.add_argument("--no-audit", action="store_true", help="the named tests alone")
    parser.add_argument("--no-tests", action="store_true", help="the quick audit alone")
    parser.add_argument("--at-once", type=int, default=2, help="mutants worked on at a time")
    asked = parser.parse_args()
    every = list(gallery().values())
    chosen = [one for one in every if not asked.names or one.name in asked.names or one.room in asked.names]
    start, wrong = time.monotonic(), []
    if not asked.no_audit:
        with tempfile.TemporaryDirectory(prefix="sudare-mutants-") as folder:
            wrong = unknown_cases(chosen, Path(folder))
    with ThreadPoolExecutor(asked.at_once) as pool:
        work = [pool.submit(caught, one, audit=not asked.no_audit, tests=not asked.no_tests) for one in chosen]
        found = []
        for one in work:
            found.append(one.result())
            last = found[-1]
            told = ("audit " if last.audit else "") + ("tests" if last.test else "") or last.fault or "nobody"
            print(f"{len(found):3} {last.name}: {told}", flush=True)
    by_audit, survivors = sum(one.audit is not None for one in found), [one for one in found if one.survived]
    few = not asked.names and not asked.no_audit and by_audit < LEAST
    print(shown(found), *wrong, sep="\n")
    print(f"\n{len(found)} mutants in {(time.monotonic() - start) / 60:.0f} minutes: the quick audit caught {by_audit}")
    print(f"({LEAST} are asked for), the named tests {sum(one.test is not None for one in found)},", end=" ")
    print(f"nobody {len(survivors)}: {', '.join(one.name for one in survivors) or 'none'}")
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    (folder / "mutants.json").write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n", encoding="utf-8")
    return 1 if survivors or wrong or few else 0


if __name__ == "__main__":
    sys.exit(main())
