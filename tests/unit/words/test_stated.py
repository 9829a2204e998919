"""What guarantees state is known to the catalogue, so that no English sentence stands on a Japanese page."""

import re
from fractions import Fraction

import pytest

import sudare as sd
from sudare.privacy import Guarantee, Unit
from sudare.reconstruct.perturb import promise as perturbed
from sudare.reweight.promise import promise as weighted
from sudare.tables.release import budget_of, promise
from sudare.words import Words
from sudare.words.stated import STATED, recognised

PERSON = Unit("person", 3)
GUARANTEES = {
    "table": promise(PERSON, budget_of(1)),
    "public totals": promise(PERSON, budget_of(1), public_total=True, areas=2),
    "seeded": promise(PERSON, budget_of(1)).without_protection(),
    "no noise": Guarantee("none").without_protection("none"),
    "weights": weighted(1, adjacency="replace"),
    "perturbation": perturbed(Fraction(1), PERSON, 2.0),
    "local": sd.local.SymmetricUnary(size=5, epsilon=1).guarantee,
}


@pytest.mark.parametrize("name", GUARANTEES)
def test_every_stated_sentence_is_known(name):
    guarantee = GUARANTEES[name]
    for text in (*guarantee.public, *guarantee.assumptions):
        assert recognised(text), text
        assert not re.search(r"[a-z]{4}", Words("ja").stated(text)), text


@pytest.mark.parametrize("name", STATED)
def test_a_sentence_is_recognised_as_itself(name):
    gaps = set(re.findall(r"\{(\w+)\}", STATED[name]))
    text = re.sub(r"\{\w+\}", "7", STATED[name])
    assert recognised(text) == (name, dict.fromkeys(gaps, "7"))


def test_a_sentence_with_more_is_not_recognised():
    assert recognised("the domain and more") is None
