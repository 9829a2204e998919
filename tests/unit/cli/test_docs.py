"""Every command is documented, and the reference pages are the ones the code would write."""

import importlib.util
import json
import runpy
import subprocess
import sys
from pathlib import Path

import click
import pytest

from sudare.cli import COMMANDS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def reference():
    specification = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date():
    # In a process of its own: a command that another test called by itself remembers how it was called.
    code = (
        "import json, runpy, sys; pages = runpy.run_path(sys.argv[1])['pages']();"
        "print(json.dumps({str(path): text for path, text in pages.items()}))"
    )
    script = str(ROOT / "docs" / "make_reference.py")
    done = subprocess.run([sys.executable, "-c", code, script], capture_output=True, text=True, check=True)
    for name, text in json.loads(done.stdout).items():
        path = Path(name)
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is stale: run make docs"


def test_the_picture_of_the_walk_is_what_its_script_draws():
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_walk.py"))
    assert drawn["PICTURE"].read_text(encoding="utf-8") == drawn["picture"](), "run python docs/draw_walk.py"


def test_every_command_has_help_and_an_example(reference):
    for context in reference.commands(reference.root()):
        name, command = context.command_path, context.command
        assert command.help, name
        assert f"Example: {' '.join(name.split()[:2])}" in command.help, name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name}"


def test_every_command_file_is_a_command():
    folder = ROOT / "src" / "sudare" / "cli"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__", "console", "demo_city", "language"} == set(
        COMMANDS
    )


def test_the_readme_names_its_two_commands_and_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
    for name in COMMANDS:
        assert f"sudare {name}" in readme, name
