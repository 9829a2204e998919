"""Reports are part of a release: certified by a signed list, drawn again where they were lost, and private nowhere."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from fault_changes import CANARY
from fault_recipes import RECIPES, SHARED, house, releases, tame

from sudare.errors import OutputError, VerificationError
from sudare.language.messages import PageMessage
from sudare.workflow.certificate import verify
from sudare.workflow.folder import refuse_unusable, remove_leftovers, taken
from sudare.workflow.pages import draw_report
from sudare.workflow.publication import publish
from sudare.workflow.reports import canonical, load_or_create

BOTH = SHARED.replace("public = false", "internal = true")
LISTS = {
    "removed": lambda path, _: path.unlink(),
    "of no JSON": lambda path, _: path.write_text("{"),
    "of a newer form": lambda path, said: path.write_text(json.dumps({**said, "format": "sudare-reports/9"})),
    "without a report": lambda path, said: path.write_text(json.dumps({**said, "reports": {}})),
    "of another release": lambda path, said: path.write_text(json.dumps(_signed({**said, "release_id": "x"}))),
    "of another certificate": lambda path, said: path.write_text(
        json.dumps(_signed({**said, "certificate_sha256": "0" * 64}))
    ),
    "by another key": lambda path, said: path.write_text(json.dumps(_signed(said, "other.pem"))),
    "of a folder above": lambda path, said: path.write_text(
        json.dumps(_signed({**said, "reports": {f"../{path.parent.name}/report.html": said["reports"]["report.html"]}}))
    ),
}


def _signed(said: dict, key: str = "publisher.pem") -> dict:
    body = {name: value for name, value in said.items() if name != "signature"}
    return {**body, "signature": load_or_create(_published().parent / key).sign(canonical(body)).hex()}


@cache
def _published() -> Path:
    """The folder of a release with both reports, in Japanese."""
    place = house() / "reported"
    place.mkdir()
    for file in ("people.csv", "people.parquet"):
        shutil.copy(house() / file, place)
        tame(place / file)
    (place / "recipe.toml").write_text(RECIPES[1] + BOTH.replace("internal", 'language = "ja", internal'))
    return publish(place / "recipe.toml").folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    shutil.copy(_published().parent / "publisher.pem", tmp_path)
    return Path(shutil.copytree(_published(), tmp_path / "release"))


def test_no_changed_bit_of_a_report_passes(release, full):
    page, dice = release / "report.html", random.Random(3)  # noqa: S311 - places, not secrets
    whole = page.read_bytes()
    assert verify(release).reports.listed["report.html"].language == "ja"
    for _ in range(300 if full else 30):
        changed = bytearray(whole)
        changed[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        page.write_bytes(changed)
        with pytest.raises(VerificationError, match=r"a report differs from the one that was certified .*report\.html"):
            verify(release)
    page.write_bytes(b"<p>Everything is exact.")
    with pytest.raises(VerificationError, match="a report differs"):
        verify(release)
    with pytest.raises(OutputError, match=r"another report is there already .*report\.html.* Remove it first"):
        draw_report(release)
    page.unlink()
    assert verify(release).reports.remarks == (PageMessage("verified.missing_report", file="report.html"),)


@pytest.mark.parametrize("change", LISTS)
def test_a_list_that_is_not_the_publishers_certifies_nothing(release, change):
    path = release / "reports.json"
    LISTS[change](path, json.loads(path.read_text(encoding="utf-8")))
    with pytest.raises(VerificationError, match=r"report|list"):
        verify(release)


def test_a_newer_list_says_so(release):
    path = release / "reports.json"
    LISTS["of a newer form"](path, json.loads(path.read_text(encoding="utf-8")))
    with pytest.raises(VerificationError, match=r"the list of reports .* was made by a newer Sudare"):
        verify(release)


@pytest.mark.parametrize("changed", ["a byte order mark", "line ends", "both"])
def test_a_certificate_that_an_editor_saved_anew_is_the_same(release, changed):
    path, before = release / "release.json", verify(release)
    content = path.read_bytes()
    if changed != "a byte order mark":
        content = content.replace(b"\n", b"\r\n")
    if changed != "line ends":
        content = b"\xef\xbb\xbf" + content
    path.write_bytes(content)
    assert "report.html" in before.reports.listed
    assert verify(release).checks == before.checks
    page = (release / "report.html").read_bytes()
    (release / "report.html").unlink()
    assert draw_report(release, key=release.parent / "publisher.pem").certified
    assert (release / "report.html").read_bytes() == page
    path.write_bytes(content.replace(b"\n", b"\n ", 1))  # what nobody's editor does by itself
    with pytest.raises(VerificationError, match="the list of reports is that of another release"):
        verify(release)


def test_files_of_strangers_are_named_and_those_of_systems_are_not(release):
    (release / ".DS_Store").touch()
    assert verify(release).reports.remarks == ()
    for name in ("table-corrected.csv", ".hidden", "odd\x1b[2Jname"):
        (release / name).touch()
    (release / "folder").mkdir()
    found = verify(release).reports
    assert found.unlisted == (".hidden", "folder", "'odd\\x1b[2Jname'", "table-corrected.csv")
    assert PageMessage("verified.unlisted", file="table-corrected.csv") in found.remarks


@pytest.mark.parametrize("name", ["report.ja.html", "Report.html", "report-final.HTM"])
def test_what_poses_as_a_report_is_refused(release, name):
    (release / name).write_text("<p>Other figures</p>", encoding="utf-8")
    with pytest.raises(VerificationError, match="a report is not certified"):
        verify(release)


def test_a_release_older_than_the_list_passes_with_a_remark_until_its_report_is_listed(release):
    (release / "reports.json").unlink()
    certificate = json.loads((release / "release.json").read_text(encoding="utf-8"))
    del certificate["reports"]
    (release / "release.json").write_text(json.dumps(_signed(certificate)), encoding="utf-8")
    found = verify(release)
    assert found.reports.uncertified == ("report.html",)
    assert found.to_json()["remarks"] == ["report.html: a report that is not certified"]
    # Its certificate is another one now, and so is the report that names its hash: that one is listed beside it.
    drawn = draw_report(release, language="ja", key=release.parent / "publisher.pem")
    assert (drawn.path.name, drawn.certified) == ("report.ja.html", True)
    (release / "report.html").unlink()
    assert verify(release).reports.remarks == ()


def test_a_lost_report_is_drawn_again_byte_for_byte_by_anybody(release, monkeypatch):
    (release.parent / "publisher.pem").unlink()
    page = (release / "report.html").read_bytes()
    (release / "report.html").unlink()
    monkeypatch.chdir(release.parent)
    drawn = draw_report("release/release.json")
    assert (drawn.path, drawn.language, drawn.certified) == (Path("release/report.html"), "ja", True)
    assert (release / "report.html").read_bytes() == page
    assert verify(release).ok
    assert draw_report(release) == draw_report(release), "and once more changes nothing"


def test_without_the_key_nothing_new_comes_into_the_folder(release):
    (release.parent / "publisher.pem").unlink()
    before = {path.name: path.read_bytes() for path in release.iterdir()}
    drawn = draw_report(release, language="en")
    assert (drawn.path, drawn.certified) == (release.parent / "release-report.en.html", False)
    assert {path.name: path.read_bytes() for path in release.iterdir()} == before
    load_or_create(release.parent / "sudare-publisher.pem")  # a key of that name, and not the publisher's
    assert not draw_report(release, language="en").certified
    assert verify(release).reports.remarks == ()
    with pytest.raises(OutputError, match="not the one that signed the release"):
        draw_report(release, key=release.parent / "sudare-publisher.pem")
    with pytest.raises(OutputError, match="there is no such key"):
        draw_report(release, key=release.parent / "none.pem")


def test_every_kind_is_drawn_from_its_files_alone_in_both_languages(tmp_path, full):
    """Nothing of the recipe or the data is beside the copy; and a report that was killed before it was drawn."""
    for place in range(6) if full else (1, 2, 3, 5):
        _draw_in_both_languages(releases()[place], tmp_path / str(place))


def _draw_in_both_languages(release, place):
    place.mkdir()
    folder = Path(shutil.copytree(release, place / "release"))
    shutil.copy(release.parent / "publisher.pem", place / "sudare-publisher.pem")
    assert verify(folder).reports.listed == {}
    first, second = (draw_report(folder, language=language) for language in ("ja", "en"))
    assert (first.path.name, second.path.name) == ("report.html", "report.en.html")
    found = verify(folder).reports
    assert {name: one.language for name, one in found.listed.items()} == {"report.html": "ja", "report.en.html": "en"}
    assert found.remarks == ()
    for page, language in ((first, "ja"), (second, "en")):
        text = page.path.read_text(encoding="utf-8")
        assert f'<html lang="{language}">' in text
        assert CANARY not in text


def test_the_internal_report_is_in_no_folder_and_on_no_list(release):
    assert (_published().parent / "release-internal.html").stat().st_mode & 0o077 == 0
    listed = json.loads((release / "reports.json").read_text(encoding="utf-8"))
    assert list(listed["reports"]) == ["report.html"]
    assert not any("internal" in path.name for path in release.iterdir())


def test_what_killed_runs_left_is_removed_by_the_next_publication_into_that_place(tmp_path):
    for file in ("people.csv", "people.parquet"):
        shutil.copy(_published().parent / file, tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPES[5] + SHARED)
    left = [tmp_path / f".release.partial-{'0' * 16}", tmp_path / f".release-internal.html.partial-{'a' * 16}"]
    left[0].mkdir()
    (left[0] / "table.parquet").write_bytes(b"half")
    left[1].write_text("true values")
    others = [
        tmp_path / f".release2.partial-{'0' * 16}",
        tmp_path / ".release.partial-of-mine",
        tmp_path / "release.txt",
    ]
    for path in others:
        path.touch()
    publish(tmp_path / "recipe.toml")
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)


KILLED = """
import os, pathlib, signal, sys
rename = pathlib.Path.rename
def killed(self, target):
    if self.is_file() and sys.argv[2] in self.name:
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)
pathlib.Path.rename = killed
from sudare.workflow import publish
publish(sys.argv[1])
"""


def _killed_while_drawing(folder: Path, page: str) -> None:
    """Publish into ``folder``, and be killed when a page is written and has not its name yet."""
    for file in ("people.csv", "people.parquet"):
        shutil.copy(_published().parent / file, folder)
    (folder / "recipe.toml").write_text(RECIPES[5] + BOTH)
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder / "recipe.toml"), page], check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    assert _half_done(folder)


def _half_done(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*.partial-*"))


@pytest.mark.parametrize("command", ["publish", "resume", "report", "another"])
def test_a_page_of_true_values_that_a_kill_cut_off_goes_with_the_next_command(tmp_path, command):
    _killed_while_drawing(tmp_path, "-internal.html")
    assert (tmp_path / "release" / "release.json").exists()
    if command == "report":
        draw_report(tmp_path / "release")
    elif command == "another":  # a recipe of another folder: nobody publishes into the first one again
        text = (tmp_path / "recipe.toml").read_text().replace('folder = "release"', 'folder = "release2"')
        (tmp_path / "recipe.toml").write_text(text)
        publish(tmp_path / "recipe.toml")
    else:
        with pytest.raises(OutputError, match="the output folder exists already"):
            publish(tmp_path / "recipe.toml", resume=command == "resume")
    assert _half_done(tmp_path) == []
    assert not list(tmp_path.glob(".*.lock"))
    assert verify(tmp_path / "release").reports.remarks == ()


def test_half_a_public_report_goes_when_it_is_drawn_again(tmp_path):
    _killed_while_drawing(tmp_path, ".report.html")
    (tmp_path / "release" / f".reports.json.partial-{'0' * 16}").touch()
    (tmp_path / f".release-report.ja.html.partial-{'0' * 16}").touch()
    (tmp_path / "release" / ".report.html.partial-mine").touch()
    draw_report(tmp_path / "release", key=tmp_path / "publisher.pem")
    assert _half_done(tmp_path) == [".report.html.partial-mine"]


def test_the_page_of_a_run_at_work_beside_is_left_alone(tmp_path):
    page = tmp_path / f".other-internal.html.partial-{'0' * 16}"
    page.touch()
    with taken(tmp_path / "other"):
        page.touch()
        with taken(tmp_path / "release"):
            assert page.exists()
    with taken(tmp_path / "release"):
        assert not page.exists()


def test_what_a_kill_leaves_of_a_look_at_the_place_goes(tmp_path):
    left = [tmp_path / f".{name}-internal.html.partial-{'0' * 16}" for name in ("release", "release2")]
    for path in left:
        path.mkdir()
    refuse_unusable(tmp_path / "deeper" / "release")
    assert list(tmp_path.iterdir()) == []


def test_a_place_is_usable_though_another_run_cleans_it_meanwhile(tmp_path, monkeypatch):
    rename = Path.rename
    monkeypatch.setattr(Path, "rename", lambda self, to: (remove_leftovers(tmp_path / "release"), rename(self, to))[1])
    refuse_unusable(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []
