"""Who catches the planted breaches: the quick audit, and the tests that each mutant names.

    python tests/privacy/mutants/run_gallery.py                     # all of them: `make mutants`
    python tests/privacy/mutants/run_gallery.py "one row too many" --no-audit

First the quick audit is run without any mutant: where it fails, nothing else is tried, since it would seem to catch
them all. Then each mutant is planted in two fresh processes: one runs the quick audit up to its first failure, the
parts that the mutant names first, one the named tests up to theirs. Two mutants are worked on at a time. At the end
stands a table of who caught what, also in `build/mutants.json`. The exit code is 1 where a mutant survives or is not
tried, where its text is gone, or where the quick audit catches fewer than `LEAST`; 0 else.
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
from concurrent.futures import ThreadPoolExecutor, as_completed
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
PATIENCE = 1800.0
"""Seconds after which a process is stopped; what was stopped has caught nothing."""
AUDIT = """
import json, sys, tempfile
from pathlib import Path
from sudare.audit import run
from sudare.privacy.history import nothing_remembered
asked = json.loads(sys.argv[1])
found, stopped, names, first = None, False, [], asked["first"]
with tempfile.TemporaryDirectory(prefix="sudare-mutant-") as folder, nothing_remembered():
    try:
        parts = sorted(run.parts_of(Path(folder), run.QUICK), key=lambda part: part[1].__name__ not in first)
        if asked["only"]:
            parts = [part for part in parts if part[1].__name__ in first]
        for finding in (one for part, findings in parts for one in run._to_its_end(part, findings)):
            names.append(f"{finding.part}: {finding.name}")
            if not finding.passed:
                stopped = finding.name == "the part does not come to its end"
                found = f"{names[-1]}: {finding.figure()}"
            if found or len(names) == asked["at_most"]:
                break
    except Exception as mistake:
        found, stopped = f"after {len(names)} findings: {type(mistake).__name__}: {mistake}", True
