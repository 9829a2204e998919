"""Messages and progress are values; each is said in both languages, and no key is missing."""

import re

import pytest

from sudare.errors import ParameterError
from sudare.language.catalogue import LANGUAGES, Words
from sudare.language.messages import PageMessage, Progress, Stage, lines, said

JAPANESE = Words("ja")


def test_a_message_is_equal_whatever_the_order_of_its_fields():
    one, other = PageMessage("amount.of", part=1, whole=2), PageMessage("amount.of", whole=2, part=1)
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == "1 of 2"


def test_an_error_inside_is_said_in_the_language():
    left_out = PageMessage("left_out.report", reason=ParameterError("{name} is not positive", value=-1, name="epsilon"))
    assert str(left_out) == "the report is left out: epsilon is not positive (got -1)"
    assert left_out.text(JAPANESE) == "公表用レポートは作られませんでした：epsilon が正の数ではありません（値：-1）。"


def test_lines_are_named_by_codes_and_messages():
    facts = {"rows": 1200, PageMessage("line.noise_of", column="age"): PageMessage("noise.laplace", scale="6")}
    assert lines(facts) == {"rows": "1,200", "noise of age": "Laplace of scale 6"}
    assert lines(facts, JAPANESE) == {"行数": "1,200", "ノイズ：age": "ラプラス（尺度 6）"}
    assert said(0.25) == "0.25"


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_has_words(stage):
    detail = "x" if stage in (Stage.EXPERIMENT, Stage.FINDING) else ""
    texts = [Progress(stage, 2, 3, detail).text(Words(language)) for language in LANGUAGES]
    assert texts[0].endswith(": 2 of 3")
    assert re.search(r"[\u3040-\u9fff]", texts[1])
