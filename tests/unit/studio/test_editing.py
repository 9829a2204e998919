"""Single keys are changed in the text: what was said besides stays, letter by letter."""

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import RecipeError
from sudare.studio.editing import contents_of, edited, key_parts
from sudare.studio.refusals import RequestError

DEMO = (files("sudare.cli") / "demo.toml").read_text(encoding="utf-8")


def test_comments_and_order_stay():
    made = edited(DEMO, {"privacy.epsilon": 0.25, "data.max_rows": 3})
    changed = [(a, b) for a, b in zip(DEMO.splitlines(), made.splitlines(), strict=True) if a != b]
    assert changed == [
        ("max_rows = 1              # rows of one person that count, at most",
         "max_rows = 3              # rows of one person that count, at most"),
        ("epsilon = 0.5", "epsilon = 0.25"),
    ]  # fmt: skip


def test_tables_come_and_go():
    made = edited(DEMO, {"domain.town": {"type": "categories", "values": ["a", "b"]}, "domain.age": None})
    said = tomllib.loads(made)
    assert list(said["domain"]) == ["mesh", "sex", "town"]
    assert "[domain.town]\n" in made
    assert edited(made, {"nothing.here": None}) == made


@pytest.mark.parametrize("text", ["", "[data]\npath = 'x'\n", DEMO])
def test_keys_of_tables_that_are_not_there_yet(text):
    said = tomllib.loads(edited(text, {"title": "A", "report.language": "ja", 'domain."home town".type': "line"}))
    assert (said["title"], said["report"]["language"]) == ("A", "ja")
    assert said["domain"]["home town"]["type"] == "line"


@pytest.mark.parametrize("key", ["", ".", "a..b", "a b", "a\nb", "a = 1 #", '"open', "a." * 20 + "a", "[a]", "a\0b"])
def test_what_is_no_key_is_refused(key):
    with pytest.raises(RequestError, match="not a key"):
        edited(DEMO, {key: 1})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dataset.name": 1}, "not a table"),
        ({"domain.x": {"values": [1, None]}}, "missing"),
        ({"title": "\ud800"}, "Unicode"),
    ],
)
def test_what_toml_cannot_say_is_refused(changes, said):
    with pytest.raises(RequestError, match=said):
        edited(DEMO, changes)


def test_what_is_no_toml_is_refused():
    with pytest.raises(RecipeError, match="not TOML"):
        edited("a = = 1", {"b": 1})
    with pytest.raises(RecipeError, match="not TOML"):
        contents_of("a = " + "[" * 5000)


def test_a_key_is_read_as_toml_reads_it():
    assert key_parts("a.\"b.c\".'d'") == ["a", "b.c", "d"]


NAMES = st.sampled_from(["a", "b", "kind", '"x y"', '"ü.1"', "data"])
KEYS = st.lists(NAMES, min_size=1, max_size=3).map(".".join)
VALUES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-(2**60), 2**60),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["p", "q", "r s"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(KEYS, st.one_of(st.none(), VALUES), min_size=1, max_size=3), max_size=4))
def test_an_edit_says_what_it_should_or_is_refused(steps):
    """What comes out means exactly the dictionary with the changes made; comments of untouched lines are there."""
    text = "# first\ntop = 1 # kept\n\n[data] # table\npath = 'x' # of data\n"
    for changes in steps:
        before = tomllib.loads(text)
        try:
            text = edited(text, changes)
        except RequestError:
            assert tomllib.loads(text) == before
            continue
        wanted = before
        for key, value in changes.items():
            parts, table = key_parts(key), wanted
            for part in parts[:-1]:
                table = table.setdefault(part, {}) if value is not None else table.get(part, {})
            table.update({parts[-1]: value}) if value is not None else table.pop(parts[-1], None)
        assert tomllib.loads(text) == wanted
        assert text.startswith("# first\n")


@pytest.mark.parametrize("table", ["domain", "columns", "hierarchies"])
def test_the_only_declared_part_can_be_removed_and_another_takes_its_place(table):
    text = f'kind = "table"\n\n[{table}.sex]  # as asked\nvalues = ["f"]\n\n[privacy]\nepsilon = 1  # public\n'
    without = edited(text, {f"{table}.sex": None})
    assert tomllib.loads(without) == {"kind": "table", "privacy": {"epsilon": 1}}
    assert "# public" in without
    again = tomllib.loads(edited(without, {f"{table}.age": {"step": 10}}))
    assert again[table] == {"age": {"step": 10}}
