"""One list of papers: every page that shows it shows the same."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from sudare.language.catalogue import Words
from sudare.papers.catalogue import END, PAPERS, START, markdown, placed
from sudare.workflow.job import json_schema

ROOT = Path(__file__).parents[3]
PAGES = {"README.md": "en", "README.ja.md": "ja", "docs/index.md": "en", "docs/ja/index.md": "ja"}


@pytest.mark.parametrize(("name", "language"), PAGES.items())
def test_the_table_of_papers_is_the_one_of_the_list(name, language):
    page = (ROOT / name).read_text(encoding="utf-8")
    assert page == placed(page, Words(language)), f"{name} is stale: run make docs"


def test_a_row_has_the_paper_its_function_its_recipe_and_its_command():
    rows = markdown(Words("en")).splitlines()
    assert len(rows) == 2 + len(PAPERS)
    for paper, row in zip(PAPERS, rows[2:], strict=True):
        assert f"`sudare reproduce {paper.key}`" in row
        assert paper.function in row
        assert row.count(" | ") == 5
        for language in ("en", "ja"):  # the papers are Japanese: who looks one up needs its own title
            assert paper.text("title", Words(language)) in row
            assert paper.text("authors", Words(language)) in row


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if "=" in paper.recipe], ids=lambda paper: paper.key)
def test_the_recipe_of_the_table_is_one_that_recipes_take(paper):
    """``method = "top_down"`` is not: a method is a table with a name."""
    stated = tomllib.loads("\n".join(re.findall("`([^`]*)`", paper.recipe)))
    definitions = json_schema()["$defs"]
    of_kind = definitions[f"{stated.pop('kind').capitalize()}Recipe"]["properties"]
    for key, table in stated.items():
        own = definitions[re.search(r"#/\$defs/(\w+)", str(of_kind[key]))[1]]["properties"]
        assert set(table) <= set(own)


def test_no_page_calls_a_paper_by_a_number():
    for path in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("benchmarks/*.*"),
        *ROOT.glob("src/**/*.py"),
    ]:
        text = path.read_text(encoding="utf-8").lower()
        assert not re.search(r"\bpaper [0-4]\b|both papers|\b(first|second|third|fourth|fifth) paper\b", text), path


def numbers(page):
    """The numbers of errata that a page lists, in their order."""
    return re.findall(r"^\| ([A-Z]\d+) \|", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)


def test_the_errata_have_the_same_numbers_in_both_languages():
    english = numbers("docs/explanation/errata.md")
    assert numbers("docs/ja/errata.md") == english
    assert len(english) == len(set(english))


def test_the_code_refers_to_errata_that_are_there():
    known, used = set(numbers("docs/explanation/errata.md")), set()
    for path in ROOT.glob("src/sudare/**/*.py"):
        for listed in re.findall(r"errata ([A-Z]\d+(?: and [A-Z]\d+)*)", path.read_text(encoding="utf-8")):
            found = set(listed.split(" and "))
            assert found <= known, path
            used |= found
    # Slips of the print that no line of code depends on.
    assert known - used <= {"N3", "T2", "T3", "T5", "T6", "K3", "R4", "M5"}


@pytest.mark.parametrize("room", ["anonymity", "reconstruct", "reweight"])
def test_a_room_names_the_paper_it_speaks_of(room):
    """Not "the paper": there are five, and a reader of one room has none of them at hand."""
    for path in (ROOT / "src" / "sudare" / room).glob("*.py"):
        for docstring in docstrings(path):
            first = re.search(r"\b[Tt]he paper\b", docstring)
            assert first is None or re.search(r"Horigome|Hasegawa|Takabayashi", docstring[: first.start()]), path


def docstrings(path):
    """Those of a module, its classes and its functions."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]


def test_other_text_is_left_alone():
    page = f"before\n{START}\nof long ago\n{END}\nafter\n"
    made = placed(page, Words("en"))
    assert made.startswith("before\n")
    assert made.endswith(f"{END}\nafter\n")
    assert "of long ago" not in made
