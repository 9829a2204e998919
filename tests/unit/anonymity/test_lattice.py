"""The normalized certainty penalty, and the paper's example of it."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.anonymity import Hierarchy
from sudare.anonymity.lattice import penalty, record_penalty
from sudare.errors import ParameterError


def node(tree: Hierarchy, label: str) -> int:
    return tree.labels.index(label)


def test_the_papers_example(age: Hierarchy, work: Hierarchy) -> None:
    """[10s-20s, Government] is 2/6 + 3/6 = 5/6."""
    cells = np.array([[node(age, "10s-20s"), node(work, "Government")]])
    assert record_penalty([age, work], cells) == pytest.approx([5 / 6])


def test_a_single_leaf_in_the_literature_and_in_the_paper(age: Hierarchy) -> None:
    cells = np.array([node(age, "30s"), node(age, "*")])
    assert penalty(age, cells).tolist() == [0.0, 1.0]
    assert penalty(age, cells, "share") == pytest.approx([1 / 6, 1.0])
    with pytest.raises(ParameterError, match="unknown way to count a single leaf"):
        penalty(age, cells, "none")


def test_ranges_count_their_leaves() -> None:
    tree = Hierarchy.from_widths(0, 100, 10)
    assert penalty(tree, tree.runs(np.array([2, 4]), np.array([4, 4]))) == pytest.approx([0.3, 0.0])
