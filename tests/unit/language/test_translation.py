"""Every template that the package can raise is in the catalogue of each language, and none is said half in one."""

import io
import pickle
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

import sudare
from sudare.errors import BudgetError, InputError, Message, ParameterError, SudareError, did_you_mean, either
from sudare.language.extraction import extract
from sudare.render import text

PACKAGE = Path(sudare.__file__).parent
LOCALE = PACKAGE / "language" / "locale"
CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/errors.po"))


def catalogue(path):
    with path.open("rb") as file:
        return read_po(file)


def raised():
    """Every template in the code."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {found[2] for path in files for found in extract(io.StringIO(path.read_text(encoding="utf-8")), (), (), {})}


def fields(template):
    return {(name, conversion) for _, name, _, conversion in Formatter().parse(template) if name is not None}


@pytest.mark.slow
def test_there_is_a_catalogue():
    assert "ja" in {path.parts[-3] for path in CATALOGUES}
    assert len(raised()) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_the_catalogue_has_every_template_and_no_other(path):
    known = {message.id for message in catalogue(path) if message.id}
    assert raised() - {""} == known


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_a_translation_has_the_fields_of_its_template(path):
    for message in catalogue(path):
        if message.id:
            assert message.string, message.id
            assert not message.fuzzy, message.id
            assert {name for name, _ in fields(message.string)} == {name for name, _ in fields(message.id)}, message.id


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_the_compiled_catalogue_is_that_of_the_text(path):
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(path))
    assert path.with_suffix(".mo").read_bytes() == compiled.getvalue(), "run: make messages"


def test_templates_are_found_wherever_they_are_given():
    code = """
raise InputError("a" if x else "b", allowed=names or "c", hint="d {e}", e=1)
raise RequestError(404, "f")
ValueError(Message("g"))
ValueError("no template")
click.UsageError("no template")
class OwnError(SudareError):
    def __init__(self): super().__init__("h")
"""
    assert sorted(found[2] for found in extract(io.StringIO(code), (), (), {})) == [
        "a",
        "b",
        "c",
        "d {e}",
        "f",
        "g",
        "h",
    ]


def test_a_sentence_of_known_parts_is_japanese():
    problem = InputError(
        "there is no such column for {purpose}",
        value="sx",
        allowed=["sex", "age"],
        hint=did_you_mean("sx", ["sex"]),
        purpose=Message("the attribute {name}", name="sex"),
    )
    assert text(problem, "ja") == "属性 sex に使う列が見つかりません（値：'sx'、許容：sex, age）。'sex' のことですか？"
    assert text(problem, "en") == str(problem)


@pytest.mark.parametrize(
    "problem",
    [
        SudareError("nobody wrote this down"),
        ParameterError("{name} is not positive", value=-1, hint="Nobody wrote this down.", name="epsilon"),
        SudareError("the page cannot be written: {reason}", reason=Message("nobody wrote this down")),
    ],
)
def test_a_sentence_with_an_unknown_part_is_english_as_a_whole(problem):
    assert text(problem, "ja") == str(problem)


def test_a_language_without_a_catalogue_is_english():
    problem = ParameterError("{name} is not positive", name="epsilon")
    assert text(problem, "xx") == "epsilon is not positive"


def test_values_stay_as_they_are_and_cannot_break_the_line():
    problem = ParameterError("there is no such file", value="{0}\x1b[2J（値：1）")
    assert text(problem, "ja") == "ファイルが見つかりません（値：'{0}\\x1b[2J（値：1）'）。"
    named = ParameterError("{name} is not positive", name="{name} {0!r}")
    assert text(named, "ja").startswith("{name} {0!r} が")


def test_a_sentence_that_was_kept_is_said_again():
    short = BudgetError(
        "data set {holder!r} has not enough budget left{reason}: requested {name} {wanted}, remaining {rest}, "
        "difference {difference}",
        hint="Ask for less, or raise the cap with: sudare ledger set-cap.",
        **{"holder": "a. b", "reason": "", "name": "epsilon", "wanted": 2, "rest": 1, "difference": 1},
    )
    said = text(short, "ja")
    assert said.startswith("データセット 'a. b' の予算が足りません。必要な epsilon は 2、")
    assert text(pickle.loads(pickle.dumps(short)), "ja") == said  # noqa: S301 - ours
    outer = SudareError("the recipe is not valid yet", hint=short)
    assert text(outer, "ja") == f"レシピがまだ正しくありません。{said}"
    assert str(outer) == f"the recipe is not valid yet. {short}"


def test_alternatives_are_named_in_the_language():
    problem = ParameterError("unknown way to treat the total", value="odd", allowed=either(["noisy", "public"]))
    assert text(problem, "ja") == "総数の扱い方が不明です（値：'odd'、許容：noisy または public）。"


def test_a_sentence_inside_another_has_one_full_stop():
    inner = ParameterError("{name} is not positive", value=-1, allowed="a finite number > 0", name="epsilon")
    problem = SudareError("the certificate states no valid guarantee: {reason}", reason=inner)
    assert str(problem) == f"the certificate states no valid guarantee: {inner}"
    assert text(problem, "ja").endswith("：epsilon が正の数ではありません（値：-1、許容：0 より大きい有限の数）。")
    assert text(problem, "ja").count("。") == 1
