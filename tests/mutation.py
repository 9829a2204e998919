"""Mutants of ordinary code: small changes that a machine makes, a seeded sample of them, and whether a test fails.

    python tests/mutation.py                 # 300 mutants, one after the other: one to two hours
    python tests/mutation.py --number 50 --seed 3 --brief

Cosmic Ray says where and what can be changed (an operator, a comparison, a number, a condition); of all that, in the
rooms of `ROOMS`, a sample is drawn. Each mutant is planted in a copy of the tree, and tests of its room run there until
one fails: those that execute the changed line, the quickest first, as many as `SECONDS` hold. Where none of them fails,
all other tests of the room that execute it follow, unless ``--brief`` is said. What no test sees is listed at the end,
as JSON in `build/mutation.json`; each survivor is then looked at by a person, and docs/project/mutants.md says what
came of it. Changes of type annotations are left out: nothing of them is ever run. A test that hangs is stopped after
`PATIENCE` seconds and counts as one that failed.

Needs `pip install 'sudare[mutation]'`; not part of the gate. The planted breaches of privacy are another thing: see
`tests/privacy/mutants`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {
    "src/sudare/privacy": ("tests/unit/privacy", "tests/property/test_composition.py", "tests/faults/test_ledger.py"),
    "src/sudare/noise": (
        "tests/unit/noise",
        "tests/privacy/test_sparse_noise.py",
        "tests/privacy/test_noise_laws.py",
        "tests/privacy/test_response_laws.py",
    ),
    "src/sudare/tables": (
        "tests/unit/tables",
        "tests/unit/audit/test_releases.py",
        "tests/privacy/test_simplex_law.py",
        "tests/privacy/test_negative_l2_law.py",
    ),
    "src/sudare/engines/bound_sql.py": ("tests/engines/test_bounding.py",),
}
"""The rooms that are mutated, and the tests that are meant to see it."""
PYTEST = ("pytest", "-n", "0", "-q", "--no-header", "--tb=no")
SECONDS = 15.0
PATIENCE = 240


@dataclass(frozen=True)
class Change:
    """One thing that can be changed: the ``occurrence``-th place of an operator of Cosmic Ray in a module."""

    module: str
    operator: str
    occurrence: int
    line: int
    definition: str


@dataclass(frozen=True)
class Outcome:
    """What came of it: ``killed`` by the first test that failed, or by the clock; ``diff`` is the change."""

    change: Change
    killed: bool
    by: str
    seconds: float
    diff: str


def annotated_lines(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations stand, as (line, column) of both ends: they are texts that are never run."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            if (part := getattr(node, name, None)) is not None:
                found.append(((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)))
    return found


def changes(tree: Path) -> Iterator[Change]:
    """Everything that can be changed in the rooms, in a fixed order."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.ast.ast_query import ASTQuery
    from cosmic_ray.plugins import get_operator, operator_names

    operators = [(name, get_operator(name)) for name in sorted(operator_names())]
    usable = [(name, kind()) for name, kind in operators if not kind.arguments()]
    for room in ROOMS:
        paths = sorted((tree / room).glob("*.py")) if (tree / room).is_dir() else [tree / room]
        for path in paths:
            skipped = annotated_lines(path.read_text(encoding="utf-8"))
            nodes = list(ast_nodes(get_ast_from_path(path)))
            for name, operator in usable:
                places = [(node, *ends) for node in nodes for ends in operator.mutation_positions(node)]
                for occurrence, (node, start, end) in enumerate(places):
                    if not any(first <= start and end <= last for first, last in skipped):
                        definition = ASTQuery(node).get_definition_name() or ""
                        yield Change(str(path.relative_to(tree)), name, occurrence, start[0], definition)


