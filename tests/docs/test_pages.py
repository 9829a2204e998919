"""Every block of code on every page runs, in order, in a folder of its own."""

import importlib.util
import re
import sys
import tempfile
from pathlib import Path

import pytest

from sudare.tables.synthetic import write_city

ROOT = Path(__file__).parents[2]
SPARK = ROOT / "docs" / "how-to" / "spark.md"
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - {SPARK})


@pytest.fixture(scope="module")
def runner():
    specification = importlib.util.spec_from_file_location("run_page", ROOT / "docs" / "run_page.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def own_temporary_folder(tmp_path_factory, monkeypatch):
    """For what a killed run of another test left in the system's is removed, and told, by the next command."""
    folder = str(tmp_path_factory.mktemp("own"))
    monkeypatch.setenv("TMPDIR", folder)
    monkeypatch.setattr(tempfile, "tempdir", folder)
    # A device keeps its own ledger where the user's state is.
    monkeypatch.setenv("SUDARE_STATE", str(tmp_path_factory.mktemp("state")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(runner, page, tmp_path, own_temporary_folder):
    if page.name.startswith("README"):  # which begins where `make demo` ends
        (tmp_path / "out" / "demo").mkdir(parents=True)
        write_city(tmp_path / "out" / "demo" / "people.parquet", 20_000)
    runner.run_page(page, tmp_path)


def test_the_code_of_the_page_on_spark_runs(runner, spark, tmp_path):
    assert runner.run_page(SPARK, tmp_path) == 3


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def test_blocks_share_names_and_the_folder(runner, tmp_path):
    page = page_of(
        tmp_path,
        "```python\nnumber = 6\n```\n```toml\n# a.toml\nb = 7\n```\n```console\n$ cat a.toml\n# a.toml\nb = 7\n```\n"
        "```pycon\n>>> number * 7\n42\n```\n```console alike\n$ echo 5,000.5 of -7e-3\n1 of 2\n```\n"
        "```json\n{}\n```\n```text\nnonsense\n```\n```{note}\nalso\n```\n",
    )
    assert runner.run_page(page, tmp_path) == 6


@pytest.mark.parametrize(
    "block",
    [
        "```pycon\n>>> 6 * 7\n41\n```",
        "```console\n$ echo one\ntwo\n```",
        "```console\n$ false\n```",
        "```console alike\n$ echo 5 people\n6 rows\n```",
        "```console\n$ echo Error: but it works\nError: but it works\n```",
        "```toml\na = \n```",
        "```python\nraise ValueError\n```",
        "```ruby\nputs 1\n```",
        "```text\n```python\nnumber = 1\n```",  # a fence that was never closed hides what is below it
        "```text\nno end",
    ],
)
def test_a_block_that_does_not_do_what_it_says_is_found(runner, tmp_path, block):
    with pytest.raises(Exception):  # noqa: B017, PT011 - of whatever kind the block's mistake is
        runner.run_page(page_of(tmp_path, block), tmp_path)


def test_what_is_english_only_is_listed_on_the_japanese_first_page():
    """Every page of tutorials, how-to, explanation and reference has a Japanese one that links to it, or is listed."""
    docs = ROOT / "docs"
    folders = ("tutorials", "how-to", "explanation", "reference")
    pages = {str(page.relative_to(docs)) for folder in folders for page in (docs / folder).glob("*.md")}
    link = re.compile(r"\(\.\./((?:tutorials|how-to|explanation|reference)/[\w-]+\.md)\)")
    first = (docs / "ja" / "index.md").read_text(encoding="utf-8")
    listed = set(link.findall(first.split("## 英語だけの文書")[1]))
    translated = {"reference/papers.md"}  # whose rows name the same code in both languages
    for page in (docs / "ja").glob("*.md"):
        translated |= set(
            re.findall(r"(?:\[English\]|英語版は \[Errata\])\(\.\./([\w/-]+\.md)\)", page.read_text("utf-8"))
        )
    assert listed == {page for page in pages if not page.endswith("/index.md")} - translated
