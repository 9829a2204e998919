"""How far to trust a number: what the error bars say, and nothing else."""

import numpy as np
import pytest

import sudare as sd
from sudare.language.catalogue import Words
from sudare.render.sections import Table
from sudare.tables.area_sizes import area_sizes
from sudare.tables.examples import block_name, examples
from sudare.tables.trust import UsualError, smallest_good, trust_section, usual_errors

MESH = sd.Domain(mesh=sd.Mesh("500m", rows=(8480, 8496), columns=(6300, 6316)), sex=sd.Categories(["f", "m"]))


@pytest.fixture(scope="module")
def release():
    generator = np.random.default_rng(2)
    index = MESH.cells(np.arange(0, MESH.size, 3))
    return sd.release(sd.CountTable(MESH, index, generator.geometric(0.01, len(index))), sd.Simplex(), 1, seed=1)


def test_sizes_go_from_a_cell_over_squares_to_the_whole():
    sizes = area_sizes(MESH)
    assert [(size.level, size.cells) for size in sizes] == [(0, 1), (1, 2), (3, 8), (5, 32), (7, 128), (9, 512)]
    assert sizes[0].square_km is None  # one sex of a place is no area
    assert [size.square_km for size in sizes[1:]] == pytest.approx([0.26277 * 4**n for n in range(5)], rel=1e-3)
    assert [size.text(Words("en")) for size in sizes[:2]] == ["a single cell", "0.263\u00a0km²"]


def test_sizes_stay_few_in_a_huge_domain():
    japan = sd.Domain(mesh=sd.Mesh("125m", rows=(0, 40_000), columns=(0, 60_000)), age=sd.Bins(0, 100, step=1))
    assert len(area_sizes(japan)) <= 9


def test_areas_of_two_places_have_no_square_kilometres():
    pairs = sd.Domain(home=sd.Mesh("10km", codes=["5339"]), work=sd.Mesh("10km", codes=["5339"]))
    assert {size.square_km for size in area_sizes(pairs)} == {None}


def test_the_usual_error_is_the_median_of_the_bars(release):
    row = usual_errors(release)[2]
    bars = release.error(block_level=3)
    assert row.areas == (bars.value > 0).sum()
    assert row.number == np.median(bars.value[bars.value > 0])
    assert row.expected == np.median(bars.expected_error[bars.value > 0])


def test_the_smallest_good_area_has_only_good_ones_above(release):
    rows = usual_errors(release)
    good = smallest_good(rows)
    place = rows.index(good)
    assert all(row.relative_most <= 0.1 for row in rows[place:])
    assert place == 0 or rows[place - 1].relative_most > 0.1
    assert smallest_good(rows, share=0) is None


def usual(*relative):
    """Sizes of area with these usual errors, of the number, smallest first."""
    sizes = area_sizes(MESH)[: len(relative)]
    return [
        UsualError(size, 1, 100.0, 100 * share, 200 * share, share, share)
        for size, share in zip(sizes, relative, strict=True)
    ]


@pytest.mark.parametrize(
    ("relative", "good"),
    [
        ((0.5, 0.19, 0.11, 0.1, 0.02), 3),  # 10 % is good, 11 % is not
        ((0.5, 0.09, 0.11, 0.05, 0.02), 3),  # a good size below one that is not is none
        ((0.1, 0.05), 0),
        ((0.5, 0.101), None),
    ],
)
def test_good_is_an_error_of_at_most_a_tenth(relative, good):
    rows = usual(*relative)
    assert smallest_good(rows) is (None if good is None else rows[good])


def test_examples_are_the_middle_ones_and_have_the_bars_of_the_release(release):
    found = examples(release, 0.9, Words("en"))
    assert [example.name.rpartition(" ")[0] for example in found[1:]] == [
        "500 m square", "1 km square", "second-level square (10 km)"
    ]  # fmt: skip
    counts = np.sort(release.table.count)
    assert found[0].value == counts[len(counts) // 2]
    code = found[2].name.rpartition(" ")[2]
    bars = release.error(codes=[code])
    assert (found[2].value, found[2].low, found[2].high) == (bars.value[0], bars.low[0], bars.high[0])


def test_a_release_of_nobody_has_no_examples():
    nobody = sd.release(sd.CountTable(sd.Domain(cell=sd.Line(64)), [], []), sd.Simplex(), 1, seed=1)
    nobody = sd.Release(
        sd.CountTable.released(nobody.table.domain, [], []), nobody.guarantee, nobody.method, nobody.budget
    )
    assert examples(nobody, 0.9, Words()) == []
    tables = [part for part in trust_section(nobody, Words()).parts if isinstance(part, Table)]
    assert [row[0] for table in tables for row in table.rows] == ["0 (not listed)"]


def test_values_come_with_their_own_interval(release):
    table = next(
        part for part in trust_section(release, Words()).parts if isinstance(part, Table) and "range" in part.caption
    )
    bars = release.error(block_level=0)
    for _, cells, value, error, interval in table.rows[1:]:
        one = np.flatnonzero(bars.value == int(value.replace(",", "")))[0]
        assert int(cells.replace(",", "")) > 0
        assert float(error) == pytest.approx(bars.expected_error[one], rel=5e-3)
        low, high = (float(end.replace(",", "")) for end in interval.split(" to "))
        assert (low, high) == pytest.approx((bars.low[one], bars.high[one]), rel=5e-3)


@pytest.mark.parametrize(
    ("domain", "block", "level", "name"),
    [
        (sd.Domain(cell=sd.Line(100)), 3, 0, "cell 3"),
        (sd.Domain(cell=sd.Line(100)), 6, 4, "cell 96 to 99"),
        (sd.Domain(age=sd.Bins(0, 40, step=10)), 1, 1, "age 20-29 to 30-39"),
        (sd.Domain(town=sd.Categories(["A", "B"])), 0, 1, "all of town"),
        (MESH, 0, 1, "500 m square 533903001, all of sex"),
        (MESH, 0, 3, "squares 533903001 to 533903004, all of sex"),
    ],
)
def test_blocks_have_names(domain, block, level, name):
    assert block_name(domain, block, level, Words("en")) == name


def test_public_totals_are_said_to_be_unknown_to_the_bars():
    domain = sd.Domain(cell=sd.Line(8))
    table = sd.CountTable(domain, [1, 2], [30, 40])
    made = sd.release(table, sd.Simplex(), 1, public_totals=[([0, 1, 2, 3], 70)], seed=1)
    made = sd.Release(
        made.table, sd.release(table, sd.Simplex(), 1, public_totals=[([0, 1], 30)]).guarantee, made.method, made.budget
    )
    texts = trust_section(made, Words()).parts[0].paragraphs
    assert any("totals that were taken as public" in text for text in texts)


def test_what_is_said_of_a_size_holds_for_nine_of_ten_areas():
    # A fifth of the cells are small: the middle one is at a few per cent, and they are far beyond.
    table = sd.CountTable(sd.Domain(cell=sd.Line(1000)), np.arange(1000), np.where(np.arange(1000) % 5, 1000, 3))
    made = sd.release(table, epsilon=0.5, method=sd.Laplace(), seed=1)
    cells = usual_errors(made)[0]
    assert cells.relative < 0.1 < cells.relative_most
    assert smallest_good(usual_errors(made)) is not cells
