"""The files around the code agree with it: versions, extras, the lock, workflows, the container."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import sudare

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def names(requirements: list[str]) -> set[str]:
    """Packages that requirements name, with those of extras of our own that they refer to."""
    found = set()
    for requirement in requirements:
        name, extras = re.match(r"([\w.-]+)(?:\[([\w,]+)\])?", requirement).groups()
        if name == "sudare":
            found |= {each for extra in extras.split(",") for each in names(EXTRAS[extra])}
        else:
            found.add(re.sub(r"[-_.]+", "-", name).lower())
    return found


def test_the_version_is_the_same_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    assert sudare.__version__ == PROJECT["version"] == cited


def test_all_is_every_extra_of_users():
    users = set(EXTRAS) - {"all", "dev", "fuzz", "mutation", "bench"}
    assert names(EXTRAS["all"]) == names([f"sudare[{','.join(users)}]"])
    assert names(EXTRAS["all"]) <= names(EXTRAS["dev"])


def test_every_extra_that_a_refusal_names_exists():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "sudare").rglob("*.py"))
    named = set(re.findall(r"MissingExtraError\.(?:of|load)\((?:[^()]|\([^()]*\))*\"(\w+)\"\)", sources))
    assert {"science", "report", "places", "spark", "studio"} <= named <= set(EXTRAS)


def test_the_lock_holds_what_is_needed_with_hashes_and_names_no_host():
    text = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    locked = re.findall(r"^([\w.-]+)==[^\n]*\\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)
    assert len(locked) == len(re.findall(r"^\w", text, re.MULTILINE))
    assert names(PROJECT["dependencies"] + EXTRAS["dev"]) <= names(locked)
    assert "://" not in text


def test_every_dependency_has_its_reason():
    reasons = (ROOT / "docs" / "decisions" / "0001-dependencies.md").read_text(encoding="utf-8").lower()
    assert not {
        name for name in names(PROJECT["dependencies"] + EXTRAS["all"]) if name.split("-python")[0] not in reasons
    }


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_what_exists(path):
    text = path.read_text(encoding="utf-8")
    steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    commands = "\n".join(step.get("run", "") for step in steps)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = [word for line in re.findall(r"\bmake ([a-z ]+)", commands) for word in line.split()]
    assert called
    assert set(called) <= targets
    for file in re.findall(r"\b((?:tests|src)/[\w/.]+)", commands):
        assert (ROOT / file).exists(), file


def test_the_container_holds_the_code_and_runs_as_nobody_special():
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    instructions = [line for line in lines if line and not line.startswith(("#", " "))]
    copied = [
        word
        for line in instructions
        if line.startswith("COPY ") and "--from" not in line
        for word in line.split()[1:-1]
    ]
    assert all((ROOT / each).exists() for each in copied)
    assert {"pyproject.toml", "src"} <= set(copied)
    user = next(line.split()[1] for line in instructions if line.startswith("USER "))
    assert int(user) > 0
    extras = re.search(r"\.\[([\w,]+)\]", "\n".join(instructions))[1].split(",")
    assert {"studio", "collector"} <= set(extras) <= set(EXTRAS)
