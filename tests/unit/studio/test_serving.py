"""Before anything is served: wrong addresses, languages and installations are one sentence, and leave nothing."""

import subprocess
import sys

import pytest

from sudare.errors import InputError, MissingExtraError, ParameterError, RecipeError
from sudare.studio import serve


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "example.org", ""])  # noqa: S104 - they are refused
def test_only_this_machine_is_served(folder, host):
    with pytest.raises(ParameterError, match="this machine only"):
        serve(folder / "recipe.toml", host=host)
    assert not (folder / ".sudare-studio").exists()


def test_other_mistakes_are_sentences(folder, monkeypatch):
    with pytest.raises(ParameterError, match="unknown language"):
        serve(folder / "recipe.toml", language="fr")
    with pytest.raises(InputError, match="no such recipe"):
        serve(folder / "none.toml")
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sudare\[studio\]'"):
        serve(folder / "recipe.toml")


def test_a_file_that_was_never_a_recipe_is_refused_beside_one_that_is(service, folder):
    service.versions.current()
    (folder / "notes.txt").write_text("not a recipe [")
    with pytest.raises(RecipeError, match="not TOML"):
        serve(folder / "notes.txt")


def test_the_name_of_the_command_costs_nothing():
    code = "import sys, sudare.cli.studio, sudare.studio; print(sorted({'fastapi', 'uvicorn'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
