"""The paper on k-anonymity, on a small stand-in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sudare.anonymity.tuples import Tuples
from sudare.errors import InputError, OutputError, ParameterError
from sudare.papers import data as adult
from sudare.papers import k_anonymity as paper


@pytest.fixture(scope="module")
def small() -> tuple[Tuples, str]:
    """Few records over the paper's trees."""
    generator = np.random.default_rng(1)
    codes = np.stack([generator.binomial(len(tree.leaves) - 1, 0.3, 4000) for tree in adult.TREES.values()], axis=1)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    trees = tuple(adult.TREES.values())
    return Tuples(tuple(adult.TREES), trees, distinct.astype(np.int32), counts.astype(np.int64)), "few invented records"


@pytest.fixture(scope="module")
def made(small: tuple[Tuples, str], tmp_path_factory: pytest.TempPathFactory) -> paper.Reproduction:
    return paper.reproduce(tmp_path_factory.mktemp("paper"), data=small, runs=3)


def test_the_papers_numbers_stand_beside_ours(made: paper.Reproduction) -> None:
    table, explanations, plain = made.sheets
    assert len(table.rows) == 9
    assert table.rows[2][:4] == (0.2, 10, 1.0252, 0.0331)
    assert all(row[6] >= -np.log1p(-row[0]) - 1e-12 for row in table.rows if not np.isnan(row[6]))
    assert explanations.header[3:] == tuple(paper.VARIANTS)
    assert [row[0] for row in plain.rows] == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]


def test_it_says_what_it_ran_on(made: paper.Reproduction) -> None:
    assert "few invented records" in made.facts["data"]
    assert "no guarantee" in made.facts["what epsilon is"]
    assert json.loads(json.dumps(made.to_json()))["runs"] == 3
    assert {path.name for path in made.files} == {
        "table4_1.csv",
        "explanations.csv",
        "proposition_1.csv",
        "record_counts.png",
        "epsilon_by_rate.png",
        "epsilon_by_k.png",
    }
    assert all(path.stat().st_size > 0 for path in made.files)


def test_runs_are_repeatable(small: tuple[Tuples, str], made: paper.Reproduction) -> None:
    again = next(paper._outcomes(small[0], 3, lambda _: None))
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
    assert basis == "an invented stand-in, no real records"
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
    assert (tuples.total, basis) == (adult.RECORDS, "Adult, complete records")
