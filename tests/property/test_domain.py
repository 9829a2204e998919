"""Laws of domains, meshes and count tables."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line, Mesh
from sudare.domain.mesh import (
    LEVELS,
    centres,
    children,
    codes_of,
    corners,
    parents,
    rows_and_columns,
)

MOST_BITS = 12
laws = settings(max_examples=80, deadline=None)


def masks(draw, shape):
    bits = draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    bits[draw(st.integers(0, len(bits) - 1))] = True
    return np.array(bits).reshape(shape)


@st.composite
def attributes(draw):
    kind = draw(st.sampled_from(["line", "grid", "categories", "bins", "window", "codes"]))
    masked = draw(st.booleans())
    if kind == "line":
        length = draw(st.integers(1, 20))
        return Line(length, mask=masks(draw, (length,)) if masked else None)
    if kind == "grid":
        shape = draw(st.integers(1, 7)), draw(st.integers(1, 7))
        return Grid(*shape, mask=masks(draw, shape) if masked else None)
    if kind == "categories":
        return Categories(draw(st.lists(st.text("abc", max_size=3), min_size=1, max_size=6, unique=True)))
    if kind == "bins":
        edges = draw(st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True))
        return Bins(edges=sorted(edges))
    row, column = draw(st.integers(4000, 4003)), draw(st.integers(3000, 3003))
    if kind == "window":
        high, wide = draw(st.integers(1, 6)), draw(st.integers(1, 6))
        return Mesh("1km", rows=(row, row + high), columns=(column, column + wide))
    return Mesh("250m", codes=draw(near_codes()))


@st.composite
def near_codes(draw):
    """A few codes of 1 km, 500 m and 250 m that lie near each other."""
    codes = []
    for size in ("1km", "500m", "250m"):
        scale = LEVELS[size].cells // 80
        for _ in range(draw(st.integers(0 if codes or size != "250m" else 1, 3))):
            row, column = draw(st.integers(0, 3 * scale - 1)), draw(st.integers(0, 3 * scale - 1))
            codes.append(int(codes_of(4280 * scale + row, 3180 * scale + column, size)))
    return codes


@st.composite
def domains(draw):
    parts, bits = {}, 0
    for name in "abc"[: draw(st.integers(1, 3))]:
        attribute = draw(attributes())
        width = sum((length - 1).bit_length() for length in attribute.lengths)
        if bits + width <= MOST_BITS:
            parts[name], bits = attribute, bits + width
    if not parts:
        parts["a"] = Line(3)
    if draw(st.booleans()):
        return Domain(**parts)
    names = draw(st.permutations(sorted(parts)))
    cut = draw(st.integers(0, len(names)))
    order = [tuple(names[:cut])] * (cut > 0) + list(names[cut:])
    return Domain(order=order, **parts)


def padded(domain):
    return np.arange(1 << domain.bits)


def logical(domain):
    """Which padded cells are logical, from coordinates, lengths and masks alone."""
    coordinates = domain.coordinates(padded(domain))
    inside = np.ones(1 << domain.bits, dtype=bool)
    axis = 0
    for attribute in domain.attributes.values():
        own = coordinates[axis : axis + len(attribute.lengths)]
        axis += len(own)
        for coordinate, length in zip(own, attribute.lengths, strict=True):
            inside &= coordinate < length
        allowed = np.zeros(attribute.lengths, dtype=bool)
        allowed[attribute.cell(np.arange(attribute.size))] = True
        clipped = [np.minimum(c, n - 1) for c, n in zip(own, attribute.lengths, strict=True)]
        inside &= allowed[tuple(clipped)]
    return inside


@given(domains())
@laws
def test_index_is_a_bijection_onto_the_padded_cells(domain):
    index = padded(domain)
    coordinates = domain.coordinates(index)
    widths = [(length - 1).bit_length() for length in domain.shape]
    assert all(axis.max() < 1 << width for axis, width in zip(coordinates, widths, strict=True))
    cells = np.unique(np.stack(coordinates), axis=1)
    assert cells.shape[1] == index.size
    in_box = np.logical_and.reduce([a < n for a, n in zip(coordinates, domain.shape, strict=True)])
    assert np.array_equal(domain.index(*(axis[in_box] for axis in coordinates)), index[in_box])


@given(domains())
@laws
def test_each_bit_of_the_index_is_one_bit_of_one_axis_in_falling_order(domain):
    left = [(length - 1).bit_length() for length in domain.shape]
    for bit in reversed(range(domain.bits)):
        coordinates = [int(axis) for axis in domain.coordinates(1 << bit)]
        moved = [axis for axis, value in enumerate(coordinates) if value]
        assert len(moved) == 1
        left[moved[0]] -= 1
        assert coordinates[moved[0]] == 1 << left[moved[0]]
    assert not any(left)


@given(domains())
@laws
def test_blocks_are_aligned_boxes(domain):
    coordinates = domain.coordinates(padded(domain))
    for level in range(domain.bits + 1):
        sides = []
        for axis in coordinates:
            blocks = axis.reshape(-1, 1 << level)
            low, side = blocks.min(axis=1), blocks.max(axis=1) - blocks.min(axis=1) + 1
            assert len(set(side.tolist())) == 1
            assert side[0] & (side[0] - 1) == 0
            assert not (low % side).any()
            sides.append(int(side[0]))
        assert np.prod(sides) == 1 << level


@given(domains())
@laws
def test_contains_and_cells_agree_with_brute_force(domain):
    inside = logical(domain)
    assert np.array_equal(domain.contains(padded(domain)), inside)
    assert domain.size == inside.sum()
    cells = domain.cells(np.arange(domain.size))
    assert np.array_equal(np.sort(cells), np.flatnonzero(inside))


@given(domains())
@laws
def test_block_sizes_agree_with_brute_force_at_each_level(domain):
    inside = logical(domain)
    for level in range(domain.bits + 1):
        expected = inside.reshape(-1, 1 << level).sum(axis=1)
        sizes = domain.block_sizes(np.arange(-1, expected.size + 1), level)
        assert sizes.dtype == np.int64
        assert sizes.tolist() == [0, *expected.tolist(), 0]
        assert sizes.sum() == domain.size


@given(domains())
@laws
def test_json_gives_an_equal_domain_with_the_same_cells(domain):
    again = Domain.from_json(json.loads(json.dumps(domain.to_json())))
    assert again == domain
    assert hash(again) == hash(domain)
    assert np.array_equal(again.contains(padded(domain)), domain.contains(padded(domain)))
    for mine, theirs in zip(domain.coordinates(padded(domain)), again.coordinates(padded(domain)), strict=True):
        assert np.array_equal(mine, theirs)


@given(domains())
@laws
def test_labels_lead_back_to_their_cells(domain):
    cells = np.sort(domain.cells(np.arange(domain.size)))
    columns = {}
    for name, labels in domain.labels(cells).items():
        attribute = domain.attributes[name]
        if isinstance(attribute, Grid):
            columns[name] = (labels[:, 0], labels[:, 1])
        elif isinstance(attribute, Bins):
            starts = dict(zip(attribute.labels(np.arange(attribute.size)), attribute.edges, strict=False))
            columns[name] = [starts[label] for label in labels]
        else:
            columns[name] = labels
    for way in (domain.locate, domain.clamp):
        index, inside = way(columns)
        assert inside.all()
        assert np.array_equal(index, cells)


@given(domains(), st.data())
@laws
def test_the_order_of_rows_does_not_matter_to_a_table(domain, data):
    ranks = data.draw(st.lists(st.integers(0, domain.size - 1), unique=True, max_size=30))
    counts = data.draw(st.lists(st.integers(0, 5), min_size=len(ranks), max_size=len(ranks)))
    index = domain.cells(np.array(ranks, dtype=int))
    shuffle = np.array(data.draw(st.permutations(range(len(ranks)))), dtype=int)
    table = CountTable(domain, index, counts)
    assert table == CountTable(domain, index[shuffle], np.array(counts, dtype=int)[shuffle])
    assert table.total == sum(counts)
    assert (np.diff(table.index) > 0).all()
    assert (table.count > 0).all()


@given(domains(), st.data())
@laws
def test_block_sums_agree_with_the_dense_array(domain, data):
    ranks = np.array(data.draw(st.lists(st.integers(0, domain.size - 1), unique=True, max_size=30)), dtype=int)
    values = data.draw(st.lists(st.integers(-5, 5), min_size=ranks.size, max_size=ranks.size))
    table = CountTable.released(domain, domain.cells(ranks), values)
    dense = table.to_array()
    assert dense.shape == domain.shape
    inside = padded(domain)[domain.contains(padded(domain))]
    along_index = np.zeros(1 << domain.bits, dtype=np.int64)
    along_index[inside] = dense[domain.coordinates(inside)]
    assert dense.sum() == table.total
    for level in range(domain.bits + 1):
        blocks, sums = table.block_sums(level)
        assert blocks.tolist() == sorted(set((table.index >> level).tolist()))
        assert sums.tolist() == along_index.reshape(-1, 1 << level).sum(axis=1)[blocks].tolist()


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=5), st.booleans())
@laws
def test_dense_arrays_come_back(rows, flat):
    array = np.array(rows).reshape(-1) if flat else np.array(rows)
    assert np.array_equal(CountTable.from_array(array).to_array(), array)


places = st.tuples(st.integers(0, 2**32), st.integers(0, 2**32))


@given(st.sampled_from(list(LEVELS)), st.lists(places, min_size=1, max_size=20))
@laws
def test_mesh_codes_corners_and_centres_lead_back(size, somewhere):
    limit = LEVELS[size].limit
    row, column = (np.array(axis) % limit for axis in zip(*somewhere, strict=True))
    codes = codes_of(row, column, size)
    as_text = np.array([f"{code:0{LEVELS[size].digits}}" for code in codes.tolist()])
    south, west, north, east = corners(row, column, size)
    assert (south < north).all()
    assert (west < east).all()
    assert all(map(np.array_equal, rows_and_columns(codes, size)[:2], (row, column)))
    mesh = Mesh(size, rows=(0, limit), columns=(0, limit))
    for columns in (
        (as_text,),
        (as_text.astype(object),),
        (codes,),
        centres(row, column, size),
        (south, west),
    ):
        found, inside = mesh.locate(*columns)
        assert np.array_equal(found[0], row)
        assert np.array_equal(found[1], column)
        assert inside.all()


levels = st.tuples(st.sampled_from(list(LEVELS)), st.sampled_from(list(LEVELS)))


@given(levels.map(lambda pair: sorted(pair, key=list(LEVELS).index)), places)
@laws
def test_every_child_has_its_parent(pair, place):
    coarse, fine = pair
    limit = LEVELS[coarse].limit
    code = codes_of([place[0] % limit], [place[1] % limit], coarse)
    offspring = children(code, coarse, fine)
    ratio = LEVELS[fine].cells // LEVELS[coarse].cells
    assert offspring.shape == (1, ratio**2)
    assert np.unique(offspring).size == ratio**2
    assert (parents(offspring, fine, coarse) == code).all()
    row, column, valid = rows_and_columns(offspring[0], fine)
    assert valid.all()
    assert np.array_equal(codes_of(row // ratio, column // ratio, coarse), np.repeat(code, ratio**2))


@given(st.sampled_from(list(LEVELS)), st.integers(-(10**12), 10**12))
@laws
def test_a_number_is_a_code_exactly_when_its_digits_are(size, number):
    level = LEVELS[size]
    text = str(number)
    valid = number >= 0 and len(text) == level.digits
    if valid:
        valid = all(digit in "01234567" for digit in text[4:6]) and all(digit in "1234" for digit in text[8:])
    mesh = Mesh(size, rows=(level.limit - 1, level.limit), columns=(0, 1))  # so far north that no code begins with zero
    assert mesh.positions([number])[1].tolist() == [valid]
    assert mesh.positions([text])[1].tolist() == [valid]
