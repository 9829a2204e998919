"""Distinct tuples and columns of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sudare.engines import Records
from sudare.errors import InputError, ParameterError

Make = Callable[[dict[str, Any]], Records]
PEOPLE = {
    "person": [1, 1, 1, 2, 3, None],
    "age": [30, 30, 41, 41, None, 41],
    "town": ["b", "b", "a", "a", "a", None],
    "weight": [60.0, 60.0, 71.5, 71.5, 50.0, 50.0],
}


def listed(records: Records, columns: list[str], **options: Any) -> dict[tuple[str | None, ...], int]:
    found = records.groups(columns, **options)
    assert found.codes.dtype == np.int32
    assert (np.lexsort(found.codes.T[::-1]) == np.arange(len(found.codes))).all()
    labels = [tuple(found.labels[place][code] for place, code in enumerate(row)) for row in found.codes.tolist()]
    return dict(zip(labels, found.rows.tolist(), strict=True))


def test_tuples_with_their_rows(records: Make) -> None:
    assert listed(records(PEOPLE), ["age", "town"]) == {
        ("30", "b"): 2,
        ("41", "a"): 2,
        (None, "a"): 1,
        ("41", None): 1,
    }
    # Numbers are written as a person writes them.
    assert set(listed(records(PEOPLE), ["weight"])) == {("60",), ("71.5",), ("50",)}


def test_with_a_unit_each_person_has_one_row(records: Make) -> None:
    seen = set()
    for key in range(40):
        found = listed(records(PEOPLE), ["age"], unit="person", key=key.to_bytes(16, "big"), missing_unit="drop")
        assert sum(found.values()) == 3
        seen.add(tuple(sorted(found.items(), key=str)))
    # The first person's row is 30 (two rows of three) or 41 (one).
    assert len(seen) == 2


def test_the_choice_of_rows_is_fair_and_does_not_depend_on_their_order(records: Make) -> None:
    rows = {"person": [*range(300)] * 3, "age": [1] * 300 + [2] * 300 + [3] * 300}
    turned = {name: column[::-1] for name, column in rows.items()}
    keys = [number.to_bytes(16, "big") for number in range(2)]
    ours, theirs, other = (
        records(held).groups(["person", "age"], unit="person", key=key)
        for held, key in ((rows, keys[0]), (turned, keys[0]), (rows, keys[1]))
    )
    assert len(ours.rows) == 300
    assert ours.codes.tolist() == theirs.codes.tolist() != other.codes.tolist()
    # Three rows of each person, equally likely: a count of 100 is off by 45 once in 1e7 (binomial).
    assert all(abs(count - 100) < 45 for count in np.bincount(ours.codes[:, 1], minlength=3))


def test_values_are_arrays_of_one_order(records: Make) -> None:
    found = records(PEOPLE).values(["weight", "town", "age"])
    rows = sorted(zip(found["weight"].tolist(), found["town"].tolist(), found["age"].tolist(), strict=True), key=str)
    assert found["weight"].dtype == np.float64
    assert found["age"].dtype == np.float64
    assert [row[:2] for row in rows] == [(50.0, "a"), (50.0, None), (60.0, "b"), (60.0, "b"), (71.5, "a"), (71.5, "a")]
    assert np.isnan(found["age"]).sum() == 1
    assert len(records(PEOPLE).values(["age"], unit="person", max_rows=2, missing_unit="drop")["age"]) == 4


def test_mistakes(records: Make) -> None:
    with pytest.raises(InputError, match=r"no such column.*did you mean|Did you mean"):
        records(PEOPLE).groups(["agee"])
    with pytest.raises(ParameterError, match="named twice"):
        records(PEOPLE).groups(["age", "age"])
    with pytest.raises(ParameterError, match="columns are missing"):
        records(PEOPLE).values([])
