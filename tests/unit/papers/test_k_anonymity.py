"""The paper on k-anonymity, on a small stand-in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from papers_in_words import untranslated
from sudare.anonymity.lattice import Tuples, penalty
from sudare.errors import InputError, OutputError, ParameterError
from sudare.language.messages import lines
from sudare.papers import data as adult
from sudare.papers import k_anonymity as paper
from sudare.papers.k_anonymity_figures import cut_tree


@pytest.fixture(scope="module")
def small() -> tuple[Tuples, str]:
    """Few records over the paper's trees."""
    generator = np.random.default_rng(1)
    codes = np.stack([generator.binomial(len(tree.leaves) - 1, 0.3, 4000) for tree in adult.TREES.values()], axis=1)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    trees = tuple(adult.TREES.values())
    return Tuples(tuple(adult.TREES), trees, distinct.astype(np.int32), counts.astype(np.int64)), "few invented records"


@pytest.fixture(scope="module")
def made(small: tuple[Tuples, str], tmp_path_factory: pytest.TempPathFactory) -> paper.KAnonymityReproduction:
    return paper.reproduce(tmp_path_factory.mktemp("paper"), data=small, runs=3)


def test_the_papers_numbers_stand_beside_ours(made: paper.KAnonymityReproduction) -> None:
    table, nearest, explanations, plain, cuts, utility = made.sheets
    assert len(table.rows) == 9
    assert table.rows[2][:4] == (0.2, 10, 1.0252, 0.0331)
    assert all(row[6] >= -np.log1p(-row[0]) - 1e-12 for row in table.rows if not np.isnan(row[6]))
    assert explanations.header[3:] == tuple(paper.VARIANTS)
    assert [row[0] for row in plain.rows] == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    assert [row[4] for row in nearest.rows] == pytest.approx([row[3] / row[2] for row in nearest.rows], nan_ok=True)
    assert cuts.rows[0][:2] == (5, "10s-20s, 30s, 40s, 50s, 60s")
    assert {row[3] for row in utility.rows} == {"k-anonymous sample", "Laplace", "Tree"}
    assert all(0 < row[4] <= row[5] for row in utility.rows)  # two attributes are harder than one


def test_a_tree_is_drawn_with_its_cut() -> None:
    """Published nodes are filled; the branches below them, and no others, are dashed."""
    spec = cut_tree(adult.PRINTED_TREES["age"], paper.PRINTED_CUTS[10], title="2.3")
    branches, nodes, _ = (layer["data"]["values"] for layer in spec["layer"])
    assert [node["label"] for node in nodes if node["published"]] == ["10s-20s", "30s", "40s", "50s-60s"]
    below = {(branch["x"], branch["y"]) for branch in branches if branch["below"]}
    assert {node["label"] for node in nodes if (node["x"], node["y"]) in below} == {"10s", "20s", "50s", "60s"}


def test_figure_2_1_has_six_leaves_each(small: tuple[Tuples, str]) -> None:
    """NCP of [10s-20s, Government] is 2/6 + 3/6, as the paper says."""
    trees = adult.PRINTED_TREES
    assert {name: len(tree.leaves) for name, tree in trees.items()} == {"age": 6, "workclass": 6}
    nodes = {"age": "10s-20s", "workclass": "Government"}
    shares = [penalty(tree, np.array([tree.labels.index(nodes[name])]))[0] for name, tree in trees.items()]
    assert shares == pytest.approx([2 / 6, 3 / 6])
    kept = adult.six_leaves(small[0])
    assert 0 < kept.total < small[0].total


def test_it_says_what_it_ran_on(made: paper.KAnonymityReproduction) -> None:
    facts = lines(made.facts)
    assert "few invented records" in facts["data"]
    assert "no guarantee" in facts["what epsilon is"]
    assert not untranslated(made)
    assert json.loads(json.dumps(made.to_json()))["runs"] == 3
    assert {path.name for path in made.files if ".ja." not in path.name} == {
        "table4_1.csv",
        "nearest.csv",
        "figures2_2_and_2_3.csv",
        "utility.csv",
        "explanations.csv",
        "proposition_1.csv",
        "2_2_and_2_3_age.png",
        "4_1_record_counts.png",
        "4_2_epsilon_by_rate.png",
        "4_3_epsilon_by_k.png",
    }
    assert all(path.stat().st_size > 0 for path in made.files)


def test_runs_are_repeatable(small: tuple[Tuples, str], made: paper.KAnonymityReproduction) -> None:
    again = paper._outcome(small[0], 3, paper.SETTINGS[0])
    assert again.epsilons.tolist() == made.outcomes[0].epsilons.tolist()


def test_mistakes(small: tuple[Tuples, str], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="runs is not a whole number"):
        paper.reproduce(tmp_path, data=small, runs=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="the folder cannot be made"):
        paper.reproduce(tmp_path / "file" / "folder", data=small, runs=1)


def test_a_stand_in_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    tuples, basis = adult.adult_tuples()
    assert str(basis) == "an invented stand-in, no real data"
    assert tuples.total == adult.RECORDS


def test_files_that_are_not_adult(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import gzip

    folder = tmp_path / "adult"
    folder.mkdir()
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    row = ["39", "Pilot", *["0"] * 12, "<=50K"]
    for name in adult.FILES:
        with gzip.open(folder / name, "wt") as file:
            file.write(", ".join(row) + "\n")
    with pytest.raises(InputError, match="values that the trees do not have"):
        adult.adult_tuples()
    (folder / adult.FILES[0]).write_bytes(b"no gzip")
    with pytest.raises(InputError, match="the Adult file cannot be read"):
        adult.adult_tuples()


def test_adult_has_its_complete_records(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDARE_DATA", str(data_folder))
    tuples, basis = adult.adult_tuples()
    assert (tuples.total, basis.key) == (adult.RECORDS, "paper.basis.adult")


def test_outputs_that_could_be_specialised_further() -> None:
    """The paper's example: [30s-40s] with three kinds of work, each with 2k records."""
    age, work = adult.TREES["age"], adult.TREES["workclass"]
    thirties = age.labels.index("30s-40s")
    kinds = [work.labels.index(label) for label in ("Government", "Self", "Private")]
    cells = np.array([[thirties, kind] for kind in kinds])
    assert paper.excluded([age, work], cells, np.array([20, 20, 20]), k=10)
    # One class short for the decades; Government has three children, Self two.
    assert not paper.excluded([age, work], cells, np.array([29, 19, 50]), k=10)
    assert paper.excluded([age, work], cells, np.array([30, 19, 50]), k=10)
