"""Who catches the planted breaches: the quick audit, and the tests that each mutant names.

    python tests/privacy/mutants/run_gallery.py                     # all of them: `make mutants`
    python tests/privacy/mutants/run_gallery.py "one row too many" --no-audit

First the quick audit is run without any mutant, in the same way and with the same cases: where it fails, nothing else
is tried, since it would seem to catch them all. Then each mutant is planted in two fresh processes. One runs the cases
of the quick audit that the mutant names, up to the first failure, and where none fails the rest of the quick audit; one
runs the named tests up to the first failure. Two mutants are worked on at a time. At the end stands a table of who
caught what, also in `build/mutants.json`. The exit code is 1 where a mutant survives or is not tried, where its text is
gone, or where the quick audit catches less than `LEAST` of them; 0 else.

Processes are forked from one that has imported other people's packages (`PRELOADED`) and nothing of Sudare: importing
them anew would take longer than most cases.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))
MARK, VARIABLE, Mutant, gallery, plant = (
    getattr(importlib.import_module("planting"), name) for name in ("MARK", "VARIABLE", "Mutant", "gallery", "plant")
)

LEAST = Fraction(35, 50)
"""The share of the mutants that the quick audit must catch."""
PATIENCE = 1800.0
"""Seconds after which a process is stopped; what was stopped has caught nothing."""
PRELOADED = (
    "numpy", "scipy.stats", "scipy.optimize", "pyarrow.parquet", "pyarrow.csv", "pandas", "duckdb", "mpmath",
    "cryptography.hazmat.primitives.asymmetric.ed25519", "jinja2", "babel.numbers", "pytest", "hypothesis", "click",
)  # fmt: skip
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(list(PRELOADED))
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


def meant(case: str, name: str) -> bool:
    """Whether a mutant means the finding of this name: the same part, and all the pieces that it lists.

    >>> meant("replay: table, tree", "replay: table, max_rows 3, tree, epsilon 0.5")
    True
    """
    (part, _, pieces), (own, _, known) = case.partition(": "), name.partition(": ")
    return part == own and set(pieces.split(", ")) <= {"", *known.split(", ")}


@dataclass(frozen=True)
class Caught:
    """What came of one mutant: by which finding and which test it was caught, None where it was not.

    ``stopped`` says that no finding failed: the audit could not go on. ``named`` says that a case which the mutant
    names caught it, and not the rest of the audit. ``untried`` was left out for want of time. ``looked`` is the number
    of findings up to the first failure; ``seconds`` are of audit and tests together, by the clock.
    """

    name: str
    room: str
    audit: str | None
    test: str | None
    fault: str | None
    seconds: float
    stopped: bool = False
    named: bool = False
    looked: int = 0
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


def environment(mutant: str | None, mark: Path) -> dict[str, str]:
    """The variables of a process in which the mutant is planted, and in every process that it starts."""
    paths = [str(HERE / "plant"), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    planted = {} if mutant is None else {VARIABLE: mutant, MARK: str(mark)}
    return {"PYTHONPATH": os.pathsep.join(paths)} | planted


def run(command: list[str], mutant: str | None, mark: Path) -> subprocess.CompletedProcess[str]:
    """A command with the mutant planted."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment(mutant, mark),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def forked(task: Callable[..., object], mutant: str | None, mark: Path, *given: object) -> object:
    """What ``task`` returns in a process of its own with the mutant planted."""
    receiver, sender = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=_planted, args=(sender, task, mutant, str(mark), given))
    process.start()
    sender.close()
    try:
        if not receiver.poll(PATIENCE):
            raise TimeoutError
        kind, value = receiver.recv()
    except EOFError:
        kind, value = "broke", "the process ended"
    finally:
        process.kill()
        process.join()
    if kind == "broke":
        raise RuntimeError(f"{task.__name__} broke: {value}")
    return value


