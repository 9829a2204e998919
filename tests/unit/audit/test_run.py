"""The quick form of the audit, as `sudare audit --quick` runs it, and its report.

About 90 checks with a false alarm of 1e-9 each: a sound package fails one run in ten million. The noise is not seeded.
"""

import json

import pytest
from click.testing import CliRunner

from sudare.audit import Audit, Finding
from sudare.audit import run as audit_module
from sudare.audit.finding import PARTS
from sudare.audit.page import page
from sudare.cli.audit import audit as command
from sudare.errors import OutputError, ParameterError
from sudare.publish.kinds import KINDS


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    seen = []
    return audit_module.audit(folder, quick=True, progress=seen.append), folder, seen


def test_nothing_is_found(quick):
    made, _, seen = quick
    assert [finding.to_json() for finding in made.findings if not finding.passed] == []
    assert made.passed
    assert len(seen) == len(made.findings)


def test_every_part_kind_method_and_encoding_was_tried(quick):
    made, _, _ = quick
    assert {finding.part for finding in made.findings} == set(PARTS)
    replayed = " ".join(finding.name for finding in made.of("replay"))
    for word in ("tree", "top_down", "simplex", "negative_l2", "nonnegative_lasso", "laplace", "privelet", "rho"):
        assert word in replayed
    told = {finding.name.split(",")[0] for finding in (*made.of("replay"), *made.of("behaviour"))}
    assert told == set(KINDS)
    assert len({finding.name for finding in made.findings}) == len(made.findings)


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


FAILED = Audit(
    (
        Finding("laws", "a coin", True, 10, "p = 0.5", "p above 1e-9"),
        Finding("replay", "<b>a table</b>", False, 3, "table.csv differs", "the same bytes"),
    ),
    {"seconds": "1"},
    ("something",),
    False,
)


def test_a_failure_is_shown(tmp_path):
    text = page(FAILED)
    assert "1 checks failed." in text
    assert "&lt;b&gt;a table" in text
    assert FAILED.facts["result"] == "1 of 2 findings are failures"
    assert not FAILED.passed
    assert not Audit((), {}, (), True).passed


@pytest.mark.parametrize("form", [[], ["--json"], ["--quiet"]])
def test_the_command_prints_and_ends_in_1_when_something_was_found(form, tmp_path, monkeypatch):
    monkeypatch.setattr("sudare.audit.audit", lambda folder, quick, progress: FAILED)
    ended = CliRunner().invoke(command, ["--quick", "--folder", str(tmp_path), *form])
    assert ended.exit_code == 1
    if form == ["--json"]:
        assert json.loads(ended.output) == FAILED.to_json()
    else:
        assert ("table.csv differs" in ended.output) == (not form)


def test_the_command_ends_in_0_when_nothing_was_found(tmp_path, monkeypatch):
    sound = Audit(FAILED.findings[:1], {}, (), True)
    monkeypatch.setattr("sudare.audit.audit", lambda folder, quick, progress: sound)
    ended = CliRunner().invoke(command, ["--folder", str(tmp_path)])
    assert ended.exit_code == 0
    assert "nothing found" in ended.output


def test_mistakes(tmp_path):
    with pytest.raises(ParameterError, match="no such part of an audit"):
        Finding("spells", "x", True, 1, "", "")
    with pytest.raises(ParameterError, match="what was never tried is no finding"):
        Finding("laws", "x", True, 0, "", "")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="the audit cannot be written: NotADirectoryError"):
        audit_module.write(FAILED, tmp_path / "file" / "below")
