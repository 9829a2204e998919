"""Every sentence that the package can raise is known in Japanese, and none is ever said half in one language."""

import ast
import re
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import sudare
from sudare.errors import BudgetError, InputError, ParameterError, SudareError, did_you_mean
from sudare.words import Words, reworded, sentence
from sudare.words.sentences import GAP, ROLES, _text, _texts

PACKAGE = Path(sudare.__file__).parent
JAPANESE = Words("ja")
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
VALIDATED = ("publish", "collector")
"""Where Pydantic turns a ValueError into a part of a sentence."""
LISTS = re.compile(r"^(', '|' or ')\.join\(|^str\(|did_you_mean\(|^f'\{[^{}]+\}'$")
"""What is made when it is raised and is shown as it is: names, numbers, and the nearest name."""
LOOKED_AT = {
    "hint", "fault.hint", "_nearest(kind)", "known", "FORMAT", "Adjacency.ADDED", "frozen.label", "encoding",
    "job.recipe.dataset", "_shortened(self.labels)", "(len(codes),).__repr__()", "name", "problem.what",
    "problem.allowed",
    # Texts with a name of their own, or made by another call: the file has them under "pieces".
    "wanted", "_COPY", "_FILES", "_FORMS", "_FOUR", "METHODS", "allowed", "what", "_defect(problem)",
    "what.get(problem.status_code, str(problem.detail).lower())",
    # A whole sentence, or one of a validator.
    "based_on", "sentence",
}  # fmt: skip


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def error_names() -> frozenset[str]:
    found = {"SudareError"}
    classes = [node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    while new := {c.name for c in classes if any(ast.unparse(base) in found for base in c.bases)} - found:
        found |= new
    return frozenset(found)


def templates(node: ast.expr) -> list[str]:
    """The texts that an expression can give, NUL for each value inside; nothing for what is a value itself."""
    match node:
        case ast.Constant():
            return [node.value] if isinstance(node.value, str) else []
        case ast.IfExp():
            return templates(node.body) + templates(node.orelse)
        case ast.BoolOp():
            return [text for value in node.values for text in templates(value)]
        case ast.BinOp(op=ast.Add()):
            return [first + last for first, last in product(templates(node.left), templates(node.right))]
        case ast.JoinedStr():
            return ["".join(part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)]
    return ["\0"]


def numbered(template: str) -> str:
    """NUL for a value becomes the gap's number.

    >>> numbered("row \\0 of \\0")
    'row {0} of {1}'
    """
    parts = template.split("\0")
    return parts[0] + "".join(f"{{{place}}}{part}" for place, part in enumerate(parts[1:]))


def called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


@cache
def calls(folder: str) -> tuple[tuple[Path, str, ast.expr], ...]:
    """The parts of each error that is made in a folder: where, as which part of the sentence, and what is written."""
    return tuple(_calls(folder))


def _calls(folder: str):
    for path, tree in trees().items():
        if path.relative_to(PACKAGE).parts[0] != folder:
            continue
        own = {
            id(call)
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and node.name in error_names()
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and called(call) == "__init__"
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = called(node)
            validated = name == "ValueError" and folder in VALIDATED
            if name in error_names() or id(node) in own or validated:
                # A request's refusal begins with its HTTP status.
                first = [one for one in node.args if not (isinstance(one, ast.Constant) and isinstance(one.value, int))]
                status = name == "RequestError" and not isinstance(node.args[0], ast.Constant)
                for expression in first[status : status + 1]:
                    yield path, "text" if validated else "what", expression
                for keyword in node.keywords:
                    if keyword.arg in ("allowed", "hint"):
                        yield path, keyword.arg, keyword.value


def raised(folder: str) -> set[tuple[str, str]]:
    found = {(role, numbered(text)) for _, role, given in calls(folder) for text in templates(given)}
    return {(role, text) for role, text in found if GAP.sub("", text)}


def known() -> dict[tuple[str, str], str]:
    folders = [part for name, part in _texts("ja").items() if name != "form"]
    return {(role, text): said for part in folders for role in part for text, said in part[role].items()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_text_is_known(folder):
    missing = sorted(raised(folder) - known().keys())
    assert not missing, f"errors.ja.json lacks, for {folder}: {missing}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_made_when_it_is_raised_is_a_list_or_was_looked_at(folder):
    for path, role, given in calls(folder):
        if "\0" in templates(given):
            parts = given.values if isinstance(given, ast.BoolOp) else [given]
            for part in parts:
                shown = ast.unparse(part)
                if "\0" in templates(part):
                    assert LISTS.search(shown) or shown in LOOKED_AT, (path.name, role, shown)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_file_has_no_text_that_is_no_longer_raised(folder):
    listed = {(role, text) for role, texts in _texts("ja").get(folder, {}).items() for text in texts}
    gone = sorted(listed - raised(folder))
    assert not gone, f"errors.ja.json still has, for {folder}: {gone}"


def test_gaps_are_those_of_the_english_text():
    for (_, text), said in known().items():
        gaps = [set(re.findall(r"\{(\d+)", each)) for each in (text, said)]
        assert gaps[1] <= gaps[0]
        assert gaps[0] == gaps[1] or text in _texts("ja")["pydantic"]["text"], text


def test_no_text_stands_twice():
    folders = [part for name, part in _texts("ja").items() if name != "form"]
    everything = [(role, text) for part in folders for role in part for text in part[role]]
    assert len(everything) == len(set(everything))
    assert {role for role, _ in everything} == set(ROLES)


def test_a_text_is_recognised_as_itself():
    for (role, text), said in known().items():
        if ":text}" not in said:
            filled = [GAP.sub(lambda gap: f"'{gap[1]}'", each) for each in (text, said)]
            assert _text(filled[0], role, "ja", 0) == filled[1], text


def test_a_sentence_of_known_parts_is_japanese():
    problem = InputError(
        "there is no such column for the attribute sex",
        value="sx",
        allowed="sex, age",
        hint=did_you_mean("sx", ["sex"]),
    )
    assert (
        sentence(problem, JAPANESE)
        == "属性 sex に使う列が見つかりません（値：'sx'、許容：sex, age）。'sex' のことですか？"
    )
    assert sentence(problem, Words("en")) == str(problem)


@pytest.mark.parametrize(
    "problem",
    [
        SudareError("nobody wrote this down"),
        ParameterError("epsilon is not positive", value=-1, hint="Nobody wrote this down."),
        SudareError("the page cannot be written: nobody wrote this down"),
    ],
)
def test_a_sentence_with_an_unknown_part_is_english_as_a_whole(problem):
    assert sentence(problem, JAPANESE) == str(problem)
    assert reworded(str(problem), JAPANESE) == str(problem)


def test_values_stay_as_they_are_and_cannot_break_the_line():
    problem = ParameterError("there is no such file", value="{0}\x1b[2J（値：1）")
    assert sentence(problem, JAPANESE) == "ファイルが見つかりません（値：'{0}\\x1b[2J（値：1）'）。"


def test_a_sentence_that_was_kept_as_text_is_read_again():
    short = BudgetError(
        "data set 'a. b' has not enough budget left: requested epsilon 2, remaining 1, difference 1",
        hint="Ask for less, or raise the cap with: sudare ledger set-cap.",
    )
    said = sentence(short, JAPANESE)
    assert said.startswith("データセット 'a. b' の予算が足りません。必要な epsilon は 2、")
    assert reworded(str(short), JAPANESE) == said
    outer = SudareError("the recipe is not valid yet", hint=str(short))
    assert sentence(outer, JAPANESE) == f"レシピがまだ正しくありません。{said}"


def test_a_very_long_sentence_stays_english():
    problem = SudareError("the page cannot be written: " + ". to : " * 50_000)
    assert sentence(problem, JAPANESE) == reworded(str(problem), JAPANESE) == str(problem)


def test_alternatives_are_named_in_the_language():
    problem = ParameterError("unknown way to treat the total", value="odd", allowed="noisy or public")
    assert sentence(problem, JAPANESE) == "総数の扱い方が不明です（値：'odd'、許容：noisy または public）。"


def test_a_sentence_inside_another_has_one_full_stop():
    inner = ParameterError("epsilon is not positive", value=-1, allowed="a finite number > 0")
    problem = SudareError(f"the certificate states no valid guarantee: {inner}")
    assert sentence(problem, JAPANESE).endswith(
        "：epsilon が正の数ではありません（値：-1、許容：0 より大きい有限の数）。"
    )
    assert sentence(problem, JAPANESE).count("。") == 1
