"""Hierarchies: where they come from, what they check, and the cells they publish."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sudare.anonymity import Hierarchy
from sudare.errors import InputError, ParameterError


def labels(tree: Hierarchy, level: int) -> list[str | None]:
    return [tree.label(int(cell)) for cell in tree.level(level)]


def test_nested_dicts_may_be_uneven(work: Hierarchy) -> None:
    assert work.leaves == ("Local", "State", "Federal", "Self-inc", "Self-not-inc", "Private")
    assert work.height == 2
    assert labels(work, 1) == ["Government"] * 3 + ["Self"] * 2 + ["Private"]
    assert labels(work, 2) == ["*"] * 6


def test_one_key_is_the_root_itself() -> None:
    tree = Hierarchy.from_nested({"anyone": {"young": [1, 2], "old": [3.0]}})
    assert labels(tree, 2) == ["anyone"] * 3
    assert tree.leaves == ("1", "2", "3")
    assert tree.ordered


def test_levels_are_nested_whatever_the_depths() -> None:
    tree = Hierarchy.from_nested({"a": {"b": {"c": ["d", "e"]}, "f": ["g"]}, "h": None})
    for below, above in zip(tree.table[:-1], tree.table[1:], strict=True):
        for node in np.unique(below):
            assert len(np.unique(above[below == node])) == 1
    assert (tree.table[-1] == 0).all()


def test_rows_with_the_leaf_first() -> None:
    tree = Hierarchy.from_rows([["1", "0-4", "*"], ["7", "5-9", "*"], ["2", "0-4", "*"]])
    assert tree.leaves == ("1", "2", "7")
    assert labels(tree, 1) == ["0-4", "0-4", "5-9"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["1", "a", "*"], ["1", "b", "*"]], "a hierarchy has the same leaf twice (got '1')"),
        ([["1", "a", "x"], ["2", "a", "y"]], "a value of level 1 of a hierarchy leads to two groups (got 'a'"),
        ([["1", "a", "x"], ["2", "b", "y"]], "the leaves of a hierarchy do not reach one root (got ['x', 'y'])"),
        ([["1", "a", "*"], ["2", "*"]], "row 2 of a hierarchy has another number of levels than the first (got 2"),
        ([["", "*"]], "a hierarchy holds an empty label"),
        ([[None, "*"]], "a hierarchy holds a missing value"),
        ([], "a hierarchy has no leaf"),
    ],
)
def test_rows_that_are_no_tree(rows: list[list[str]], message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        Hierarchy.from_rows(rows)
    assert str(refused.value).startswith(message)


def test_the_same_leaf_twice_in_nested_dicts() -> None:
    with pytest.raises(ParameterError, match="the same leaf twice"):
        Hierarchy.from_nested({"a": ["x"], "b": ["x"]})


def test_what_cannot_be_a_hierarchy() -> None:
    for given in (7, None, {"a": 3}, []):
        with pytest.raises(ParameterError):
            Hierarchy.of(given)


def test_csv_with_byte_order_mark_and_spaces(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_bytes("\ufeff17;10-19;*\n 23 ;20-29;*\n\n25;20-29;*\n".encode())
    assert Hierarchy.of(str(path)).leaves == ("17", "23", "25")
    assert Hierarchy.of(path).height == 2


def test_csv_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such hierarchy file"):
        Hierarchy.from_csv(tmp_path / "none.csv")
    path = tmp_path / "comma.csv"
    path.write_text("17,10-19,*\n")
    with pytest.raises(InputError, match="one column only"):
        Hierarchy.from_csv(path)
    assert Hierarchy.from_csv(path, delimiter=",").leaves == ("17",)


def test_widths_are_nested_and_cut_off_at_the_ends() -> None:
    tree = Hierarchy.from_widths(17, 91, 1, 5, 10)
    assert tree.leaves[:3] == ("17", "18", "19")
    assert labels(tree, 1)[:4] == ["17-19", "17-19", "17-19", "20-24"]
    assert labels(tree, 2)[-1] == "90"
    assert tree.locate(["17", "90", "16.99", "91", "x", None, "nan"]).tolist() == [0, 73, -1, -1, -1, -1, -1]


def test_widths_that_are_no_doubles() -> None:
    tree = Hierarchy.from_widths(0, 1, 0.1, 0.5)
    assert len(tree.leaves) == 10
    assert labels(tree, 1)[4:6] == ["[0, 0.5)", "[0.5, 1)"]
    assert tree.locate(["0.3"]).tolist() == [3]


def test_edges_that_differ_late_have_different_labels() -> None:
    assert Hierarchy.from_intervals([0.1234567, 0.1234568, 2]).leaves == ("[0.1234567, 0.1234568)", "[0.1234568, 2)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 10, 2, 5), "a width is not a multiple of the one before"),
        ((0, 10), "widths are not positive numbers"),
        ((0, 10, -1), "widths are not positive numbers"),
        ((10, 10, 1), "an interval has no width"),
    ],
)
def test_widths_that_do_not_fit(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Hierarchy.from_widths(*arguments)


def test_edges_that_do_not_fit() -> None:
    with pytest.raises(ParameterError, match="not finite numbers in rising order"):
        Hierarchy.from_intervals([0, 2, 1])
    with pytest.raises(ParameterError, match="not among those of the level below"):
        Hierarchy.from_intervals([0, 1, 2], [0, 1.5, 2])


def test_a_level_that_is_not_there(work: Hierarchy) -> None:
    for level in (3, -1, True, 1.0):
        with pytest.raises(ParameterError, match="no such level"):
            work.level(level)  # type: ignore[arg-type]  # wrong on purpose


def test_cover_is_the_lowest_node_above_both(work: Hierarchy) -> None:
    low, high = np.array([0, 0, 2, 3, 5]), np.array([0, 2, 3, 4, 5])
    assert [work.label(int(node)) for node in work.cover(low, high)] == ["Local", "Government", "*", "Self", "Private"]


def test_runs_of_ordered_leaves_have_labels_and_spans() -> None:
    tree = Hierarchy.from_widths(0, 100, 5)
    cells = tree.runs(np.array([3, 4]), np.array([3, 6]))
    assert [tree.label(int(cell)) for cell in cells] == ["15-19", "20-34"]
    low, high = tree.spans(np.concatenate([cells, [0]]))
    assert low.tolist() == [3, 4, 0]
    assert high.tolist() == [4, 7, 20]
    numbers = Hierarchy.from_nested(["17", "23", "40"])
    assert numbers.label(int(numbers.runs(np.array([0]), np.array([1]))[0])) == "17-23"


def test_a_leaf_for_missing_values(work: Hierarchy) -> None:
    tree = work.with_missing()
    assert tree.leaves[-1] is None
    assert tree.locate([None, "Private"]).tolist() == [6, 5]
    assert labels(tree, 1)[-1] is None
    assert labels(tree, 2)[-1] == "*"
    assert tree.with_missing() is tree
    ages = Hierarchy.from_widths(0, 10, 5).with_missing()
    assert ages.locate([None, "7"]).tolist() == [2, 1]
    assert not ages.ordered
    with pytest.raises(ParameterError, match="one value"):
        Hierarchy(("*",), np.array([-1])).with_missing()


def test_hierarchies_of_arx(data_folder: Path) -> None:
    folder = data_folder / "adult" / "arx-hierarchies"
    heights = {path.stem.removeprefix("adult_hierarchy_"): Hierarchy.from_csv(path) for path in folder.glob("*.csv")}
    assert len(heights) == 9
    assert heights["age"].height == 4
    assert heights["age"].ordered
    assert not heights["education"].ordered
    assert len(heights["native-country"].leaves) == 41
