"""Every change is a version; nothing that was confirmed is lost, whoever edits and whatever dies."""

from threading import Thread

import pytest

from sudare.errors import InputError, RecipeError
from sudare.studio import versions as module
from sudare.studio.refusals import RequestError, StaleError
from sudare.studio.versions import MOST_BYTES, Versions


@pytest.fixture
def versions(workspace):
    return Versions(workspace, lambda text: "bad" not in text)


def test_the_file_is_the_first_version(versions, workspace):
    now = versions.current()
    assert (now.version, now.change, now.text) == (1, "start", workspace.recipe.read_text())
    assert versions.current() == now


def test_an_edit_is_a_version_and_the_file(versions, workspace):
    made = versions.edit("a = 1\n", 1)
    assert (made.version, made.change, made.valid) == (2, "text", True)
    assert workspace.recipe.read_text() == "a = 1\n"
    assert not versions.edit("bad\n", 2).valid
    assert [one.version for one in versions.listed()] == [3, 2, 1]


def test_an_edit_that_changes_nothing_is_no_version(versions):
    assert versions.edit(versions.current().text, 1).version == 1


def test_an_edit_of_an_older_version_is_refused_and_changes_nothing(versions, workspace):
    versions.edit("first = 1\n", 1)
    with pytest.raises(StaleError, match="allowed: version 2"):
        versions.edit("second = 1\n", 1)
    assert workspace.recipe.read_text() == "first = 1\n"
    assert versions.current().version == 2


def test_undo_and_redo_walk_along_the_edits(versions, workspace):
    start = workspace.recipe.read_text()
    for number in range(1, 4):
        versions.edit(f"a = {number}\n", number)
    texts = []
    now = versions.current()
    while now.back is not None:
        now = versions.undo(now.version)
        texts.append(now.text)
    assert texts == ["a = 2\n", "a = 1\n", start]
    with pytest.raises(RequestError, match="nothing to undo"):
        versions.undo(now.version)
    texts = []
    while now.forward:
        now = versions.redo(now.version)
        texts.append(now.text)
    assert texts == ["a = 1\n", "a = 2\n", "a = 3\n"]
    with pytest.raises(RequestError, match="nothing to redo"):
        versions.redo(now.version)
    assert versions.undo(now.version).text == "a = 2\n"


def test_an_edit_after_undo_ends_redo_and_keeps_what_was_undone(versions):
    versions.edit("a = 1\n", 1)
    versions.edit("a = 2\n", 2)
    versions.undo(3)
    now = versions.edit("a = 5\n", 4)
    assert now.forward == ()
    assert versions.undo(now.version).text == "a = 1\n"
    assert versions.get(3).text == "a = 2\n"


def test_an_earlier_version_comes_back_as_a_new_one(versions):
    versions.edit("a = 1\n", 1)
    versions.edit("a = 2\n", 2)
    now = versions.go(2, 3)
    assert (now.version, now.change, now.text) == (4, "back", "a = 1\n")
    assert versions.undo(4).text == "a = 2\n"
    for unknown in (0, -1, 99, 2**70):
        with pytest.raises(RequestError, match="no such version"):
            versions.go(unknown, 5)


def test_an_edit_outside_is_a_version_of_its_own(versions, workspace):
    versions.edit("a = 1\n", 1)
    workspace.recipe.write_text("by hand = 1\n")
    now = versions.current()
    assert (now.version, now.change, now.text) == (3, "outside", "by hand = 1\n")
    assert versions.undo(3).text == "a = 1\n"
    with pytest.raises(StaleError):
        versions.edit("late = 1\n", 2)


def test_a_file_that_is_gone_stands_as_a_version_and_can_be_undone(versions, workspace):
    start = versions.current().text
    workspace.recipe.unlink()
    assert versions.current().text == ""
    assert versions.undo(2).text == start
    assert workspace.recipe.read_text() == start


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", "dataset = '村'\n".encode("cp932"), "a = '村'".encode("utf-16")])
def test_a_file_that_is_no_utf_8_is_refused_and_never_overwritten(versions, workspace, content):
    start = versions.current().text
    workspace.recipe.write_bytes(content)
    for change in (versions.current, lambda: versions.edit("a = 1\n", 1), lambda: versions.undo(1)):
        with pytest.raises(RecipeError, match=r"not text in UTF-8 \(got 'recipe.toml'\)"):
            change()
    assert workspace.recipe.read_bytes() == content
    workspace.recipe.write_text(start)
    assert versions.current().version == 1


def test_a_byte_order_mark_and_line_ends_are_no_edit(versions, workspace):
    workspace.recipe.write_bytes("\ufeffa = 1\r\n".encode())
    assert versions.current().text == "a = 1\r\n"
    assert versions.edit("a = 2\r\n", 1).version == 2
    assert workspace.recipe.read_bytes() == b"a = 2\r\n"


