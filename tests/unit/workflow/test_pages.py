"""Reports of a publication: beside the certificate, from public things alone; the internal one outside, when asked."""

import datetime
import hashlib
import json
import re

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sudare as sd
from sudare.cli import main
from sudare.errors import OutputError, ParameterError, RecipeError
from sudare.language.catalogue import Words
from sudare.noise import record
from sudare.privacy import Ledger
from sudare.recipe import Kind
from sudare.render.reports import Cover, public_page
from sudare.workflow import pages
from sudare.workflow.job import Job

ASKED = ("public = false", "public = true")
BOTH = ("public = false", "internal = true")


def page_of(made):
    return made.report.read_text(encoding="utf-8")


def test_the_public_report_lies_beside_the_certificate_and_names_its_hash(village):
    made = sd.publish(village.change(ASKED))
    assert made.report == made.folder / "report.html"
    content = (made.folder / "release.json").read_bytes()
    page = page_of(made)
    assert hashlib.sha256(content).hexdigest() in page
    assert made.release_id in page
    assert "report.html" not in json.loads(content)["files"]
    assert sd.verify(made.folder, publisher=village.folder / "publisher.pem").ok
    assert made.to_json()["report"] == str(made.report)
    assert not list(village.folder.rglob(".*partial*"))


def test_by_default_there_is_a_public_report_and_no_internal_one(village):
    made = sd.publish(village.change(("[report]\npublic = false\n", "")))
    assert made.report is not None
    assert made.internal_report is None
    assert not list(village.folder.glob("*internal*"))


def test_a_recipe_can_do_without(village):
    made = sd.publish(village.recipe)
    assert made.report is None
    assert not list(village.folder.rglob("*.html"))


def test_the_report_follows_from_the_release_alone(village):
    """Two truths, one release: whatever the page says, it cannot have come from the truth."""
    with record() as tape:
        first = sd.publish(village.recipe)
    people = pq.read_table(village.folder / "people.parquet")
    pq.write_table(people.slice(1), village.folder / "people.parquet")
    (village.folder / "ledger.db").unlink()  # a replay repeats the identifier, which one ledger takes once
    with record(replay=tape):
        folder, history = ('"release"', '"again"'), ("[ledger]\n", "[ledger]\nconfirm_other_history = true\n")
        second = sd.publish(village.change(folder, history))
    drawn = []
    for made in (first, second):
        cover = Cover("x", "x", datetime.datetime(2026, 7, 5, 9, 41, tzinfo=datetime.UTC), made.release.guarantee)
        sections = Job.open(village.recipe).kind.public_sections(made.folder, made.certificate, Words())
        drawn.append(public_page(cover, sections, Words()))
    assert drawn[0] == drawn[1]


def test_the_internal_report_lies_outside_and_only_its_owner_reads_it(village):
    made = sd.publish(village.change(BOTH))
    assert made.internal_report == village.folder / "release-internal.html"
    assert made.internal_report.stat().st_mode & 0o077 == 0
    page = made.internal_report.read_text(encoding="utf-8")
    assert "INTERNAL: contains true values" in page
    assert "State of the ledger" in page
    assert made.release_id in page
    expected = {*made.certificate["files"], "release.json", "report.html", "reports.json"}
    assert {path.name for path in made.folder.iterdir()} == expected
    assert "INTERNAL" not in page_of(made)


def test_an_internal_report_that_is_there_is_left_alone(village):
    (village.folder / "release-internal.html").write_text("earlier")
    with pytest.raises(OutputError, match="the output file exists already"):
        sd.publish(village.change(BOTH))
    assert not (village.folder / "ledger.db").exists()
    assert (village.folder / "release-internal.html").read_text() == "earlier"


def test_a_page_that_cannot_be_drawn_does_not_lose_the_release(village, monkeypatch):
    def fails(*_):
        raise OutputError("the page cannot be written: no space left", value="report.html")

    monkeypatch.setattr(pages, "write_public", fails)
    made = sd.publish(village.change(ASKED))
    assert made.report is None
    assert any(str(remark).startswith("the report is left out: the page cannot be written") for remark in made.left_out)
    assert sd.verify(made.folder).ok
    assert Ledger(village.folder / "ledger.db").balance("village").releases == 1


def test_a_page_is_written_whole_or_not_at_all(village):
    made = sd.publish(village.recipe)
    made.folder.chmod(0o555)
    try:
        with pytest.raises(OutputError, match=r"the page cannot be written|exists already"):
            pages._write("page", made.folder / "missing" / "report.html", mode=0o644)
    finally:
        made.folder.chmod(0o755)
    with pytest.raises(OutputError, match="exists already"):
        pages._write("page", made.folder / "release.json", mode=0o644)
    assert not list(made.folder.glob(".*"))


@pytest.mark.parametrize(
    ("language", "heading"), [("en", "How far to trust a number"), ("ja", "数値をどこまで信頼できるか")]
)
def test_the_recipe_says_the_language(village, language, heading):
    made = sd.publish(village.change(("public = false", f'language = "{language}"')))
    assert heading in page_of(made)
    assert f'<html lang="{language}">' in page_of(made)


def test_the_command_may_say_another_language(village):
    village.change(("public = false", 'language = "en"'))
    done = CliRunner().invoke(main, ["publish", str(village.recipe), "--language", "ja"])
    assert done.exit_code == 0, done.output
    assert re.search(r"^レポート +report\.html$", done.output, re.MULTILINE)
    assert "数値をどこまで信頼できるか" in (village.folder / "release" / "report.html").read_text(encoding="utf-8")


def test_an_unknown_language_is_refused_before_anything_is_touched(village):
    with pytest.raises(ParameterError, match="unknown language"):
        sd.publish(village.recipe, language="fr")
    assert not (village.folder / "ledger.db").exists()
    with pytest.raises(RecipeError, match=r"report\.language"):
        sd.publish(village.change(("public = false", 'language = "fr"')))
    assert "'fr' is not one of" in CliRunner().invoke(main, ["publish", "x", "--language", "fr"]).output


def test_a_misspelt_key_is_named(village):
    with pytest.raises(RecipeError, match=r"unknown key report\.langauge.*Did you mean 'language'"):
        sd.publish(village.change(("public = false", 'langauge = "ja"')))


def test_a_rehearsal_has_an_internal_page_in_either_language(village, tmp_path):
    page = tmp_path / "pages" / "rehearsal.html"
    done = CliRunner().invoke(main, ["rehearse", str(village.recipe), "--page", str(page), "--language", "ja"])
    assert done.exit_code == 0, done.output
    assert "内部用\uff1a真値を含みます" in page.read_text(encoding="utf-8")
    assert "リハーサル" in page.read_text(encoding="utf-8")


def test_a_kind_that_compares_nothing_has_no_internal_page(village):
    kind = Job.open(village.recipe).kind
    assert Kind.internal_sections(kind, None, None, Words()) == []
