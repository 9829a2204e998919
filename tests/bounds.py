"""Tests under the lowest, or the newest, versions that `pyproject.toml` admits, in an environment of their own.

    python tests/bounds.py lowest            # or newest
    python tests/bounds.py lowest tests/unit/domain -x

What follows the word goes to pytest; without it the tests of every part run, but not the long ones. The environment is
made anew under `build/` and stays there to look at. Needs a package index; not part of the gate.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("collector", "postgres", "report", "science", "studio", "spark")
TESTS = ("tests/unit", "tests/engines", "tests/web", "tests/faults")
# Spark before 4.2 leaves its sockets to the garbage collector. Our own unclosed ones are found under newer versions.
ALLOWED = {"lowest": ("-W", "ignore:unclosed <socket:ResourceWarning"), "newest": ()}


def lowest(project: dict[str, object]) -> list[str]:
    """Each requirement of a user at the version that its lower bound names; the tools of the tests are free."""
    listed = list(project["dependencies"])
    for extra in EXTRAS:
        listed += [each for each in project["optional-dependencies"][extra] if not each.startswith("sudare[")]
    bounds: dict[str, str] = {}
    for requirement in listed:
        name, bound = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement).groups()
        # An extra may ask for more than the core does.
        bounds[name] = max(bound, bounds.get(name, "0"), key=lambda version: [int(part) for part in version.split(".")])
    return sorted(f"{name}=={bound}" for name, bound in bounds.items())


def main(which: str, *arguments: str) -> int:
    """Make the environment, run the tests there; pytest's exit code."""
    folder = ROOT / "build" / f"bounds-{which}"
    venv.create(folder, clear=True, with_pip=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if which == "lowest":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        constraints = folder / "constraints.txt"
        constraints.write_text("\n".join(lowest(project)) + "\n", encoding="utf-8")
        install += ["--constraint", constraints]
    else:
        install += ["--upgrade", "--upgrade-strategy", "eager"]
    subprocess.run([*install, "--editable", f"{ROOT}[{','.join([*EXTRAS, 'dev'])}]"], check=True)
    subprocess.run([python, "-m", "pip", "list", "--disable-pip-version-check"], check=True)
    tests = [python, "-m", "pytest", *ALLOWED[which], *(arguments or TESTS)]
    return subprocess.run(tests, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:2] not in (["lowest"], ["newest"]):
        sys.exit("usage: python tests/bounds.py lowest|newest [arguments of pytest]")
    sys.exit(main(*sys.argv[1:]))
