"""The internal report: marked as such on screen and on paper, and complete."""

import re

import numpy as np
import pytest

import sudare as sd
from sudare.language.catalogue import Words
from sudare.privacy import Guarantee, Ledger
from sudare.render.reports import internal_page, ledger_section
from sudare.tables.comparison import comparison_sections

GRID = sd.Domain(cell=sd.Grid(16, 16))


@pytest.fixture
def tables():
    generator = np.random.default_rng(1)
    truth = sd.CountTable(GRID, np.arange(0, 256, 4), generator.integers(1, 500, 64))
    return truth, sd.CountTable.released(GRID, truth.index, truth.count + generator.integers(-9, 9, 64))


@pytest.mark.parametrize(
    ("language", "banner", "watermark"),
    [
        ("en", "INTERNAL: contains true values", "INTERNAL · NOT FOR RELEASE"),
        ("ja", "内部用\uff1a真値を含みます", "内部用・公表禁止"),
    ],
)
def test_banner_and_watermark_are_text_that_printers_keep(read, tables, language, banner, watermark):
    page = internal_page(comparison_sections(*tables, Words(language)), Words(language), title="x")
    found = read(page)
    assert found.loads() == []
    assert page.index(f'<div class="banner" role="alert">{banner}</div>') < page.index("<main>")
    assert found.words.count(watermark) == 3
    style = "".join(found.styles)
    assert re.search(r"\.watermark \{ position: fixed;", style)  # comes again on every page
    assert "background-image" not in style
    # Nothing that prints hides one of the two.
    assert "display: none" not in style
    assert "visibility" not in style


def test_an_internal_page_cannot_be_taken_for_a_public_one(tables):
    page = internal_page(comparison_sections(*tables), title="x")
    assert "Public report" not in page
    assert re.search(r"<title>INTERNAL: contains true values", page)


def test_true_released_error_bias_and_support_are_all_there(read, tables):
    found = read(internal_page(comparison_sections(*tables), title="x"))
    assert list(found.charts) == ["chart-errors", "chart-values"]
    assert list(found.maps) == ["map-tables"]
    for heading in ("True and released", "Error by size of area", "Error and bias by true count", "appear or vanish"):
        assert heading in found.words


def test_the_ledger_is_shown_with_its_rows(read, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_cap("village", epsilon=1)
    ledger.spend("village", Guarantee("epsilon-DP", epsilon=0.25), "first")
    section = ledger_section(ledger.balance("village"), ledger.entries("village"), Words("ja"))
    found = read(internal_page([section], Words("ja"), title="x"))
    assert "使用済み ε = 0.25" in found.words
    assert "次の公表に使える量 ε = 0.75" in found.words
    assert [row[1:] for row in found.rows[1:]] == [
        ["上限の設定", "ε = 1"],
        ["公表 first", "差分プライバシー\uff08ε = 0.25\uff09"],
    ]


def test_facts_and_titles_are_escaped(read):
    page = internal_page([], title="<b>city</b>", facts={"epsilon": "0.1 & <i>more</i>"})
    assert "<h1>&lt;b&gt;city&lt;/b&gt;</h1>" in page
    assert "<dt>epsilon</dt><dd>0.1 &amp; &lt;i&gt;more&lt;/i&gt;</dd>" in page
