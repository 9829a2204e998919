"""``sudare reproduce``: what it prints, for people and machines."""

import json

import pytest
from click.testing import CliRunner

from sudare.cli import main
from sudare.cli.reproduce import remaining, reproduce
from sudare.language.catalogue import Words
from sudare.language.messages import Progress, Stage
from sudare.papers import sparse_l2
from sudare.papers.catalogue import PAPERS
from sudare.papers.reproduction import Reproduction
from sudare.papers.sheet import Sheet


class Small(Reproduction):
    """A table with one row."""

    key = "sparse-l2"
    usual = 10, 10

    def read(self):
        return None, "a stand-in"

    def units(self):
        return {}

    @property
    def said(self):
        return {"data": {"basis": self.basis}, "runs": {"runs": self.runs, "japan": 3}}

    @property
    def sheets(self):
        return (Sheet("table1", ("method", "paper", "here"), (("Proposed", 4.3133, 4.25),)),)

    @property
    def figures(self):
        return {}


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The command with an experiment that takes no time; ``run.asked`` is what it was asked for."""
    asked, stopped = [], []

    def quickly(folder, quick, progress):
        asked.append((str(folder), quick))
        progress(Progress(Stage.EXPERIMENT, 3, 6, "epsilon 1, Proposed"))
        if not stopped:
            progress(Progress(Stage.DRAWING))
        if stopped:
            raise KeyboardInterrupt
        (folder / "parts").mkdir(parents=True, exist_ok=True)
        return Small(data=(None, "a stand-in"), files=(folder / "table1.csv",))

    monkeypatch.setattr(sparse_l2, "reproduce", quickly)
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **options):
        return CliRunner().invoke(reproduce, [str(argument) for argument in arguments], **options)

    call.asked, call.stop = asked, lambda: stopped.append(True)
    return call


def test_the_papers_tables_are_printed_beside_ours(run):
    result = run("sparse-l2")
    assert result.exit_code == 0, result.output
    assert "Table 1: RMSE of a cell" in result.output
    assert "Matsumoto, Matsui, Terada: Differential Privacy" in result.output
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

    for paper in PAPERS:
        assert callable(import_module(f"sudare.papers.{paper.module}").reproduce)


def test_a_page_in_each_language_has_the_papers_numbers(run, tmp_path):
    run("sparse-l2", "--folder", tmp_path / "here")
    english, japanese = ((tmp_path / "here" / name).read_text() for name in ("page.html", "page.ja.html"))
    assert "Matsumoto, Matsui, Terada" in english
    assert "松本・松井・寺田" in japanese
    assert "表 1：セルの RMSE" in japanese
    assert "提案法" in japanese
    assert all("4.313" in page for page in (english, japanese))
    assert not (tmp_path / "here" / "parts").exists()  # done: nothing is kept for going on


def test_help_has_the_table_of_papers_with_durations(run):
    for language, minutes in (("en", "min with --quick"), ("ja", "--quick なら")):
        result = CliRunner().invoke(main, ["reproduce", "--help", "--language", language])
        plain = "".join(result.output.split())
        for paper in PAPERS:
            assert paper.key in plain
            words = Words(language)
            shown = [paper.text(what, words) for what in ("authors", "title", "says", "near")]
            shown += [
                paper.function,
                paper.recipe,
                f"sudare reproduce {paper.key}",
                *paper.described(words, "duration").values(),
            ]
            for text in shown:
                assert "".join(text.replace("`", "").split()) in plain
        assert plain.count("".join(minutes.split())) == len(PAPERS) + 1  # and all of them together


def test_everything_printed_is_japanese_for_those_who_ask(run):
    result = CliRunner().invoke(main, ["reproduce", "sparse-l2", "--language", "ja"])
    assert result.exit_code == 0, result.output
    assert "手法\t論文\tここ" in result.output
    assert "提案法\t4.313\t4.25" in result.output
    assert "10 回、日本全国は 3 回" in result.output


def test_who_interrupts_is_told_what_is_kept_and_how_to_go_on(run):
    run.stop()
    result = run("sparse-l2")
    assert result.exit_code != 0
    assert "2 of 6 parts are kept in out/sparse-l2; the same command goes on from there." in result.stderr


def test_the_rest_is_estimated_from_what_was_done():
    assert remaining([(5.0, 3)], 10) is None
    assert remaining([(0.0, 3), (90.0, 4)], 5) == "3:00"
