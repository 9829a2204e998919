"""``sudare reproduce``: what it prints, for people and machines."""

import json

import pytest
from click.testing import CliRunner

from sudare.cli.reproduce import PAPERS, reproduce
from sudare.language.messages import Progress, Stage
from sudare.papers import sparse_l2
from sudare.papers.sheet import Sheet


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The command with an experiment that takes no time; ``run.asked`` is what it was asked for."""
    asked = []

    def quickly(folder, quick, progress):
        asked.append((str(folder), quick))
        progress(Progress(Stage.EXPERIMENT, 1, 6, "epsilon 1, Proposed"))
        progress(Progress(Stage.DRAWING))
        sheet = Sheet("table1", "Table 1: RMSE", ("method", "paper", "here"), (("Proposed", 4.3133, 4.25),))
        return sparse_l2.Reproduction("a stand-in", 10, 3, (sheet,), (folder / "table1.csv",))

    monkeypatch.setattr(sparse_l2, "reproduce", quickly)
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **options):
        return CliRunner().invoke(reproduce, [str(argument) for argument in arguments], **options)

    call.asked = asked
    return call


def test_the_papers_tables_are_printed_beside_ours(run):
    result = run("sparse-l2")
    assert result.exit_code == 0, result.output
    assert "Table 1: RMSE" in result.output
    assert "Proposed\t4.313\t4.25" in result.output
    assert "a stand-in" in result.output
    assert "table1.csv" in result.output
    assert run.asked == [("out/sparse-l2", False)]


def test_quick_and_the_folder_are_passed_on(run, tmp_path):
    assert run("sparse-l2", "--quick", "--folder", tmp_path / "here", "--quiet").output == ""
    assert run.asked == [(str(tmp_path / "here"), True)]


def test_json_is_json(run):
    content = json.loads(run("sparse-l2", "--json").output)
    assert content["sheets"][0]["rows"] == [{"method": "Proposed", "paper": 4.3133, "here": 4.25}]


def test_a_bar_runs_where_a_person_watches(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    result = run("sparse-l2")
    assert result.exit_code == 0
    assert "Drawing" in result.stderr  # the stage last shown
    assert run("sparse-l2", "--quiet").stderr == ""


def test_an_unknown_paper_is_exit_code_2(run):
    result = run("sparse")
    assert result.exit_code == 2
    assert "sparse-l2" in result.output


def test_every_paper_has_its_experiment():
    from importlib import import_module

    for module in PAPERS.values():
        assert callable(import_module(f"sudare.papers.{module}").reproduce)
