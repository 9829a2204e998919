"""Rows with labels."""

import pytest

from sudare.errors import InputError, OutputError
from sudare.local import SquareWave, SymmetricUnary, estimate
from sudare.local.estimation import named_rows, read_labels, write_csv


def test_labels_and_csv(tmp_path):
    (tmp_path / "labels.txt").write_text("渋谷\nmain, street\n")
    made = estimate(SymmetricUnary(size=2, epsilon=2).randomize([0, 0, 1]))
    rows = named_rows(made, read_labels(tmp_path / "labels.txt", 2))
    written = write_csv(rows, tmp_path / "out.csv").read_text().splitlines()
    assert written[0] == "label,people,standard_error,low,high"
    assert written[1].startswith(f"渋谷,{made.counts[0]}")
    assert written[2].startswith('"main, street",')
    assert [row.label for row in named_rows(made)] == ["0", "1"]


def test_cells_of_numbers_are_their_own_labels():
    made = estimate(SquareWave(size=2, epsilon=2, low=0, high=5).randomize([0, 1, 5]))
    assert [row.label for row in named_rows(made)] == ["0 to 2.5", "2.5 to 5"]


def test_mistakes(tmp_path):
    (tmp_path / "labels.txt").write_text("one\n")
    with pytest.raises(InputError, match="the labels do not fit the survey"):
        read_labels(tmp_path / "labels.txt", 2)
    with pytest.raises(InputError, match="the labels cannot be read"):
        read_labels(tmp_path / "none.txt", 2)
    with pytest.raises(OutputError, match="the counts cannot be written"):
        write_csv([], tmp_path / "none" / "out.csv")
