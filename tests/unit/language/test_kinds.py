"""What the pages of the kinds name is known in Japanese."""

import re
from pathlib import Path

import pytest

import sudare
from sudare.anonymity import anonymized as assessment
from sudare.language.catalogue import Words, catalogue
from sudare.privacy.notebook import NAMES

PACKAGE = Path(sudare.__file__).parent


@pytest.mark.parametrize(
    ("family", "page"),
    [("sample", "anonymity/pages.py"), ("weights", "reweight/pages.py"), ("perturbation", "reconstruct/kind.py")],
)
def test_the_page_of_a_kind_takes_its_names_from_the_catalogue(family, page):
    used = re.findall(rf"""words\(["']({family}\.\w+)["']""", (PACKAGE / page).read_text(encoding="utf-8"))
    assert used
    assert set(used) <= set(catalogue("ja"))


def test_measures_and_their_meanings_are_known():
    text = Path(assessment.__file__).read_text(encoding="utf-8")
    made = text[: text.index("def promised")]
    found = re.findall(r"""Measure\(\s*"([^"]+)",.*?"([^"]+)"\)""", made, re.S)
    found += assessment._MEANINGS.items()
    assert len(found) > 8
    known = Words("ja").labels("sample")
    for name, meaning in found:
        assert name in known, name
        assert meaning in known, meaning


def test_japanese_is_japanese():
    for family in ("notion", "format", "sample", "weights", "perturbation", "audit_name"):
        for name, shown in Words("ja").labels(family).items():
            assert shown != name or name == "ncp"
            assert shown == "NCP" or re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", shown), name


def test_what_is_of_a_column_is_known_by_its_first_word():
    japanese = Words("ja")
    assert japanese.label("sample", "ncp of home town") == "情報損失（NCP）：home town"
    assert japanese.label("perturbation", "noise of age") == "ノイズ：age"
    assert japanese.label("sample", "colour of age") == "colour of age"
    assert Words("en").label("sample", "ncp of age") == "ncp of age"


def test_every_notion_of_privacy_has_a_name():
    assert {*Words("ja").labels("notion"), "none", "none: seeded"} == set(NAMES)
