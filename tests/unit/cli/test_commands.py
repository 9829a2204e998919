"""The command line: right and wrong input, JSON, quiet, exit codes; one line per mistake."""

import json
import subprocess
import sys
from importlib.resources import files

import pytest
from click.testing import CliRunner

import sudare
from sudare.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_from_plan_to_verify(village):
    plan = run("plan", village.recipe)
    assert plan.exit_code == 0, plan.output
    assert "epsilon-DP with epsilon = 0.5" in plan.output
    rehearsal = run("rehearse", village.recipe, "--page", village.folder / "page.html")
    assert rehearsal.exit_code == 0, rehearsal.output
    assert "<svg" in (village.folder / "page.html").read_text() or "vega" in (village.folder / "page.html").read_text()
    published = run("publish", village.recipe)
    assert published.exit_code == 0, published.output
    assert "budget left" in published.output
    verified = run("verify", village.folder / "release" / "release.json")
    assert verified.exit_code == 0
    assert "SHA-256 agrees" in verified.output
    shown = run("ledger", "show", "--ledger", village.folder / "ledger.db")
    assert "village" in shown.output


@pytest.mark.parametrize(("language", "said"), [("en", "a cap of epsilon 0.1 begins"), ("ja", "上限 ε = 0.1 が設定")])
def test_the_cap_of_a_first_release_is_said_although_it_is_too_small(village, language, said):
    village.change(("cap = { epsilon = 1.0 }", "cap = { epsilon = 0.1 }"))
    assert said in run("plan", village.recipe, "--language", language).output


@pytest.mark.parametrize("command", ["plan", "rehearse", "publish"])
def test_json_is_json_and_quiet_is_quiet(village, command):
    result = run(command, village.recipe, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)
    if command == "rehearse":
        assert run(command, village.recipe, "--quiet").output == ""


def test_publish_and_verify_quietly(village):
    published = run("publish", village.recipe, "--quiet")
    assert published.stdout == ""
    assert published.stderr.startswith("Note: a new ledger begins at")
    assert run("verify", village.folder / "release", "--quiet").output == ""
    assert json.loads(run("verify", village.folder / "release", "--json").output)["ok"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("plan", "missing.toml"), "there is no such recipe"),
        (("publish", "missing.toml"), "there is no such recipe"),
        (("rehearse", "missing.toml"), "there is no such recipe"),
        (("verify", "missing.json"), "there is no such certificate"),
        (("ledger", "show", "--ledger", "missing.db"), "there is no ledger"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_1(arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 1
    assert sentence in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert result.output.startswith("Error: ")


def test_an_unknown_command_is_exit_code_2():
    assert run("publsh").exit_code == 2


def test_the_schema_is_printed():
    assert json.loads(run("schema").output)["title"] == "A recipe of Sudare"


def test_the_demo_runs_from_end_to_end_in_place_of_an_earlier_one(tmp_path):
    earlier = tmp_path / "demo"
    (earlier / "release").mkdir(parents=True)
    first_line = files("sudare.cli").joinpath("demo.toml").read_text(encoding="utf-8").partition("\n")[0]
    (earlier / "recipe.toml").write_text(f"{first_line}\n", encoding="utf-8")
    for name in ("ledger.db", "release/release.json", "page.html"):
        (earlier / name).write_text("of an earlier demo")
    result = run("demo", "--folder", earlier, "--people", 3000)
    assert result.exit_code == 0, result.output
    assert "0.5 spent, 0.5 left" in result.output
    assert not (earlier / "page.html").exists()
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"recipe.toml", "ledger.db", "release", "comparison.html", "comparison.png"} <= made
    assert {"release.json", "table.csv", "table.parquet"} <= {p.name for p in (tmp_path / "demo" / "release").iterdir()}


def test_what_the_demo_expects_is_of_its_own_people_and_of_the_same_cells(tmp_path):
    made = json.loads(run("demo", "--folder", tmp_path / "demo", "--people", 100_000, "--json").stdout)
    found = made["comparison"]["errors"][0]["populated_error"]  # of 21,000 cells: 3.5, within a hundredth
    assert made["expected_cell_error"] == pytest.approx(found, rel=0.25)  # of the 3,000,000 in the recipe: 5.8
    assert "people = 100_000\npopulated = 0.16\n" in (tmp_path / "demo" / "recipe.toml").read_text()


def test_the_demo_leaves_other_folders_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = run("demo", "--folder", tmp_path)
    assert result.exit_code == 1
    assert "something else than a demo" in result.output
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_the_version_is_the_packages():
    assert sudare.__version__ in run("--version").output


def test_import_is_light():
    """Nothing heavy is loaded by ``import sudare``, nor by the noise and table methods it leads to."""
    code = (
        "import sys, sudare; sudare.SudareError;"
        "print([m for m in ('duckdb', 'pyarrow', 'pydantic', 'mpmath', 'rich', 'vl_convert', 'pandas', 'polars',"
        " 'pyspark', 'scipy', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("arguments", [("--language", "ja"), ()])
def test_a_mistake_is_told_in_the_language_asked_for(arguments, monkeypatch):
    if not arguments:
        monkeypatch.setenv("SUDARE_LANGUAGE", "ja")
    found = CliRunner().invoke(main, ["publish", "no.toml", *arguments])
    assert found.exit_code == 1
    assert found.output == "エラー：レシピが見つかりません（値：'no.toml'）。\n"