def _planted(sender: Connection, task: Callable[..., object], mutant: str | None, mark: str, given: object) -> None:
    os.chdir(ROOT)
    os.environ.update(environment(mutant, Path(mark)))
    if any(name.partition(".")[0] == "sudare" for name in sys.modules):
        sender.send(("broke", "the package was imported before the mutant was planted"))
        return
    sys.path.insert(0, str(ROOT / "src"))
    if mutant is not None:
        plant(mutant)
    try:
        sender.send(("made", task(*given)))
    except Exception as problem:
        sender.send(("broke", f"{type(problem).__name__}: {problem}"))


@dataclass(frozen=True)
class Audited:
    """The first failure of the quick audit, whether an exception stopped it, the names of what it looked at, and
    whether a case that was asked for ``named`` it.
    """

    found: str | None
    stopped: bool
    names: list[str]
    named: bool = False


def quick_audit(cases: tuple[str, ...], rest: bool, at_most: int | None) -> Audited:
    """The quick audit up to its first failure: ``cases`` first, then, where asked for, the rest of it.

    Nothing is remembered of its ledgers, as in `audit` itself, or else every neighbour's would be refused. An audit
    that cannot go on failed too, and is told apart: a check of the package's own stopped it, or arrays that do not fit
    since a neighbour was measured otherwise.
    """
    from sudare.audit import run as audit
    from sudare.privacy.history import nothing_remembered

    names: list[str] = []
    asked = {part_of(case) for case in cases}

    def is_asked(part: str, name: str) -> bool:
        return any(meant(case, f"{part}: {name}") for case in cases)

    def looked(first: bool) -> Audited | None:
        with tempfile.TemporaryDirectory(prefix="sudare-mutant-") as folder:
            every = audit.parts_of(Path(folder), audit.QUICK, lambda part, name: is_asked(part, name) == first)
            for part, findings in every:
                if first and findings.__name__ not in asked:
                    continue
                for finding in audit.to_its_end(part, findings):
                    names.append(f"{part}: {finding.name}")
                    if not finding.passed:
                        return Audited(f"{names[-1]}: {finding.figure()}", finding.stopped, names, first)
                    if len(names) == at_most:
                        return Audited(None, False, names)
        return None

    with nothing_remembered():
        try:
            found = (looked(True) if cases else None) or (looked(False) if rest else None)
        except Exception as mistake:
            return Audited(
                f"after {len(names)} findings: {type(mistake).__name__}: {mistake}", True, names, bool(cases)
            )
    return found or Audited(None, False, names)


def audited(
    mutant: Mutant | None, mark: Path, cases: tuple[str, ...], *, rest: bool, at_most: int | None = None
) -> Audited:
    """`quick_audit` with a mutant or none."""
    made = forked(quick_audit, mutant and mutant.name, mark, cases, rest, at_most)
    assert isinstance(made, Audited)
    return made


