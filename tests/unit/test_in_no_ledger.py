"""What Python calls release without a ledger says so, as a fact and in words; what `publish` makes does not."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import sudare as sd
from in_process import InProcessStore
from sudare.language.catalogue import Words
from sudare.privacy import Guarantee, Ledger, Unit
from sudare.tables.spark import ClusterTable
from sudare.tables.spark import release as release_in_cluster

COUNTS = [0, 0, 9, 0, 120, 0, 0, 3]
PEOPLE = pa.table({"age": [20 + number % 30 for number in range(600)], "sex": ["f", "m"] * 300})


def sampled(**more):
    ages = sd.anonymity.Hierarchy.from_widths(20, 60, 10)
    return sd.anonymity.anonymize(PEOPLE, {"age": ages, "sex": ["f", "m"]}, k=3, **more)


RELEASES = {
    "table": lambda _: sd.release(sd.CountTable.from_array(COUNTS), epsilon=1),
    "table, rho": lambda _: sd.release(sd.CountTable.from_array(COUNTS), rho=1),
    "sample": lambda _: sampled(method="optimal"),
    "sample, drawn": lambda _: sampled(sample=0.1, levels={"age": 0, "sex": 0}, epsilon=3),
    "perturbation": lambda _: sd.reconstruct.perturb([30, 41, 27, 52], bounds=(17, 90), k=2),
    "weights": lambda _: sd.reweight.fit(np.linspace(0, 1, 200), np.linspace(0, 1, 9), epsilon=1, bounds=[(0, 1)]),
    "cluster": lambda folder: release_in_cluster(
        ClusterTable(sd.Domain(cell=sd.Line(8)), Unit(), InProcessStore(np.array([2]), np.array([9]))),
        folder / "out",
        epsilon=1,
    ),
}


@pytest.mark.parametrize("kind", RELEASES)
def test_a_python_call_says_that_no_ledger_counts_it(kind, tmp_path):
    made = RELEASES[kind](tmp_path)
    assert made.guarantee.in_no_ledger
    assert str(made.guarantee).endswith("; in no ledger")
    assert made.guarantee.to_json()["in_no_ledger"] is True
    assert Guarantee.from_json(made.guarantee.to_json()) == made.guarantee
    assert "in no ledger" in repr(made) or "in_no_ledger=True" in repr(made)
    assert "counted in the publisher's ledger" not in page(made.guarantee)


def page(guarantee):
    from sudare.render.promise import basis_section

    return str(basis_section(guarantee, Words("en")))


def test_the_card_says_it_in_the_reader_s_language(monkeypatch):
    made = RELEASES["table"](None)
    assert "In no ledger" in made._repr_html_()
    monkeypatch.setattr("sudare.language.catalogue.current_language", lambda: Words("ja"))
    assert "台帳に記録されていません" in made._repr_html_()


def test_a_seeded_release_has_nothing_to_be_counted():
    made = sd.release(sd.CountTable.from_array(COUNTS), epsilon=1, seed=1)
    assert not made.guarantee.in_no_ledger
    assert "no ledger" not in str(made.guarantee)


def test_what_a_ledger_has_counted_is_in_one(tmp_path):
    made = RELEASES["table"](None)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", epsilon=2)
    entry = ledger.spend("people", made.guarantee, "one")
    assert "in_no_ledger" not in entry.content["guarantee"]
    assert "no ledger" not in entry.content["guarantee"]["text"]


def test_a_guarantee_written_before_is_read_as_it_was():
    data = Guarantee("epsilon-DP", epsilon=1).to_json()
    assert "in_no_ledger" not in data
    assert not Guarantee.from_json(data).in_no_ledger


def test_what_is_published_is_in_a_ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(PEOPLE, tmp_path / "people.csv")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'dataset = "people"\nkind = "table"\n[data]\npath = "people.csv"\n[domain.sex]\ntype = "categories"\n'
        'values = ["f", "m"]\n[privacy]\nepsilon = 1\n[output]\nfolder = "out"\n[ledger]\n'
        'path = "ledger.sqlite"\ncap = { epsilon = 3 }\n'
    )
    made = sd.publish(recipe)
    assert not made.release.guarantee.in_no_ledger
    assert "no ledger" not in str(made.certificate)
    assert sd.verify(tmp_path / "out").ok
