"""The quick form of the audit, as `sudare audit --quick` runs it, and its report.

Some 90 checks leave something to chance, with a false alarm of 1e-9 each: a sound package fails one run in ten million.
"""

import json
import re

import pytest
from click.testing import CliRunner

from sudare.audit import Audit, Finding
from sudare.audit import run as audit_module
from sudare.audit.behaviour import timings
from sudare.audit.cases import METHODS
from sudare.audit.exact import cases
from sudare.audit.finding import PARTS, Watched, name_in_words, page, said
from sudare.audit.promises import quick_pairs, slow_pairs
from sudare.audit.publications import everyday
from sudare.cli.audit import audit as command
from sudare.errors import OutputError, ParameterError
from sudare.language.catalogue import Words
from sudare.local import ENCODINGS
from sudare.registry import KINDS


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    seen = []
    return audit_module.audit(folder, quick=True, progress=seen.append, processes=2), folder, seen


def test_nothing_is_found(quick):
    made, _, seen = quick
    assert [finding.to_json() for finding in made.findings if not finding.passed] == []
    assert made.passed
    assert len(seen) == len(made.findings)


def test_every_part_kind_method_and_encoding_was_tried(quick):
    made, _, _ = quick
    assert {finding.part for finding in made.findings} == set(PARTS) - {"exact"}
    replayed = " ".join(finding.name for finding in made.of("replay"))
    for word in (
        "tree",
        "marginals",
        "top_down",
        "simplex",
        "negative_l2",
        "nonnegative_lasso",
        "laplace",
        "privelet",
        "rho",
    ):
        assert word in replayed
    beside = {"measure", "publish", "statements"}
    for part in ("replay", "behaviour"):
        assert {finding.name.split(",")[0] for finding in made.of(part)} - beside == {*KINDS, "reports"}
    compared = {pair.name.split(",")[0] for pair in (*quick_pairs(), *slow_pairs())}
    assert compared - beside == {*KINDS, "reports"}
    assert len(made.of("distinguishers")) == len(list(quick_pairs()))
    published = {finding.name.split(", ")[1] for finding in made.of("replay") if finding.name.startswith("publish, ")}
    assert published == set(KINDS)
    assert made.false_alarm < 1e-6
    assert made.false_alarm == pytest.approx(1e-9 * sum(finding.alarm > 1e-20 for finding in made.findings))
    assert len({(finding.part, finding.name) for finding in made.findings}) == len(made.findings)


def test_sound_publications_use_all_that_they_promise(quick):
    made, _, _ = quick
    figures = {finding.name: finding.figure() for finding in made.of("replay")}
    for case in list(everyday())[:3]:
        assert "at a cost of 1 of the promise" in figures[f"publish, {case.name}"], case.name


def test_the_report_says_what_was_tried_and_how_often(quick):
    made, folder, _ = quick
    told = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert told == made.to_json()
    assert all(finding["times"] > 0 for finding in told["findings"])
    text = (folder / "audit.html").read_text(encoding="utf-8")
    assert "Nothing was found." in text
    assert "record outside the domain" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "src=" not in text
    assert str(folder.parent) not in text


def test_time_and_memory_of_a_release_are_measured_by_the_full_form(quick, tmp_path):
    made, _, _ = quick
    assert made.measured == {}
    found = timings(tmp_path, 1)
    assert [one.slower is None for one in found.values()] == [True, False, False, False, False]
    assert all(one.seconds[1] > 0 and one.mebibytes > 0 for one in found.values())


FAILED = Audit(
    (
        Finding(
            "laws",
            "a coin",
            True,
            10,
            said("seen_fit", right="0.5", wrong="0"),
            said("allowed_fit", limit="1e-09"),
            1e-9,
        ),
        Finding(
            "replay",
            "<b>a table</b>",
            False,
            3,
            said("seen_differs", neighbour="a missing value", problem="table.csv differs", bad="1", tried="3"),
            said("allowed_same"),
        ),
    ),
    {"200 people": Watched((0.1, 0.2, 0.3), 1.5, 2), "20,000 people": Watched((0.1, 0.2, 0.3), 1.5, 2, 0.5)},
    "full",
    ("a missing value",),
)


