"""Text has one plain form, in Python, in DuckDB and in Spark."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import Categories, Domain, Line
from sudare.domain.ids import MissingUnit, people
from sudare.domain.text import FOLDED, SPACES, UNSEEN, number, plain
from sudare.engines import read
from sudare.engines.dialect import DUCKDB
from sudare.errors import InputError

FEW = settings(max_examples=30, deadline=None)
SIGNS = "0123456789.+-eE_naifNAxX,:/'\\\"" + SPACES + FOLDED[0][:20] + "−\u3000" + UNSEEN + "éＡ東①ｱ\U0001f600"
texts = st.lists(st.one_of(st.text(SIGNS, max_size=8), st.text(max_size=6)), min_size=1, max_size=80).map(
    lambda found: [text for text in found if "\0" not in text]
)
EDGES = [
    "",
    " ",
    "1.0",
    "1.",
    "1.00 ",
    "-0.0",
    "+5.0",
    "1.0e3",
    " １．０",
    "1_0",
    "0x10",
    "1f",
    "inf",
    "-Infinity",
    "NaN",
    ".",
]
EDGES += [
    "5.",
    ".5",
    "1e",
    "1e400",
    "−3",
    "\u3000f\u3000",
    "\ufefff",
    "f\x85",
    "f\n",
    "1.0\n",
    "a.b",
    "1.2.0",
    "'\\'",
    "＇＼",
]


def agree(values: list[str], engine: str | None = None) -> None:
    """The plain form that values and tuples have, and the numbers that they are read as."""
    held = read(pyarrow.table({"text": pyarrow.array(values, pyarrow.string())}), engine=engine)
    assert sorted(held.values(["text"])["text"].tolist()) == sorted(map(plain, values))
    groups = held.groups(["text"])
    assert groups.labels[0] == sorted(set(map(plain, values)))


@FEW
@given(texts.filter(len))
def test_duckdb_has_the_same_plain_form(values: list[str]) -> None:
    agree(values)
    assert all(plain(plain(value)) == plain(value) for value in values)


def test_equal_numbers_and_unseen_signs_are_one_person() -> None:
    ten = [10, 10.0, np.float32(10), np.int8(10), Decimal("10"), Decimal("1E+1"), Decimal("10.00"), Fraction(10), " 10"]
    ten += ["1\u200c0", "10\u2060", "1\xad0.0", "\u202a10"]
    assert people(np.array(ten, dtype=object), MissingUnit())[0].tolist() == [0] * len(ten)
    large = np.array([10**10, np.float32(1e10), Decimal("1E+10")], dtype=object)
    assert people(large, MissingUnit())[0].tolist() == [0, 0, 0]
    nobody = [pandas.NA, pandas.NaT, None, Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1E+999999")]
    nobody += [Decimal("0.5"), np.float32(0.5), np.float64(2**60), 1j, np.nan, "\u200c", "n\u2060a"]
    assert not people(np.array(nobody, dtype=object), MissingUnit("drop"))[1].any()
    with pytest.raises(InputError, match=r"^some rows have no unit: their ids are missing"):
        people(np.array([1, pandas.NA], dtype=object), MissingUnit())


def test_both_engines_have_the_same_plain_form(spark: Any) -> None:
    random = np.random.default_rng(1)
    drawn = ["".join(random.choice(list(SIGNS), random.integers(0, 7))) for _ in range(3000)]
    for engine in ("duckdb", "spark"):
        agree([*EDGES, *drawn], engine)


@FEW
@given(texts.filter(len))
def test_duckdb_reads_the_same_numbers(values: list[str]) -> None:
    forms = [plain(value) for value in [*values, *EDGES]]
    table = pyarrow.table({"text": pyarrow.array(forms, pyarrow.string()), "row": range(len(forms))})
    with duckdb.connect() as connection:
        connection.register("texts", table)
        asked = f"SELECT {DUCKDB.parsed('text', 'DOUBLE')} AS said FROM texts ORDER BY row"  # noqa: S608 - ours
        found = [row[0] for row in connection.sql(asked).fetchall()]
    # A double that overflows is infinite in Python and none in DuckDB: it lies outside all bounds either way.
    expected = [number(form) for form in forms]
    assert [
        None if said is None else repr(said) for said, form in zip(found, expected, strict=True) if form != np.inf
    ] == [None if form is None else repr(form) for form in expected if form != np.inf]


@FEW
@given(texts.filter(len), st.sampled_from([(), ("0",), ("f", "nan")]))
def test_python_and_sql_agree_whose_row_it_is(values: list[str], spellings: tuple[str, ...]) -> None:
    missing = MissingUnit.of("drop", spellings)
    person, kept = people(np.array(values, dtype=object), missing)
    held = read(pyarrow.table({"who": pyarrow.array(values, pyarrow.string()), "place": [1] * len(values)}))
    assert held.count(Domain(place=Line(2)), unit="who", missing_unit=missing).total == len(set(person.tolist()))
    assert held.count(Domain(place=Line(2)), unit="who", max_rows=len(values), missing_unit=missing).total == kept.sum()


def test_declared_words_are_compared_in_their_plain_form() -> None:
    domain = Domain(size=Categories(["Ａ型", " b", "3.0"]))
    for column in (["A型", "b\u3000", "３"], np.array(["A型", "b\u3000", "３"])):
        index, inside = domain.locate({"size": column})
        assert inside.all()
        assert index.tolist() == domain.index(np.arange(3)).tolist()
    assert read(pyarrow.table({"size": ["A型", "b\u3000", "３"]})).count(domain).total == 3
