"""Groups of equal rows."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.anonymity.grouping import first_rows, group, totals


@pytest.mark.parametrize("sizes", [(5, 7, 3), (10**9, 10**9, 10**9), (5, 10**7, 3)])
def test_groups_are_those_of_unique_rows(sizes: tuple[int, ...]) -> None:
    generator = np.random.default_rng(1)
    rows = np.stack([generator.choice(generator.integers(0, size, 4), 200) for size in sizes], axis=1)
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    found, groups = group(list(rows.T), sizes)
    assert groups == len(distinct)
    assert found.tolist() == inverse.ravel().tolist()
    assert (rows[first_rows(found, groups)] == distinct).all()


def test_totals_and_no_rows() -> None:
    assert totals(np.array([1, 0, 1]), 3, np.array([4, 5, 6])).tolist() == [5, 10, 0]
    found, groups = group([np.empty(0, dtype=np.int64)], [4])
    assert (len(found), groups) == (0, 0)