def test_a_failure_is_shown():
    text = page(FAILED)
    assert "1 check failed." in text
    assert "&lt;b&gt;a table" in text
    assert FAILED.facts()["result"] == "1 of 2 findings are failures"
    assert not FAILED.passed
    assert not Audit((), {}, "quick").passed
    assert FAILED.false_alarm == 1e-9


def test_the_page_in_japanese_has_no_english_sentence():
    text = page(FAILED, Words("ja"))
    for wanted in ("1件の検査が不合格でした。", "欠損値", "200人", "50% でより遅い", '<html lang="ja">'):
        assert wanted in text
    shown = re.sub(r"(?s)<style>.*?</style>|<script.*?</script>|<[^>]*>", " ", text)
    assert not re.search(r"(?:[A-Za-z]+ ){4}", shown.replace("table.csv differs", "").replace("a table", ""))


def test_every_piece_of_a_name_and_message_is_known_in_japanese(quick):
    made, _, _ = quick
    left = set()
    for finding in made.findings:
        said = finding.named(Words("ja")), finding.allowed(Words("ja"))
        # Keys of recipes and names of methods and encodings are what a user writes, in any language.
        left |= {word for text in said for word in re.findall(r"[A-Za-z]\w{2,}", text)}
    known = {
        *METHODS,
        *ENCODINGS,
        "auto",
        "epsilon",
        "delta",
        "rho",
        "max_rows",
        "cut",
        "children",
        "learn_on",
        "public",
    }
    assert left <= known | {
        "parquet",
        "CSV",
        "choose_epsilon",
        "scale",
        "sigma",
        "chance",
        "values",
        "cells",
        "rate",
        "uLSIF",
        "NaN",
        "OSによる乱数源",
    }
    assert all(words_known(name) for name in (*made.neighbours, *made.measured))


def test_cases_of_the_exact_audit_are_named_in_japanese():
    named = [name_in_words(piece, Words("ja")) for case in cases() for piece in case.name.split(", ")]
    assert {word for name in named for word in re.findall(r"[A-Za-z]\w+", name)} <= set(METHODS)


def words_known(name):
    return name_in_words(name, Words("ja")) != name


@pytest.mark.parametrize("form", [[], ["--json"], ["--quiet"]])
def test_the_command_prints_and_ends_in_1_when_something_was_found(form, tmp_path, monkeypatch):
    monkeypatch.setattr("sudare.audit.audit", lambda folder, **asked: FAILED)
    ended = CliRunner().invoke(command, ["--quick", "--folder", str(tmp_path), *form])
    assert ended.exit_code == 1
    if form == ["--json"]:
        assert json.loads(ended.output) == FAILED.to_json()
    else:
        assert ("table.csv differs" in ended.output) == (not form)


def test_the_command_ends_in_0_when_nothing_was_found(tmp_path, monkeypatch):
    sound = Audit(FAILED.findings[:1], {}, "quick")
    monkeypatch.setattr("sudare.audit.audit", lambda folder, **asked: sound)
    ended = CliRunner().invoke(command, ["--folder", str(tmp_path)])
    assert ended.exit_code == 0
    assert "nothing found" in ended.output


def test_mistakes(tmp_path):
    with pytest.raises(ParameterError, match="no such part of an audit"):
        Finding("spells", "x", True, 1, said("seen_taken"), said("allowed_same"))
    with pytest.raises(ParameterError, match="a finding needs at least one trial"):
        Finding("laws", "x", True, 0, said("seen_taken"), said("allowed_same"))
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="the audit cannot be written: NotADirectoryError"):
        audit_module.write(FAILED, tmp_path / "file" / "below")