json.dump({"found": found, "stopped": stopped, "names": names}, sys.stdout)
"""
"""The quick audit up to its first failure, the parts that are meant to fail first; nothing is remembered of its
ledgers, as in `audit` itself, or else every neighbour's would be refused. An audit that cannot go on failed too, and is
told apart: a check of the package's own stopped it, or arrays that do not fit since a neighbour was measured
otherwise."""
SEVEN = (
    "true totals after a paid margin",
    "margin with sensitivity 1",
    "child keys from the first 7 characters",
    "true number of populated cells in the certificate",
    "nodes split and measured again",
    "ranks for indices on padded domains",
    "populated cells shown one step lower",
)
"""The breaches that an outsider planted and the audit of that day did not see: they are tried first."""


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
    """What came of one mutant: by which finding and which test it was caught, None where it was not.

    ``stopped`` says that no finding failed: the audit could not go on. ``untried`` was left out for want of time.
    """

    name: str
    room: str
    audit: str | None
    test: str | None
    fault: str | None
    seconds: float
    stopped: bool = False
    untried: bool = False

    @property
    def survived(self) -> bool:
        """Whether nobody noticed, or nothing was tried."""
        return not self.untried and (self.fault is not None or (self.audit is None and self.test is None))

    @property
    def told(self) -> str:
        """Who caught it, in a word or two."""
        by = ["audit (stopped)" if self.stopped else "audit"] if self.audit else []
        return ", ".join([*by, *(["tests"] if self.test else [])]) or self.fault or "nobody"


def run(command: list[str], mutant: str | None, mark: Path) -> subprocess.CompletedProcess[str]:
    """A process with the mutant planted, and in every process that it starts."""
    paths = [str(HERE / "plant"), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    planted = {} if mutant is None else {VARIABLE: mutant, MARK: str(mark)}
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | planted
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@dataclass(frozen=True)
class Audited:
    """The first failure of the quick audit, whether an exception stopped it, and the names of what it looked at."""

    found: str | None
    stopped: bool
    names: list[str]


def audited(mutant: Mutant | None, mark: Path, *, only: tuple[str, ...] = (), at_most: int | None = None) -> Audited:
    """The quick audit with a mutant or none; of ``only`` some of its parts, and ``at_most`` so many findings."""
    first = [*only, *([] if mutant is None else map(part_of, mutant.audit))]
    asked = json.dumps({"first": first, "only": bool(only), "at_most": at_most})
    made = run([sys.executable, "-c", AUDIT, asked], mutant and mutant.name, mark)
    if made.returncode:
        raise RuntimeError(f"the audit broke: {made.stderr.strip().splitlines()[-1:]}")
    return Audited(**json.loads(made.stdout))


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


def caught(mutant: Mutant, *, audit: bool, tests: bool, until: float = float("inf")) -> Caught:
    """Try one mutant, where there is time ``until`` then."""
    start, by_audit, by_test, fault, stopped = time.monotonic(), None, None, None, False
    if start > until:
        return Caught(mutant.name, mutant.room, None, None, None, 0.0, untried=True)
    with tempfile.TemporaryDirectory(prefix="sudare-mutants-") as folder:
        for tried, wanted in (("audit", audit), ("tests", tests and bool(mutant.tests))):
            mark = Path(folder) / tried
            if not wanted:
                continue
            try:
                if tried == "audit":
                    found = audited(mutant, mark)
                    by_audit, stopped = found.found, found.stopped
                    if by_audit and not mark.exists():
                        fault = f"the audit failed without the planted module: {by_audit[:200]}"
                else:
                    by_test = tested(mutant, mark)
            except subprocess.TimeoutExpired:
                fault = f"the {tried} took more than {PATIENCE:g} s"
            except RuntimeError as problem:
                fault = str(problem)
    return Caught(mutant.name, mutant.room, by_audit, by_test, fault, round(time.monotonic() - start, 1), stopped)


def meant(case: str, name: str) -> bool:
    """Whether a mutant means the finding of this name: the same part, and all the pieces that it lists.

    >>> meant("replay: table, tree", "replay: table, max_rows 3, tree, epsilon 0.5")
    True
    """
    (part, _, pieces), (own, _, known) = case.partition(": "), name.partition(": ")
    return part == own and set(pieces.split(", ")) <= {"", *known.split(", ")}


def unsound(folder: Path) -> tuple[str | None, list[str]]:
    """A sentence where the quick audit does not pass without any mutant, and the names of its findings."""
    try:
        sound = audited(None, folder / "sound")
    except (subprocess.TimeoutExpired, RuntimeError) as problem:
        return f"the quick audit does not end without any mutant: {problem}"[:400], []
    return (f"the quick audit fails without any mutant: {sound.found}" if sound.found else None), sound.names


def unknown_cases(mutants: list[Mutant], names: list[str]) -> list[str]:
    """Sentences for cases that a sound quick audit does not have."""
    return [
        f"{mutant.name}: no finding is called {case!r}"
        for mutant in mutants
        for case in mutant.audit
        if not any(meant(case, name) for name in names)
    ]


def shown(found: list[Caught]) -> str:
    """The table, room by room."""
    lines = []
    for room in dict.fromkeys(one.room for one in found):
        lines.append(f"\n{room}")
        for one in (one for one in found if one.room == room):
            how = "audit, stopped: " if one.stopped else "audit: "
            by = [how + one.audit if one.audit else "", one.test or "", one.fault or ""]
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
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after so many")
    asked = parser.parse_args()
    start, wrong = time.monotonic(), []
    every = sorted(gallery().values(), key=lambda one: one.name not in SEVEN)
    chosen = [one for one in every if not asked.names or one.name in asked.names or one.room in asked.names]
    if not asked.no_audit:
        with tempfile.TemporaryDirectory(prefix="sudare-mutants-") as folder:
            problem, names = unsound(Path(folder))
        if problem:
            print(problem)
            return 1
        wrong = unknown_cases(chosen, names)
    found: list[Caught] = []
    with ThreadPoolExecutor(asked.at_once) as pool:
        options = {"audit": not asked.no_audit, "tests": not asked.no_tests, "until": start + 60 * asked.minutes}
        for made in as_completed([pool.submit(caught, one, **options) for one in chosen]):
            last = made.result()
            if not last.untried:
                found.append(last)
                print(f"{len(found):3} {last.name}: {last.told} ({last.seconds:g} s)", flush=True)
    by_audit, survivors = [one for one in found if one.audit is not None], [one for one in found if one.survived]
    few = not asked.names and not asked.no_audit and len(by_audit) < LEAST
    print(shown(found), *wrong, sep="\n")
    minutes = (time.monotonic() - start) / 60
    print(f"\n{len(found)} of {len(chosen)} mutants in {minutes:.0f} minutes: the quick audit caught {len(by_audit)}")
    print(f"({LEAST} are asked for; {sum(one.stopped for one in by_audit)} of them since it could not go on),", end=" ")
    print(f"the named tests {sum(one.test is not None for one in found)},", end=" ")
    print(f"nobody {len(survivors)}: {', '.join(one.name for one in survivors) or 'none'}")
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    (folder / "mutants.json").write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n", encoding="utf-8")
    return 1 if survivors or wrong or few or len(found) < len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
