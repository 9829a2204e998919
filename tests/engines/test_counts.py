"""Records that are counts already."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow
import pytest

import sudare as sd
from sudare.domain import CountTable, Domain, Line
from sudare.errors import InputError, ParameterError, SudareError, TableError
from sudare.privacy import Fact, Unit

LINE = Domain(place=Line(8))


@pytest.mark.parametrize(
    "kind", [pyarrow.int8(), pyarrow.uint64(), pyarrow.float32(), pyarrow.float64(), pyarrow.decimal128(9, 2)]
)
def test_whole_numbers_of_any_type_are_counts(records: Any, kind: pyarrow.DataType) -> None:
    counts = pyarrow.array([4, 0, 9]).cast(pyarrow.int8()).cast(kind)
    table = records({"place": [5, 1, 2], "n": counts}).table(LINE, unit=Unit("household"))
    assert table == CountTable(LINE, [2, 5], [9, 4], Unit("household", counted_elsewhere=True))


def test_large_counts_are_exact(records: Any) -> None:
    assert records({"place": [1], "n": [2**62]}).table(LINE).total == 2**62
    assert records({"place": [1], "n": [2**53 + 1]}).table(LINE).total == 2**53 + 1


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([1, -7123], "a count is negative (allowed: whole numbers >= 0)"),
        ([1, 7123.5], "a count is not a whole number somewhere (allowed: whole numbers)"),
        ([1, float("nan")], "a count is missing (NaN) somewhere (allowed: whole numbers)"),
        ([1, None], "a count is missing somewhere (allowed: whole numbers)"),
        ([1, float("inf")], "a count is too large (allowed: at most 2**62)"),
        ([1, 2**62], "the counts are too large (allowed: a total of at most 2**62)"),
        (
            pyarrow.array([1, 2**64 - 1], pyarrow.uint64()),
            "the counts are too large (allowed: a total of at most 2**62)",
        ),
        ([Decimal("1.00"), Decimal("0.25")], "a count is not a whole number somewhere (allowed: whole numbers)"),
    ],
)
def test_what_is_no_count_is_refused_without_it(records: Any, counts: Any, sentence: str) -> None:
    with pytest.raises(TableError) as refusal:
        records({"place": [1, 2], "n": counts}).table(LINE)
    assert str(refusal.value) == sentence


def test_a_cell_that_appears_twice_is_refused(records: Any) -> None:
    held = records({"place": [3, 3], "n": [71, 23]})
    for outside in ("error", "drop", "clamp"):
        with pytest.raises(TableError, match=r"^a cell appears twice"):
            held.table(LINE, outside=outside)


def test_counts_of_points_are_added_up(records: Any) -> None:
    domain = Domain(place=sd.LatLon(step=0.5, window=(-1, 50, 1, 52)))
    points = {"lat": [51.1, 51.2, 51.3, 70.0], "lon": [-0.1, -0.2, 0.3, 0.0], "n": [4, 5, 6, 7]}
    columns = {"place": ("lat", "lon")}
    table = records(points).table(domain, columns, outside="drop", unit=Unit("pick-up"))
    assert sorted(table.count.tolist()) == [6, 9]
    found = records(points).examine(domain, columns, counts="n", outside="drop")
    assert (found.fitting, [each.code.value for each in found.misfits]) == (3, ["outside"])
    for wrong in (-1, 0.5):
        with pytest.raises(TableError):
            records(points | {"n": [4, wrong, 6, 7]}).table(domain, columns, outside="drop")
    codes = {"place": ["N51.0W000.5", "N51.0W000.5"], "n": [71, 23]}
    with pytest.raises(TableError, match=r"^a cell appears twice"):
        records(codes).table(domain)


def test_rows_outside_the_domain(records: Any) -> None:
    held = records({"place": [0, 7, 7123, -5, None], "n": [1, 2, 4, 8, 16]})
    with pytest.raises(InputError) as refusal:
        held.table(LINE)
    assert str(refusal.value).startswith("some rows lie outside the domain: place (from column 'place').")
    assert held.table(LINE, outside="drop").to_array().tolist() == [1, 0, 0, 0, 0, 0, 0, 2]
    assert held.table(LINE, outside="clamp").to_array().tolist() == [9, 0, 0, 0, 0, 0, 0, 6]


def test_what_is_clamped_must_be_a_count_too(records: Any) -> None:
    for wrong in (-1.0, 0.5, float("nan")):
        with pytest.raises(TableError):
            records({"place": [1, 99], "n": [1.0, wrong]}).table(LINE, outside="clamp")
    with pytest.raises(TableError, match="too large"):
        records({"place": [7, 99], "n": [2**62, 2**62]}).table(LINE, outside="clamp")


def test_masked_cells_take_no_counts(records: Any) -> None:
    masked = Domain(place=Line(3, mask=[True, True, False]))
    held = records({"place": [1, 2, 9], "n": [5, 6, 7]})
    assert held.table(masked, outside="drop").total == 5
    assert held.table(masked, outside="clamp").total == 5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"count": "m"}, "there is no such column for the counts (got 'm'; allowed: place, n, word)"),
        (
            {"count": "word"},
            "the column 'word' has a type that the counts cannot be read from (got 'VARCHAR'; allowed: whole numbers)",
        ),
        ({"unit": "person"}, "unit is not a Unit (got 'person'). Write unit=Unit(\"person\")."),
    ],
)
def test_mistakes(records: Any, arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SudareError) as refusal:
        records({"place": [1], "n": [1], "word": ["a"]}).table(LINE, **arguments)
    assert str(refusal.value) == sentence
    assert isinstance(refusal.value, InputError | ParameterError)


def test_what_one_count_is_must_be_declared_before_it_is_released(records: Any) -> None:
    """It was called a "row", which in such a file is a cell."""
    held = records({"place": [5, 1], "n": [100, 7]})
    with pytest.raises(ParameterError, match="does not say what one count is"):
        sd.release(held.table(LINE), epsilon=1)
    assert sd.release(held.table(LINE), epsilon=1, seed=1).guarantee.notion == "none: seeded"
    made = sd.release(held.table(LINE, unit=Unit("household", max_rows=3)), epsilon=1).guarantee
    assert str(made.unit) == "household counted at most 3 times"
    assert made.assumptions == (Fact("counted", unit="household", rows=3),)
