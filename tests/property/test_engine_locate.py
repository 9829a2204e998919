"""The SQL of an engine and NumPy place every row alike, whatever a column holds."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import Attribute, Bins, Categories, Domain, Grid, Line, Mesh
from sudare.domain.mesh import LEVELS, mesh_level
from sudare.domain.text import plain
from sudare.engines import read

FEW = settings(max_examples=20, deadline=None)

whole = st.one_of(
    st.integers(-3, 40), st.sampled_from([2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), -(2**62)]), st.none()
)
double = st.one_of(
    st.floats(-5, 45),
    st.integers(-5, 45).map(float),
    st.floats(),
    st.sampled_from([-0.0, 5e-324, -5e-324, 2.0**62, 2.0**63, -(2.0**63), math.inf, -math.inf, math.nan, 1e308]),
    st.none(),
)
decimal = st.one_of(st.decimals(-50, 50, places=3), st.none())
unsigned = st.one_of(st.integers(0, 40), st.sampled_from([2**62, 2**63, 2**64 - 1]), st.none())

COLUMNS = {
    pyarrow.int64(): whole,
    pyarrow.uint64(): unsigned,
    pyarrow.int8(): st.one_of(st.integers(-128, 127), st.none()),
    pyarrow.float64(): double,
    pyarrow.float32(): st.one_of(st.floats(width=32), st.integers(-5, 45).map(float), st.none()),
    pyarrow.decimal128(18, 3): decimal,
}
columns_of_numbers = st.sampled_from(list(COLUMNS)).flatmap(
    lambda kind: st.lists(COLUMNS[kind], min_size=1, max_size=150).map(lambda values: pyarrow.array(values, kind))
)


def in_numpy(column: pyarrow.Array) -> Any:
    """The column as the domain takes it: an array of its own type, or objects where something is missing."""
    if pyarrow.types.is_decimal(column.type) or column.null_count:
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]
    return column.to_numpy() if pyarrow.types.is_primitive(column.type) else np.array(column.to_pylist())


def agree(attribute: Attribute, *columns: pyarrow.Array) -> None:
    """Each row alone, as the engine and as NumPy place it, with and without clamping."""
    row = np.arange(len(columns[0]))
    domain = Domain(order=None, row=Line(row.size), value=attribute)
    names = tuple(f"column {number}" for number in range(len(columns)))
    records = read(pyarrow.table({"row": row, **dict(zip(names, columns, strict=True))}))
    given_columns = tuple(map(in_numpy, columns))
    for outside, place in (("drop", domain.locate), ("clamp", domain.clamp)):
        with np.errstate(over="ignore"):
            index, inside = place({"row": row, "value": given_columns})
        table = records.count(domain, columns={"value": names}, outside=outside)
        assert table.index.tolist() == sorted(index[inside].tolist())
        assert (table.count == 1).all()


@FEW
@given(columns_of_numbers, st.sampled_from([1, 7, 32, 2**53 + 3, 2**57]))
def test_lines(column: pyarrow.Array, length: int) -> None:
    agree(Line(length), column)


@FEW
@given(columns_of_numbers, st.integers(0, 2**12 - 1))
def test_masked_lines(column: pyarrow.Array, mask: int) -> None:
    agree(Line(13, mask=[True] + [bool(mask >> place & 1) for place in range(12)]), column)


@FEW
@given(st.lists(st.tuples(whole, double), min_size=1, max_size=150), st.booleans())
def test_grids(rows: list[tuple[Any, Any]], masked: bool) -> None:
    mask = (np.arange(30).reshape(5, 6) % 7 != 3) if masked else None
    agree(
        Grid(5, 6, mask=mask),
        pyarrow.array([row for row, _ in rows], pyarrow.int64()),
        pyarrow.array([column for _, column in rows], pyarrow.float64()),
    )


edges = st.one_of(
    st.sampled_from(
        [
            Bins(0, 1, step=0.1),
            Bins(-10, 30, step=5),
            Bins(edges=[0, 15, 65, None]),
            Bins(edges=[None, 0, 0.3, 1]),
            Bins(edges=[None, 2**53]),
            Bins(edges=[-(2**53), 0, 2**53]),
        ]
    ),
    st.lists(st.floats(-40, 40), min_size=2, max_size=40, unique=True).map(lambda ends: Bins(edges=sorted(ends))),
)


@FEW
@given(columns_of_numbers, edges, st.data())
def test_bins(column: pyarrow.Array, bins: Bins, data: st.DataObject) -> None:
    agree(bins, column)
    finite = [float(edge) for edge in bins.edges if edge is not None]
    near = st.sampled_from(finite).flatmap(
        lambda edge: st.sampled_from([edge, math.nextafter(edge, -math.inf), math.nextafter(edge, math.inf)])
    )
    agree(bins, pyarrow.array(data.draw(st.lists(near, min_size=1, max_size=30)), pyarrow.float64()))


words = st.one_of(
    st.sampled_from(["f", "m", " f", "f ", "F", "", "é", "e\u0301", "東京", "it's", 'a"b']), st.text(max_size=3)
)


@FEW
@given(
    st.lists(words, min_size=1, max_size=9, unique_by=plain).filter(lambda values: not any("\0" in v for v in values)),
    st.lists(st.one_of(words.filter(lambda word: "\0" not in word), st.none()), min_size=1, max_size=40),
    st.booleans(),
)
def test_categories_of_words(values: list[str], column: list[str | None], encoded: bool) -> None:
    array = pyarrow.array(column, pyarrow.string())
    attribute = Categories(values)
    if encoded:
        domain = Domain(value=attribute)
        plain = read(pyarrow.table({"value": array})).count(domain, outside="drop")
        assert read(pyarrow.table({"value": array.dictionary_encode()})).count(domain, outside="drop") == plain
    agree(attribute, array)


@FEW
@given(st.lists(st.integers(-4, 40), min_size=1, max_size=9, unique=True), columns_of_numbers)
def test_categories_of_numbers(values: list[int], column: pyarrow.Array) -> None:
    agree(Categories(values), column)


def test_truth_values_are_the_numbers_0_and_1() -> None:
    records = read(pyarrow.table({"yes": [True, False, True, None]}))
    table = records.count(Domain(yes=Categories([1, 0, 2])), outside="drop")
    assert table.to_array().tolist() == [2, 1, 0]


@st.composite
def meshes(draw: st.DrawFn) -> Mesh:
    """Windows at every level, some at the corner of the system and some masked by codes."""
    size = draw(st.sampled_from(list(LEVELS)))
    cells = mesh_level(size).cells
    if draw(st.booleans()):
        first = draw(st.sampled_from(["5339", "0000", "0901", "9999"]))
        code = first + "2374"[: max(0, min(4, mesh_level(size).digits - 4))]
        return Mesh(size, codes=[code, draw(st.sampled_from(["5339", "5440", "0902"]))])
    south, west = draw(st.sampled_from([(53, 39), (0, 0), (9, 99), (99, 99)]))
    return Mesh(size, rows=(south * cells, (south + 1) * cells), columns=(west * cells, (west + 1) * cells))


@FEW
@given(meshes(), st.data())
def test_degrees(mesh: Mesh, data: st.DataObject) -> None:
    level = mesh_level(mesh.cell_size)
    steps = st.integers(-3, level.cells + 3)
    places = st.one_of(
        st.tuples(
            steps.map(lambda step: (mesh.rows[0] + step) / level.rows_per_degree),
            steps.map(lambda step: 100 + (mesh.columns[0] + step) / level.columns_per_degree),
        ),
        st.tuples(st.floats(30, 40), st.floats(135, 145)),
        st.tuples(
            st.floats(-1e-8, 1e-8).map(lambda off: mesh.rows[0] / level.rows_per_degree + off),
            st.floats(-1e-8, 1e-8).map(lambda off: 100 + mesh.columns[0] / level.columns_per_degree + off),
        ),
        st.tuples(double, double),
    )
    drawn = data.draw(st.lists(places, min_size=1, max_size=150))
    agree(mesh, *(pyarrow.array([place[axis] for place in drawn], pyarrow.float64()) for axis in (0, 1)))


def test_degrees_on_a_fine_raster() -> None:
    # Decimals of up to four places around Tokyo Station, where people write borders by hand.
    latitude, longitude = np.meshgrid(np.arange(356600, 356900) / 1e4, np.arange(1397500, 1397800) / 1e4)
    mesh = Mesh("125m", codes=["533946"])
    agree(mesh, pyarrow.array(latitude.reshape(-1)), pyarrow.array(longitude.reshape(-1)))


@FEW
@given(meshes(), st.data())
def test_codes(mesh: Mesh, data: st.DataObject) -> None:
    digits = mesh_level(mesh.cell_size).digits
    first = st.sampled_from(["5339", "5440", "0000", "0902", "9999", "3"])
    texts = st.one_of(
        st.builds(lambda head, tail: (head + tail)[:digits], first, st.text("0123456789", min_size=9)),
        st.builds(lambda head, tail: (head + tail)[:digits], first, st.text("1234", min_size=9)),
        st.text("0123456789 +-_.e１", max_size=12),
    )
    drawn = data.draw(st.lists(st.one_of(texts, st.none()), min_size=1, max_size=150))
    agree(mesh, pyarrow.array(drawn, pyarrow.string()))
    numbers = [int(text) if text and text.isascii() and text.isdecimal() else None for text in drawn]
    agree(mesh, pyarrow.array(numbers, pyarrow.int64()))
    agree(mesh, pyarrow.array(numbers, pyarrow.float64()))
    halves = [None if number is None else Decimal(number) + Decimal("0.5") * (number % 2) for number in numbers]
    agree(mesh, pyarrow.array(halves, pyarrow.decimal128(20, 1)))


@settings(FEW, max_examples=8)
@given(st.lists(double, min_size=1, max_size=150), st.sampled_from(["utf-8", "cp932"]))
def test_numbers_written_out_are_read_as_they_were(values: list[float | None], encoding: str) -> None:
    line, bins = Domain(x=Line(40)), Domain(x=Bins(0, 40, step=0.1))
    typed = read(pyarrow.table({"x": pyarrow.array(values, pyarrow.float64())}))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.csv"
        text = "".join(f"{'' if value is None else repr(value)},名\n" for value in values)
        path.write_text(f"x,note\n{text}", encoding=encoding)
        written = read(path, encoding=encoding)
        for outside in ("drop", "clamp"):
            for domain in (line, bins):
                assert written.count(domain, outside=outside) == typed.count(domain, outside=outside)
