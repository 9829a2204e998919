"""Names from the web stay inside the workspace."""

import os
import tomllib

import pytest

from sudare.errors import InputError, RecipeError
from sudare.language.catalogue import Words
from sudare.privacy.private_files import locked
from sudare.studio.refusals import RequestError
from sudare.studio.workspace import Workspace, session


@pytest.mark.parametrize(
    "name",
    ["", "/", "..", "../x", "a/../../x", "/etc/passwd", ".sudare-studio/studio.db", "a/.b", "a//b", "a\\..\\b",
     "x\0y", "x\ny", "a" * 300, "/".join(["a"] * 600), "./recipe.toml", "‮x"],
)  # fmt: skip
def test_names_that_lead_out_or_are_hidden_are_refused(workspace, name):
    with pytest.raises(RequestError) as refusal:
        workspace.inside(name)
    assert refusal.value.status == 404
    assert str(workspace.folder) not in str(refusal.value)


def test_links_that_lead_out_are_refused_and_links_inside_are_not(workspace, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.csv").write_text("a\n1\n")
    (workspace.folder / "file.csv").symlink_to(elsewhere / "secret.csv")
    (workspace.folder / "folder").symlink_to(elsewhere)
    (workspace.folder / "inside.csv").symlink_to("public.csv")
    (workspace.folder / "loop").symlink_to("loop")
    for name in ("file.csv", "folder/secret.csv", "folder", "loop/x"):
        with pytest.raises(RequestError):
            workspace.inside(name)
    assert workspace.inside("inside.csv").read_bytes() == (workspace.folder / "public.csv").read_bytes()


def test_names_inside_are_found(workspace):
    assert workspace.inside("people.parquet").is_file()
    assert workspace.inside("日本 語/x.csv") == workspace.folder / "日本 語" / "x.csv"
    assert workspace.shown(workspace.folder / "out" / "release") == "out/release"
    assert workspace.shown(workspace.folder.parent) is None


def test_a_recipe_that_is_not_there_or_no_recipe_is_one_sentence_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match=r"no such recipe .*missing\.toml"):
        Workspace.open(tmp_path / "missing.toml")
    with pytest.raises(InputError, match="no such recipe"):
        Workspace.open(tmp_path)
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    with pytest.raises(RecipeError, match="not TOML"):
        Workspace.open(tmp_path / "data.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_without_a_recipe_one_is_begun(tmp_path, monkeypatch):
    folder = tmp_path / 'my "data"'
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Workspace.open()
    assert made.recipe == folder / "recipe.toml"
    assert 'dataset = "my data"' in made.recipe.read_text()
    made.recipe.write_text("kind = 'weights'\n")
    Workspace.open()
    assert made.recipe.read_text() == "kind = 'weights'\n"


def test_what_a_dead_process_left_half_done_is_removed(tmp_path):
    (tmp_path / "a[b].toml").write_text("")
    workspace = Workspace.open(tmp_path / "a[b].toml")
    # With the number of a process that lives: numbers come back, and say nothing about who left what.
    left, kept = (
        [
            tmp_path / f".a[b].toml.partial-{os.getpid()}",
            workspace.hidden / f"upload-{name}",
        ]
        for name in (f"{os.getpid()}-ab", "0123456789abcdef")
    )
    others = [tmp_path / ".b.toml.partial-0", tmp_path / "upload-7-ab", workspace.hidden / "upload-x"]
    for path in (*left, *kept, *others):
        path.touch()
    with locked(kept[1]):
        Workspace.open(tmp_path / "a[b].toml")
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in (kept[1], *others))


def test_a_japanese_studio_begins_a_recipe_with_japanese_comments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begun = Workspace.open(words=Words("ja")).recipe.read_text(encoding="utf-8")
    assert begun.startswith("# Sudare のレシピ")
    (tmp_path / "recipe.toml").unlink()
    english = Workspace.open().recipe.read_text(encoding="utf-8")
    assert tomllib.loads(begun) == tomllib.loads(english)


def test_what_jobs_of_an_older_studio_said_is_given_up_and_versions_are_kept(workspace):
    with session(workspace) as store:
        store.execute("INSERT INTO versions VALUES ('recipe.toml', 1, '', 'start', 'a', 1, NULL, '[]', '', 1)")
        row = ["j", "recipe.toml", "publish", "{}", "", "done", '{"stage": "reading"}', 1.0, None, '{"headline": []}']
        store.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        store.execute("PRAGMA user_version = 1")
    (workspace.hidden / "rehearsals" / "0").mkdir(parents=True)
    with session(workspace) as store:
        assert len(store.execute("SELECT * FROM versions").fetchall()) == 1
        assert not store.execute("SELECT * FROM jobs").fetchall()
    assert not (workspace.hidden / "rehearsals").exists()
