"""What the pages of the kinds name is known in Japanese."""

import re
from pathlib import Path

import pytest

import sudare
from sudare.anonymity import assessment
from sudare.publish.perturbation_job import USE
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
    headline = set(
        re.findall(
            r"""^            "([a-zA-Z ()]+)": """, (PAGES / f"{family}_job.py").read_text(encoding="utf-8"), re.M
        )
    )
    assert {name for name in headline if name != family} <= known


def test_measures_and_their_meanings_are_known():
    text = Path(assessment.__file__).read_text(encoding="utf-8")
    made = text[: text.index("def promised")]
    found = re.findall(r"""Measure\(\s*"([^"]+)",.*?"([^"]+)"\)""", made, re.S)
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
