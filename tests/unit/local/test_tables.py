"""Rows with labels."""

import pytest

from sudare.errors import InputError
from sudare.local import SquareWave, SymmetricUnary, estimate
from sudare.local.estimation import named_rows, read_labels


def test_labels(tmp_path):
    (tmp_path / "labels.txt").write_text("渋谷\nmain, street\n")
    made = estimate(SymmetricUnary(size=2, epsilon=2).randomize([0, 0, 1]))
    rows = named_rows(made, read_labels(tmp_path / "labels.txt", 2))
    assert [row.label for row in rows] == ["渋谷", "main, street"]
    assert rows[0].people == made.counts[0]
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
