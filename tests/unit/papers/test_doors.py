"""What a paper offers is reached as the table says: every door is opened."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import click
import pytest

import sudare
from sudare.cli import main as commands
from sudare.collector.survey_file import SurveyFile
from sudare.language.catalogue import Words
from sudare.papers.catalogue import PAPERS
from sudare.papers.doors import DOORS, doors_of, markdown
from sudare.workflow.job import json_schema

STUDIO = Path(sudare.__file__).parent / "studio" / "templates"
FIELDS = {
    path
    for page in STUDIO.glob("*.html")
    for path in re.findall(r'(?:field|choice|tick)\(.*?, "([\w.]+)"', page.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.key)
def test_the_name_in_python_is_there_and_takes_what_is_written(door):
    called = ast.parse(door.python, mode="eval").body
    written, (root, *names) = ast.unparse(called.func), ast.unparse(called.func).split(".")
    if root == "sd":
        found = sudare
    else:
        *module, last = written.split(".")
        found, names = import_module(".".join(module)), [last]
    for name in names:
        found = getattr(found, name)
    parameters = inspect.signature(found).parameters
    assert {given.arg for given in called.keywords} <= set(parameters)


@pytest.mark.parametrize("door", [door for door in DOORS if door.recipe], ids=lambda door: door.key)
def test_the_recipe_has_the_key(door):
    kind, path = door.recipe
    schema = SurveyFile.model_json_schema() if kind == "survey" else json_schema()
    part = schema if kind == "survey" else schema["$defs"][f"{kind.capitalize()}Recipe"]
    for name in path.split("."):
        entry = part["properties"][name]
        reference = re.search(r"#/\$defs/(\w+)", str(entry))
        part = schema["$defs"][reference[1]] if reference else entry
    assert part is not None


@pytest.mark.parametrize("door", [door for door in DOORS if door.command], ids=lambda door: door.key)
def test_the_command_has_the_option_and_the_value(door):
    _, *words = door.command.split()
    command = commands
    while words and isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    if words and words[0].startswith("--"):
        option = next(one for one in command.params if words[0] in one.opts)
        if len(words) > 1 and isinstance(option.type, click.Choice):
            assert words[1] in option.type.choices
    elif words:
        assert words[0] in command.params[0].type.choices


@pytest.mark.parametrize("door", [door for door in DOORS if door.studio], ids=lambda door: door.key)
def test_the_studio_has_a_field(door):
    assert door.studio in FIELDS


def test_a_missing_door_has_its_reason_and_no_other_has_one():
    for door in DOORS:
        assert (door.why is None) == door.complete, door.key
    assert all(doors_of(paper) for paper in PAPERS)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_has_a_row_for_every_door(language):
    rows = [line for line in markdown(Words(language)).splitlines() if line.startswith("| ")]
    assert len(rows) == len(DOORS) + 2 * len(PAPERS)
    assert all(row.count(" | ") == 5 for row in rows)