def pytest_run(tests: tuple[str, ...]) -> tuple[int, str]:
    """The exit code of pytest for these tests, up to the first that fails, and what it printed."""
    import pytest

    options = ["-n", "0", "-x", "-q", "--no-header", "--tb=line", "-rf", "-W", "ignore::pytest.PytestConfigWarning"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is `PRELOADED`
    options += ["-p", "no:schemathesis", "-p", "no:cacheprovider"]  # the first takes longer to load than most tests
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = pytest.main([*options, *tests])
    return int(code), printed.getvalue()


def tested(mutant: Mutant, mark: Path) -> str | None:
    """The first named test that fails."""
    code, printed = forked(pytest_run, mutant.name, mark, mutant.tests)
    if not mark.exists():
        raise RuntimeError(f"the named tests never import the planted module: {printed.strip()[-300:]}")
    if code == 0:
        return None
    failed = [line for line in printed.splitlines() if line.startswith("FAILED")]
    if code != 1 or not failed:
        raise RuntimeError(f"the tests broke: {printed.strip()[-300:]}")
    return failed[0].removeprefix("FAILED ").split(" - ")[0]


def caught(mutant: Mutant, *, audit: bool, tests: bool, rest: bool = True, until: float = float("inf")) -> Caught:
    """Try one mutant, where there is time ``until`` then."""
    start, fault, by_test, found = time.monotonic(), None, None, Audited(None, False, [])
    if start > until:
        return Caught(mutant.name, mutant.room, None, None, None, 0.0, untried=True)
    with tempfile.TemporaryDirectory(prefix="sudare-mutants-") as folder:
        for tried, wanted in (("audit", audit), ("tests", tests and bool(mutant.tests))):
            mark = Path(folder) / tried
            if not wanted:
                continue
            try:
                if tried == "tests":
                    by_test = tested(mutant, mark)
                    continue
                found = audited(mutant, mark, mutant.audit, rest=rest)
                if found.found and not mark.exists():
                    fault = f"the audit failed without the planted module: {found.found[:200]}"
            except TimeoutError:
                fault = f"the {tried} took more than {PATIENCE:g} s"
            except RuntimeError as problem:
                fault = str(problem)
    seconds = round(time.monotonic() - start, 1)
    by_audit, looked = found.found, len(found.names)
    return Caught(mutant.name, mutant.room, by_audit, by_test, fault, seconds, found.stopped, found.named, looked)


def unsound(folder: Path, cases: tuple[str, ...], *, rest: bool) -> tuple[str | None, list[str]]:
    """A sentence where the quick audit does not pass without any mutant, and the names of its findings."""
    try:
        sound = audited(None, folder / "sound", cases, rest=rest)
    except (TimeoutError, RuntimeError) as problem:
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
    parser.add_argument("--named-only", action="store_true", help="of the audit the cases that mutants name, no others")
    parser.add_argument("--at-once", type=int, default=2, help="mutants worked on at a time")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after so many")
    asked = parser.parse_args()
    start, wrong, rest = time.monotonic(), [], not asked.named_only
    every = sorted(gallery().values(), key=lambda one: one.name not in SEVEN)
    chosen = [one for one in every if not asked.names or one.name in asked.names or one.room in asked.names]
    if not asked.no_audit:
        cases = tuple(dict.fromkeys(case for one in chosen for case in one.audit))
        with tempfile.TemporaryDirectory(prefix="sudare-mutants-") as folder:
            problem, names = unsound(Path(folder), cases, rest=rest)
        if problem:
            print(problem)
            return 1
        wrong = unknown_cases(chosen, names)
        took = f"{time.monotonic() - start:.0f} s"
        print(f"without any mutant the quick audit passes: {len(names)} findings ({took})", flush=True)
    found: list[Caught] = []
    path = ROOT / "build" / "mutants.json"
    path.parent.mkdir(exist_ok=True)
    with ThreadPoolExecutor(asked.at_once) as pool:
        until = start + 60 * asked.minutes
        options = {"audit": not asked.no_audit, "tests": not asked.no_tests, "rest": rest, "until": until}
        for made in as_completed([pool.submit(caught, one, **options) for one in chosen]):
            last = made.result()
            if not last.untried:
                found.append(last)
                path.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n", encoding="utf-8")
                print(f"{len(found):3} {last.name}: {last.told} ({last.seconds:g} s)", flush=True)
    by_audit, survivors = [one for one in found if one.audit is not None], [one for one in found if one.survived]
    few = not asked.names and not asked.no_audit and len(by_audit) < LEAST * len(chosen)
    print(shown(found), *wrong, sep="\n")
    minutes = (time.monotonic() - start) / 60
    print(f"\n{len(found)} of {len(chosen)} mutants in {minutes:.0f} minutes: the quick audit caught {len(by_audit)}")
    print(
        f"({float(LEAST):.0%} are asked for; {sum(one.stopped for one in by_audit)} of them since it could not go on),",
        end=" ",
    )
    print(f"the named tests {sum(one.test is not None for one in found)},", end=" ")
    print(f"nobody {len(survivors)}: {', '.join(one.name for one in survivors) or 'none'}")
    return 1 if survivors or wrong or few or len(found) < len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
