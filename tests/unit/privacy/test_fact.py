"""What guarantees state: each fact has one sentence in files, words in both languages, and no code reads prose."""

import ast
import re
from fractions import Fraction
from pathlib import Path

import pytest

import sudare as sd
from sudare.anonymity.requirements import Closeness, DistinctDiversity, EntropyDiversity
from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.privacy import Adjacency, Fact, Guarantee, Notion, Unit
from sudare.privacy.fact import SENTENCES
from sudare.privacy.notebook import fact_text
from sudare.reconstruct.perturb import promise as perturbed
from sudare.reweight.measurement import promise as weighted
from sudare.tables.release import budget_of, promise

SOURCE = Path(sd.__file__).parent
PERSON = Unit("person", 3)
GUARANTEES = {
    "table": promise(PERSON, budget_of(1)),
    "public totals": promise(PERSON, budget_of(1), public_total=True, areas=(Fact("areas", areas=2),)),
    "counted": promise(Unit("household", 2, counted_elsewhere=True), budget_of(1)),
    "seeded": promise(PERSON, budget_of(1)).without_protection(),
    "no noise": Guarantee("none").without_protection("none"),
    "weights": weighted(1, adjacency="replace"),
    "raw centres": weighted(1, raw=True),
    "perturbation": perturbed(Fraction(1), PERSON, 2.345678),
    "local": sd.local.SymmetricUnary(size=5, epsilon=1).guarantee,
}


def example(code):
    fields = re.findall(r"\{(\w+)\}", SENTENCES[code])
    return Fact(code, **{name: 7 if name in ("areas", "changes", "rows") else "7" for name in fields})


@pytest.mark.parametrize("code", SENTENCES)
def test_a_stored_sentence_is_read_as_the_fact_it_was(code):
    fact = example(code)
    assert Fact.from_text(str(fact)) == fact
    assert hash(Fact.from_text(str(fact))) == hash(fact)


@pytest.mark.parametrize("code", [code for code in SENTENCES if code != "text"])
def test_each_fact_has_words_in_both_languages(code):
    english, japanese = (fact_text(example(code), Words(language)) for language in ("en", "ja"))
    assert english != japanese
    assert re.search(r"[\u3040-\u9fff]", japanese)


@pytest.mark.parametrize("name", GUARANTEES)
def test_a_guarantee_comes_back_from_its_json(name):
    guarantee = GUARANTEES[name]
    assert Guarantee.from_json(guarantee.to_json()) == guarantee
    assert all(fact.code != "text" for fact in (*guarantee.public, *guarantee.assumptions))


@pytest.mark.parametrize("text", ["the domain and more", "the totals of 03 areas, given from elsewhere", "a\nb", ""])
def test_another_text_stays_as_it_is(text):
    fact = Fact.from_text(text)
    assert (fact.code, str(fact), fact_text(fact, Words("ja"))) == ("text", text, text)


def test_a_text_is_taken_for_the_fact_that_it_states():
    made = Guarantee("epsilon-DP", epsilon=1, public=("the domain", "my own"))
    assert made.public == (Fact("domain"), Fact("text", text="my own"))


@pytest.mark.parametrize("each", [DistinctDiversity("x", 2), EntropyDiversity("x", 2.5), Closeness("x", 0.25)])
def test_a_requirement_is_stated_as_it_is_called(each):
    assert str(each.fact) == f"{each} in each combination"


def test_what_is_no_fact_is_refused():
    with pytest.raises(ParameterError, match=r"unknown fact of a guarantee \(got 'areass'\). Did you mean 'areas'"):
        Fact("areass")
    with pytest.raises(ParameterError, match=r"the fact areas has other fields \(got \['number'\]; allowed: areas\)"):
        Fact("areas", number=3)


def test_notions_and_neighbours_are_the_texts_of_the_files():
    made = Guarantee("rho-zCDP", rho=1)
    assert made.notion is Notion.CONCENTRATED
    assert made.adjacency is Adjacency.ADDED
    assert repr(made.notion) == "'rho-zCDP'"
    assert type(made.to_json()["notion"]) is str


def stated(node):
    """Whether an expression is what a guarantee states."""
    names = isinstance(node, ast.Attribute) and node.attr in ("public", "assumptions")
    return names and ast.unparse(node.value).endswith(("guarantee", "promised"))


def prose(tree):
    """Lines that look for a text inside of a guarantee's facts: ``"..." in guarantee.public`` and the like."""
    for node in ast.walk(tree):
        compares = isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant | ast.JoinedStr)
        if compares and any(map(stated, node.comparators)):
            yield node.lineno
        if isinstance(node, ast.GeneratorExp | ast.ListComp) and any(stated(each.iter) for each in node.generators):
            found = (each for each in ast.walk(node) if isinstance(each, ast.Compare))
            yield from (each.lineno for each in found if isinstance(each.ops[0], ast.In))


@pytest.mark.slow
def test_no_code_learns_a_fact_from_its_text():
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert list(prose(ast.parse(text))) == [], path
        if path.name != "fact.py":
            readers = (SOURCE / "privacy" / "guarantee.py", SOURCE / "reweight" / "pages.py")
            assert "from_text" not in text or path in readers, path


@pytest.mark.parametrize(
    "text",
    ['"the total is public" in guarantee.public', 'any("elsewhere" in fact for fact in release.guarantee.public)'],
)
def test_reading_prose_is_found(text):
    assert list(prose(ast.parse(text)))