def test_a_death_between_version_and_file_is_finished_by_the_next(versions, workspace, monkeypatch):
    versions.current()

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, "replace_file", die)
        with pytest.raises(KeyboardInterrupt):
            versions.edit("confirmed = 1\n", 1)
    assert "confirmed" not in workspace.recipe.read_text()
    now = Versions(workspace, lambda _: True).current()
    assert (now.version, now.text) == (2, "confirmed = 1\n")
    assert workspace.recipe.read_text() == "confirmed = 1\n"
    # From here on, the older text is an edit of somebody's: the version is written and known to be.
    workspace.recipe.write_text("a = 0\n")
    assert versions.current().change == "outside"


def test_an_outside_edit_after_such_a_death_is_not_overwritten(versions, workspace, monkeypatch):
    versions.current()
    with monkeypatch.context() as patched:
        patched.setattr(module, "replace_file", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            versions.edit("confirmed = 1\n", 1)
    workspace.recipe.write_text("other = 1\n")
    now = versions.current()
    assert (now.version, now.text, now.change) == (3, "other = 1\n", "outside")
    assert versions.get(2).text == "confirmed = 1\n"


def test_many_writers_lose_nothing(workspace):
    """Eight tabs in a race: each retries when it was too late, and every confirmed text is a version."""

    def write(name):
        own = Versions(workspace, lambda _: True)
        for number in range(4):
            while True:
                try:
                    own.edit(f'by = "{name}-{number}"\n', own.current().version)
                    break
                except StaleError:
                    continue

    threads = [Thread(target=write, args=[name]) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    versions = Versions(workspace, lambda _: True)
    texts = [versions.get(one.version).text for one in versions.listed()]
    assert len(texts) == 33
    assert len(set(texts)) == 33
    assert workspace.recipe.read_text() == texts[0]


def test_a_recipe_too_long_is_refused(versions):
    with pytest.raises(RequestError, match="too long"):
        versions.edit("#" * (MOST_BYTES + 1), 1)
    with pytest.raises(RequestError, match="too long"):
        versions.edit("a = 1\0", 1)


def test_two_recipes_of_a_folder_have_their_own_versions(versions, workspace):
    versions.edit("a = 1\n", 1)
    (workspace.folder / "other.toml").write_text("b = 1\n")
    other = Versions(type(workspace)(workspace.folder, "other.toml"), lambda _: True)
    assert (other.current().version, other.current().text) == (1, "b = 1\n")


def test_a_folder_that_cannot_be_written_is_one_sentence(versions, workspace):
    (workspace.hidden / "studio.db").unlink(missing_ok=True)
    (workspace.hidden / "studio.db").write_bytes(b"no database at all, but long enough to be looked at" * 20)
    with pytest.raises(InputError, match="is not a SQLite database"):
        versions.current()


def test_a_slide_of_one_number_is_one_version_that_one_undo_takes_back(versions, monkeypatch):
    monkeypatch.setattr(module, "SLIDE", module.timedelta(hours=1))
    versions.edit('title = "a"\nepsilon = 1\nrho = 1\n', 1)
    for number, epsilon in enumerate((0.8, 0.6, 0.5, 0.4), start=2):
        now = versions.edit(f'title = "a"\nepsilon = {epsilon}\nrho = 1\n', number, "edit")
    assert [one.version for one in versions.listed()] == [6, 2, 1]
    assert versions.listed()[0].keys == ["epsilon = 0.4"]
    assert versions.get(4).text == 'title = "a"\nepsilon = 0.6\nrho = 1\n'  # nothing is lost
    undone = versions.undo(now.version)
    assert undone.text == 'title = "a"\nepsilon = 1\nrho = 1\n'
    assert versions.redo(undone.version).text == now.text


def test_other_keys_other_words_and_later_changes_are_versions_of_their_own(versions, monkeypatch):
    monkeypatch.setattr(module, "SLIDE", module.timedelta(hours=1))
    text = 'title = "{}"\nepsilon = {}\nrho = {}\n'
    versions.edit(text.format("a", 1, 1), 1)
    number = 2
    for values in [("a", 2, 1), ("a", 2, 2), ("b", 2, 2), ("c", 2, 2), ("c", 3, 2), ("c", 2, 2)]:
        number = versions.edit(text.format(*values), number, "edit").version
    # The last one is what was there before the slide: two versions, and both can be undone.
    assert [one.version for one in versions.listed()] == [8, 7, 6, 5, 4, 3, 2, 1]
    monkeypatch.setattr(module, "SLIDE", module.timedelta(0))
    versions.edit(text.format("c", 4, 2), 8, "edit")
    versions.edit(text.format("c", 5, 2), 9, "edit")
    assert [one.version for one in versions.listed()][:3] == [10, 9, 8]
