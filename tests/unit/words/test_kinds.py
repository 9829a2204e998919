"""What the pages of the kinds name is known in Japanese."""

import re
from pathlib import Path

import pytest

import sudare
from sudare.anonymity import assessment
from sudare.privacy.shown import NAMES
from sudare.publish.perturbation_job import USE
from sudare.words import Words
from sudare.words.catalogue import kinds

PAGES = Path(sudare.__file__).parent / "publish"


@pytest.mark.parametrize(
    ("family", "page"),
    [("sample", "sample_pages.py"), ("weights", "weights_pages.py"), ("perturbation", "perturbation_job.py")],
)
def test_every_name_on_a_page_is_known(family, page):
    text = (PAGES / page).read_text(encoding="utf-8")
    used = set(re.findall(rf"""known\(["']{family}["'], ["']([^"']+)["']\)""", text))
    assert used
    known = set(kinds("ja")[family])
    assert used <= known


def test_measures_and_their_meanings_are_known():
    text = Path(assessment.__file__).read_text(encoding="utf-8")
    made = text[: text.index("def promised")]
    found = re.findall(r"""Measure\(\s*"([^"]+)",.*?"([^"]+)"\)""", made, re.S)
    found += assessment._MEANINGS.items()
    assert len(found) > 8
    known = kinds("ja")["sample"]
    for name, meaning in found:
        assert name in known, name
        assert meaning in known, meaning
    assert USE in kinds("ja")["perturbation"]


def test_japanese_is_japanese():
    for names in kinds("ja").values():
        for name, shown in names.items():
            assert shown != name or name == "ncp"
            assert shown == "NCP" or re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", shown), name


def test_what_is_of_a_column_is_known_by_its_first_word():
    japanese = Words("ja")
    assert japanese.known("sample", "ncp of home town") == "情報損失（NCP）：home town"
    assert japanese.known("perturbation", "noise of age") == "ノイズ：age"
    assert japanese.known("sample", "colour of age") == "colour of age"
    assert Words("en").known("sample", "ncp of age") == "ncp of age"


def test_every_notion_of_privacy_has_a_name():
    assert {*kinds("ja")["notion"], "none", "none: seeded"} == set(NAMES)
