"""What a paper offers is reached as `docs/reference/papers.md` says: every door is opened."""

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
from sudare.workflow.job import json_schema

ROOT = Path(__file__).parents[3]
STUDIO = Path(sudare.__file__).parent / "studio" / "templates"
FIELDS = {
    path
    for page in STUDIO.glob("*.html")
    for path in re.findall(r'(?:field|choice|tick)\(.*?, "([\w.]+)"', page.read_text(encoding="utf-8"))
}


def rows(page):
    """Method, Python, recipe, command, studio, and why not everywhere: of every row of the page."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines if line[:2] == "| "]
    return [row for row in cells if row[1] not in ("Python", "---")]


DOORS = rows("docs/reference/papers.md")
METHODS = [row[0] for row in DOORS]


def test_both_languages_name_the_same_code():
    japanese = rows("docs/ja/papers.md")
    assert [row[1:5] for row in japanese] == [row[1:5] for row in DOORS]
    assert all(row[0] and bool(row[5]) == bool(other[5]) for row, other in zip(japanese, DOORS, strict=True))


@pytest.mark.parametrize("door", DOORS, ids=METHODS)
def test_the_name_in_python_is_there_and_takes_what_is_written(door):
    called = ast.parse(door[1], mode="eval").body
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


@pytest.mark.parametrize("recipe", {row[2]: None for row in DOORS if row[2]})
def test_the_recipe_has_the_key(recipe):
    kind, path = recipe.split(": ")
    schema = SurveyFile.model_json_schema() if kind == "survey" else json_schema()
    part = schema if kind == "survey" else schema["$defs"][f"{kind.capitalize()}Recipe"]
    for name in path.split("."):
        entry = part["properties"][name]
        reference = re.search(r"#/\$defs/(\w+)", str(entry))
        part = schema["$defs"][reference[1]] if reference else entry
    assert part is not None


@pytest.mark.parametrize("door", {row[3]: None for row in DOORS if row[3]})
def test_the_command_has_the_option_and_the_value(door):
    _, *words = door.split()
    command = commands
    while words and isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    if words and words[0].startswith("--"):
        option = next(one for one in command.params if words[0] in one.opts)
        if len(words) > 1 and isinstance(option.type, click.Choice):
            assert words[1] in option.type.choices
    elif words:
        assert words[0] in command.params[0].type.choices


@pytest.mark.parametrize("door", DOORS, ids=METHODS)
def test_the_studio_has_a_field_and_a_missing_door_its_reason(door):
    assert not door[4] or door[4] in FIELDS
    assert bool(door[5]) == ("" in door[2:5])
