"""The experiment of Matsumoto, Matsui and Terada at a small size: its sheets, figures and what it refuses."""

import csv
import json

import numpy as np
import pytest

from papers_in_words import untranslated
from sudare.domain import CountTable
from sudare.errors import OutputError, ParameterError
from sudare.language.messages import Progress, Stage, lines
from sudare.papers.sparse_l2 import CONTENDERS, EPSILONS, bump, reproduce


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = np.random.default_rng(1)
    country = CountTable.from_array(np.where(rng.random((64, 64)) < 0.05, rng.integers(1, 3000, (64, 64)), 0))
    stages = []
    result = reproduce(
        tmp_path_factory.mktemp("paper") / "new",
        progress=stages.append,
        sides=(16, 32),
        runs=2,
        data=(country, "a test's country"),
    )
    return result, stages


def test_the_bump_has_the_papers_share_of_populated_cells():
    for side in (64, 256):
        table = bump(side)
        assert len(table) / side**2 == pytest.approx(0.033, abs=0.001)
        assert table.count.max() == 1000
    array = bump(64).to_array()
    assert array[32, 32] == 1000
    assert np.array_equal(array[1:, 1:], array[1:, 1:][::-1, ::-1])


def test_every_table_of_the_paper_has_a_sheet_and_a_file(made):
    result, _ = made
    assert [sheet.name for sheet in result.sheets] == [
        "table1",
        "table2",
        "table3",
        "table4",
        "ranges",
    ]
    for sheet, path in zip(result.sheets, result.files, strict=False):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0] == list(sheet.header)
        assert len(rows) == 1 + len(sheet.rows)
        assert sheet.text_rows()
    drawn = [path for path in result.files if path.suffix == ".png"]
    assert {path.stem for path in drawn} >= {"maps", "ranges_epsilon_0.1", "japan", "ranges_japan"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def test_the_papers_numbers_stand_beside_ours(made):
    table = made[0].sheets[0]
    assert table.header == ("method", "epsilon", "paper", "here, float noise", "here/paper", "here, whole noise")
    assert len(table.rows) == len(CONTENDERS) * len(EPSILONS)
    by_name = {(row[0], row[1]): row for row in table.rows}
    assert by_name["Proposed", 0.1][2] == 4.3133
    assert by_name["LM", 10.0][2] == 0.5069
    for name, epsilon, paper, ours, ratio, whole in table.rows:
        assert whole >= 0
        if paper is not None:
            assert ratio == pytest.approx(ours / paper), (name, epsilon)
    assert by_name["Negative l2, auto (Sudare)", 1.0][2:5] == (None, None, None)


def test_times_are_for_a_hundred_runs_with_and_without_tuning(made):
    times = {(row[0], row[1]): row for row in made[0].sheets[2].rows}
    assert {cells for _, cells in times} == {256, 1024}
    assert times["Proposed, with tuning", 256][3] > times["Proposed", 256][3] > 0
    assert ("Simplex, with tuning", 256) not in times


def test_the_result_is_json_and_says_what_it_ran_on(made):
    result, stages = made
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["basis"] == "a test's country"
    assert "a test's country" in lines(result.facts)["data"]
    assert not untranslated(result)
    assert Progress(Stage.EXPERIMENT, 1, 27, "epsilon 0.1, Proposed") in stages
    assert {row[3] for row in result.sheets[4].rows} >= {"0", "all"}  # figure 6 has a bar for all cells
    assert any(progress.stage is Stage.DRAWING for progress in stages)


@pytest.mark.parametrize("side", [0, 1, 48, 64.0])
def test_a_grid_that_is_no_power_of_two_is_refused(side):
    with pytest.raises(ParameterError, match="not a power of two"):
        bump(side)


def test_wrong_runs_and_folders_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="runs is not a whole number"):
        reproduce(tmp_path, runs=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="the folder cannot be made"):
        reproduce(tmp_path / "file", sides=(2,), runs=1, data=(bump(8), "a bump"))