@dataclass(frozen=True)
class Coverage:
    """Which tests execute which line of a module, and how long each takes: from one run of the sound package."""

    lines: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    @classmethod
    def measured(cls, tree: Path) -> Coverage:
        """Run all tests of the rooms once, watched."""
        import coverage

        settings, junit = tree / "coverage.ini", tree / "junit.xml"
        settings.write_text("[run]\ndynamic_context = test_function\nsource = sudare\n", encoding="utf-8")
        tests = list(dict.fromkeys(str(path.relative_to(tree)) for room in ROOMS for path in _files(tree, room)))
        watched = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", *PYTEST]
        made = _run([*watched, f"--junitxml={junit}", "-k", "not twin", *tests], tree, None)
        if made.returncode:
            raise SystemExit(f"the tests fail without any mutant\n{made.stdout[-2000:]}")
        data = coverage.CoverageData(str(tree / ".coverage"))
        data.read()
        seconds: dict[str, float] = {}
        for case in ElementTree.parse(junit).iter("testcase"):  # noqa: S314 - written by pytest, just now
            name = case.attrib["name"].partition("[")[0]
            test = f"{case.attrib['classname'].replace('.', '/')}.py::{name}"
            seconds[test] = seconds.get(test, 0.0) + float(case.attrib["time"])
        known = {f"{Path(test.partition('::')[0]).stem}.{test.partition('::')[2]}": test for test in seconds}
        lines: dict[str, dict[int, list[str]]] = {}
        for path in data.measured_files():
            own = data.contexts_by_lineno(path)
            named = {
                line: [known[key] for key in map(_short, contexts) if key in known] for line, contexts in own.items()
            }
            lines[str(Path(path).relative_to(tree))] = named
        return cls(lines, seconds)

    def tests_of(self, change: Change) -> tuple[list[str], list[str]]:
        """Those to run first and those to run then; of what is run at import, all that use the module."""
        own = self.lines.get(change.module, {})
        covering = set(own.get(change.line, ())) or {test for tests in own.values() for test in tests}
        quickest = sorted(covering, key=self.seconds.__getitem__)
        spent, number = 0.0, 0
        while number < len(quickest) and (not number or spent + self.seconds[quickest[number]] < SECONDS):
            spent, number = spent + self.seconds[quickest[number]], number + 1
        return quickest[:number], quickest[number:]


def _short(context: str) -> str:
    """Of a.b.test_module.test_function, the last two."""
    return ".".join(context.split(".")[-2:])


def _files(tree: Path, room: str) -> list[Path]:
    found = [tree / test for test in ROOMS[room]]
    return [file for path in found for file in (sorted(path.glob("test_*.py")) if path.is_dir() else [path])]


def _run(command: list[str], tree: Path, seconds: float | None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, timeout=seconds, check=False
    )


def tried(change: Change, tree: Path, coverage: Coverage, brief: bool) -> Outcome:
    """Plant a change in the copy, run the tests, and take it out again."""
    from cosmic_ray.mutating import use_mutation
    from cosmic_ray.plugins import get_operator

    path, start, killed, by = tree / change.module, time.monotonic(), False, ""
    with use_mutation(path, get_operator(change.operator)(), change.occurrence) as (before, after):
        first, then = coverage.tests_of(change)
        for tests in [first] if brief else [first, then]:
            if killed or not tests:
                continue
            try:
                made = _run([sys.executable, "-m", *PYTEST, "-x", "-k", "not twin", *tests], tree, PATIENCE)
                failed = [line for line in made.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                killed, by = made.returncode != 0, failed[0].split(" - ")[0] if failed else made.stdout[-200:]
            except subprocess.TimeoutExpired:
                killed, by = True, f"stopped after {PATIENCE} s"
    return Outcome(change, killed, by if killed else "", round(time.monotonic() - start, 1), _diff(before, after))


def _diff(before: str, after: str | None) -> str:
    lines = zip(before.splitlines(), (after or "").splitlines(), strict=False)
    number, (old, new) = next(
        ((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1]), (0, ("", ""))
    )
    return f"{number}: {old.strip()}  ->  {new.strip()}"


def main() -> int:
    parser = argparse.ArgumentParser(description="a seeded sample of mutants of ordinary code")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=600.0, help="stop after so many")
    parser.add_argument("--brief", action="store_true", help="the quickest tests of each line alone")
    asked = parser.parse_args()
    begin, out = time.monotonic(), ROOT / "build" / "mutation.json"
    out.parent.mkdir(exist_ok=True)
    found: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="sudare-mutation-") as name:
        tree = Path(name) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "build", "out", "__pycache__"))
        coverage = Coverage.measured(tree)
        every = list(changes(tree))
        sample = random.Random(asked.seed).sample(every, min(asked.number, len(every)))  # noqa: S311 - no secret
        print(f"{len(sample)} of {len(every)} changes, seed {asked.seed}", flush=True)
        for change in sample:
            if time.monotonic() - begin > 60 * asked.minutes:
                break
            found.append(tried(change, tree, coverage, asked.brief))
            last = found[-1]
            told = f"killed by {last.by}" if last.killed else f"SURVIVED  {change.operator}  {last.diff}"
            print(
                f"{len(found):4} {change.module}:{change.line} {change.definition} {last.seconds} s {told}", flush=True
            )
            facts = {"seed": asked.seed, "changes": len(every), "outcomes": [asdict(one) for one in found]}
            out.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    rooms = Counter((next(room for room in ROOMS if one.change.module.startswith(room)), one.killed) for one in found)
    for room in ROOMS:
        print(f"{room}: {rooms[room, True]} killed, {rooms[room, False]} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
