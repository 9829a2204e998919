"""At most max_rows rows of each unit: the rule of `Bound`, word for word, and its law."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow
import pytest
from scipy import stats

from sudare.domain import Bins, Categories, Domain, Line
from sudare.errors import InputError
from sudare.privacy import Unit

KEY = bytes(range(16))
LINE = Domain(place=Line(10))


def by_the_rule(people: list[Any], cells: list[int], max_rows: int, key: bytes) -> Counter[int]:
    """What the docstring of `Bound` says, in plain Python."""
    rows: dict[Any, list[tuple[str, int, int]]] = defaultdict(list)
    seen: Counter[tuple[Any, int]] = Counter()
    for person, cell in zip(people, cells, strict=True):
        seen[person, cell] += 1
        text = f"{key.hex()}/{cell}/{seen[person, cell]}/{person}"
        rows[person].append((hashlib.md5(text.encode()).hexdigest(), cell, seen[person, cell]))  # noqa: S324
    return Counter(cell for own in rows.values() for _, cell, _ in sorted(own)[:max_rows])


def as_counter(table: Any) -> Counter[int]:
    return Counter(dict(zip(table.index.tolist(), table.count.tolist(), strict=True)))


@pytest.mark.parametrize("max_rows", [1, 2, 3, 7])
@pytest.mark.parametrize("ids", ["number", "text"])
def test_rows_are_chosen_by_the_rule(records: Any, max_rows: int, ids: str) -> None:
    random = np.random.default_rng(1)
    numbers = random.integers(0, 160, 400).tolist()  # some have one row, most two or three, a few many
    people = numbers if ids == "number" else [f"person/{number} é" for number in numbers]
    cells = random.integers(0, 10, 400).tolist()
    table = records({"who": people, "place": cells}).count(LINE, unit="who", max_rows=max_rows, key=KEY)
    assert as_counter(table) == by_the_rule(people, cells, max_rows, KEY)
    assert table.unit == Unit("person", max_rows)


def test_the_key_decides(records: Any) -> None:
    people, cells = [1] * 10 + [2] * 10, [*range(10), *range(10)]
    chosen = {
        tuple(records({"who": people, "place": cells}).count(LINE, unit="who", key=bytes([number] * 16)).index)
        for number in range(8)
    }
    assert len(chosen) > 1


def test_a_fresh_key_is_drawn_each_time(records: Any) -> None:
    # 20 people with 10 places each, which the table shows one by one: two draws agree with probability 1e-20.
    people, cells = np.repeat(np.arange(20), 10), np.tile(np.arange(10), 20)
    domain = Domain(who=Line(20), place=Line(10))
    held = records({"who": people, "place": cells, "id": people})
    assert held.count(domain, unit="id") != held.count(domain, unit="id")


@pytest.mark.parametrize("max_rows", [1, 2])
def test_the_order_of_rows_does_not_matter(records: Any, max_rows: int) -> None:
    random = np.random.default_rng(2)
    people, cells = random.integers(0, 500, 3000), random.integers(0, 10, 3000)
    tables = []
    for _ in range(3):
        order = random.permutation(people.size)
        held = records({"who": people[order], "place": cells[order]})
        tables.append(held.count(LINE, unit="who", max_rows=max_rows, key=KEY))
    assert len({table.index.tobytes() + table.count.tobytes() for table in tables}) == 1


def test_the_type_of_the_unit_does_not_matter(records: Any) -> None:
    random = np.random.default_rng(3)
    people, cells = random.integers(0, 50, 300), random.integers(0, 10, 300)
    kinds = [pyarrow.int32(), pyarrow.uint64(), pyarrow.float64(), pyarrow.decimal128(20, 2), pyarrow.string()]
    tables = [
        records({"who": pyarrow.array(people).cast(pyarrow.int32()).cast(kind), "place": cells}).count(
            LINE, unit="who", key=KEY
        )
        for kind in kinds
    ]
    assert all(table == tables[0] for table in tables)


@pytest.mark.parametrize("max_rows", [1, 2, 5])
def test_nobody_has_more_rows_than_allowed(records: Any, max_rows: int) -> None:
    # Each person has cells of their own, so that the table shows how many rows of each were kept.
    random = np.random.default_rng(4)
    people = random.integers(0, 40, 600)
    domain = Domain(who=Line(40), place=Line(8))
    held = records({"who": people, "place": random.integers(0, 8, 600), "id": people})
    kept = held.count(domain, unit="id", max_rows=max_rows).to_array().sum(axis=1)
    assert kept.tolist() == np.minimum(np.bincount(people, minlength=40), max_rows).tolist()


def test_rows_in_one_cell_count_up_to_the_limit(records: Any) -> None:
    held = records({"who": [1, 1, 1, 2], "place": [4, 4, 4, 4]})
    assert held.count(LINE, unit="who", max_rows=2).count.tolist() == [3]


@pytest.mark.parametrize(("max_rows", "cells"), [(1, [0, 1, 1, 2, 3, 3, 3]), (2, [0, 1, 2, 3])])
def test_each_choice_is_equally_likely(records: Any, max_rows: int, cells: list[int]) -> None:
    # One question for 20,000 people with the same rows, each of whom is a draw of its own. False alarm: 1e-7.
    draws = 20_000
    people = np.repeat(np.arange(draws), len(cells))
    domain = Domain(who=Line(draws), place=Line(4))
    held = records({"who": people, "place": np.tile(cells, draws), "id": people})
    dense = held.count(domain, unit="id", max_rows=max_rows).to_array()
    seen = Counter(map(tuple, dense.tolist()))
    expected: Counter[tuple[int, ...]] = Counter()
    for rows in combinations(cells, max_rows):
        expected[tuple(np.bincount(rows, minlength=4).tolist())] += 1
    assert set(seen) == set(expected)
    share = draws / expected.total()
    result = stats.chisquare([seen[kept] for kept in expected], [expected[kept] * share for kept in expected])
    assert result.pvalue > 1e-7
    # The twin: had a cell been chosen instead of a row, cells with many rows would not come first.
    if max_rows == 1:
        assert stats.chisquare([seen[kept] for kept in expected]).pvalue < 1e-7


def test_only_rows_inside_the_domain_take_part(records: Any) -> None:
    held = records({"who": [1, 1, 1, 2, 3], "place": [99, None, 4, -1, 5]})
    table = held.count(LINE, unit="who", outside="drop")
    assert as_counter(table) == {4: 1, 5: 1}


@pytest.mark.parametrize("max_rows", [1, 2, 3])
def test_rows_outside_make_no_difference_to_the_choice(records: Any, max_rows: int) -> None:
    random = np.random.default_rng(6)
    people, cells = random.integers(0, 50, 400), random.integers(0, 13, 400)
    inside = cells < 10
    dropped = records({"who": people, "place": cells}).count(
        LINE, unit="who", max_rows=max_rows, outside="drop", key=KEY
    )
    alone = records({"who": people[inside], "place": cells[inside]}).count(LINE, unit="who", max_rows=max_rows, key=KEY)
    assert dropped == alone


def test_rows_without_a_unit_are_dropped_when_asked(records: Any) -> None:
    held = records({"who": [1.0, None, float("nan"), 2.5, 3.0], "place": [1, 2, 3, 4, 5]})
    assert held.count(LINE, unit="who", missing_unit="drop").index.tolist() == [1, 5]
    assert held.count(LINE, unit="who", outside="clamp", max_rows=2, missing_unit="drop").index.tolist() == [1, 5]
    for outside in ("error", "drop", "clamp"):
        with pytest.raises(InputError, match="some rows have no unit"):
            held.count(LINE, unit="who", outside=outside)


def test_large_units_stay_apart(records: Any) -> None:
    people = pyarrow.array([2**53, 2**53 + 1, 2**62 + 1, 2**62 + 2])
    assert records({"who": people, "place": [1, 1, 2, 2]}).count(LINE, unit="who").count.tolist() == [2, 2]


def test_without_a_unit_every_row_counts(records: Any) -> None:
    table = records({"place": [1, 1, 2]}).count(LINE)
    assert (table.count.tolist(), table.unit) == ([2, 1], Unit("row"))


def test_several_attributes_and_the_unit_together(records: Any) -> None:
    domain = Domain(sex=Categories(["f", "m"]), age=Bins(edges=[0, 15, 65, None]), place=Line(3))
    held = records(
        {
            "id": ["a", "a", "b", "c"],
            "sex": ["f", "f", "m", "f"],
            "years": [14.99, 14.99, 65.0, 0.0],
            "place": [2, 2, 0, 1],
        }
    )
    dense = held.count(domain, columns={"age": "years"}, unit="id", max_rows=2).to_array()
    assert {tuple(cell.tolist()): int(dense[tuple(cell)]) for cell in np.argwhere(dense)} == {
        (0, 0, 2): 2,
        (1, 2, 0): 1,
        (0, 0, 1): 1,
    }


def test_an_empty_source_is_an_empty_table(records: Any) -> None:
    nothing = {"who": pyarrow.array([], pyarrow.int64()), "place": pyarrow.array([], pyarrow.int64())}
    table = records(nothing).count(LINE, unit="who")
    assert (len(table), table.total) == (0, 0)
    assert len(records(nothing).table(LINE, count="who")) == 0
