"""Blocks that were not split, spread smoothly: sums stay, masks stay empty, a slope is met better than by a step."""

import numpy as np
import pytest

import sudare as sd
from sudare.privacy import Budget
from sudare.tables import plausible, smoothing, tree_passes
from sudare.tables.plausible import first_guess
from sudare.tables.pyramid import Pyramid
from sudare.tables.smoothing import can_smooth, density
from sudare.tables.spread import spread

GRID = sd.Domain(cell=sd.Grid(32, 32))


def slope(domain: sd.Domain) -> np.ndarray:
    """People at each place in index order, rising to the north-east."""
    row, column = domain.coordinates(np.arange(1 << domain.bits))
    return (3.0 + row + 2 * column) * domain.contains(np.arange(1 << domain.bits))


def blocks(people: np.ndarray, level: int) -> list[smoothing.Ends]:
    sums = people.reshape(-1, 1 << level).sum(axis=1).round().astype(np.int64)
    return [(level, np.arange(len(sums)), sums)]


def test_every_block_keeps_its_people() -> None:
    ends = blocks(slope(GRID), 4)
    made = density(GRID, ends)
    assert made is not None
    np.testing.assert_allclose(made.sums(ends[0][1], 4), ends[0][2], rtol=1e-9)


def test_a_slope_is_met_better_than_by_steps() -> None:
    truth = slope(GRID)
    made = density(GRID, blocks(truth, 6))
    assert made is not None
    steps = np.repeat(truth.reshape(-1, 64).mean(axis=1), 64)
    assert np.square(np.diff(made.before) - truth).mean() < 0.3 * np.square(steps - truth).mean()


def test_masked_places_get_nobody_and_count_nowhere() -> None:
    mask = np.ones((32, 32), dtype=bool)
    mask[:, 13:20] = False
    domain = sd.Domain(cell=sd.Grid(32, 32, mask=mask))
    truth = 10.0 * domain.contains(np.arange(1024))
    made = density(domain, blocks(truth, 4))
    assert made is not None
    # Even on both shores: a mean that counted the sea would have fallen towards it.
    np.testing.assert_allclose(np.diff(made.before), truth, atol=1e-6)


def test_measured_cells_stay_as_they_are() -> None:
    truth = slope(GRID).astype(np.int64)
    cells = (0, np.arange(512), truth[:512])
    made = density(GRID, [cells, (4, np.arange(32, 64), truth[512:].reshape(-1, 16).sum(axis=1))])
    assert made is not None
    np.testing.assert_allclose(np.diff(made.before)[:512], truth[:512], atol=1e-9)


@pytest.mark.parametrize(
    ("domain", "can"),
    [
        (GRID, True),
        (sd.Domain(mesh=sd.Mesh("1km", rows=(4240, 4304), columns=(3150, 3214)), sex=sd.Categories(["f", "m"])), True),
        (sd.Domain(cell=sd.Line(4096)), False),
        (sd.Domain(home=sd.Grid(8, 8), work=sd.Grid(8, 8)), False),
        (sd.Domain(cell=sd.Grid(2048, 1024)), False),
        (sd.Domain(cell=sd.Grid(8, 8), sex=sd.Categories(["f", "m"]), order=["sex", "cell"]), False),
        (sd.Domain(sex=sd.Categories(["f", "m"]), age=sd.Bins(0, 80, step=5)), False),
    ],
)
def test_only_one_map_with_neighbours_is_smoothed(domain: sd.Domain, can: bool) -> None:
    assert can_smooth(domain) is can


def test_a_release_keeps_the_sums_of_blocks_and_its_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise and the same splits, with and without: only places within unsplit blocks differ."""
    counts = np.random.default_rng(1).poisson(slope(GRID).reshape(32, 32) / 40)
    table = sd.CountTable.from_array(counts)
    smooth = sd.release(table, sd.Tree(), epsilon=0.5, seed=3).table
    monkeypatch.setattr(tree_passes, "can_smooth", lambda _: False)
    even = sd.release(table, sd.Tree(), epsilon=0.5, seed=3).table
    assert smooth.total == even.total
    assert not np.array_equal(smooth.to_array(), even.to_array())
    for one, other in zip(smooth.block_sums(8), even.block_sums(8), strict=True):
        np.testing.assert_array_equal(one, other)


def test_where_nothing_is_known_of_kinds_the_cells_of_a_place_are_alike() -> None:
    domain = sd.Domain(cell=sd.Grid(8, 8), kind=sd.Categories(["a", "b", "c"]))
    made = density(domain, [(4, np.arange(16), np.full(16, 120))])
    index, count = spread(domain, np.arange(16), 4, np.full(16, 120), np.random.default_rng(1), density=made)
    assert domain.contains(index).all()
    assert count.tolist() == [10] * domain.size


def test_plausible_truths_know_what_was_not_measured() -> None:
    """A smooth block is not even, so that only its people tell that it was not split."""
    people = slope(GRID).astype(np.int64)
    released = Pyramid(np.arange(1024), people[None])
    generators = [np.random.default_rng(1)]
    guesses = [first_guess(released, GRID, generators, least)[0] for least in ((), [(8, 1e9), (4, 1e9)])]
    measured, drawn = (np.abs(np.diff(one.columns[0])).mean() for one in guesses)
    assert drawn > 4 * measured
    for one in guesses:
        block, sums = one.level(8)
        np.testing.assert_array_equal(sums[0], released.level(8)[1][0][block])


def test_thin_blocks_are_told_by_the_sum_of_the_block_that_they_are_part_of() -> None:
    released = Pyramid(np.array([0, 5, 16, 40]), np.array([[10, 10, 100, 3]]))
    domain = sd.Domain(cell=sd.Grid(8, 8))
    flags = plausible._thin_blocks(released, domain, 0, [(4, 50.0)])
    assert [level.tolist() for level in flags[:2]] == [[True, True, False, True]] * 2
    assert [level.tolist() for level in flags[2:4]] == [[True, False, True]] * 2
    assert not flags[4].any()


def test_the_tree_states_how_many_people_a_block_needs() -> None:
    table = sd.CountTable.from_array(np.full((64, 64), 3))
    levels = sd.Tree().least_people(table.domain, Budget(epsilon=1), 1, False)
    assert [level for level, _ in levels] == [8, 4]
    # In standard deviations of the noise of all that is left: sqrt(2)/(share).
    assert levels[1][1] == pytest.approx(tree_passes.WORTH * 2**0.5 / 0.40, rel=0.02)


@pytest.mark.parametrize("total", ["noisy", "public"])
def test_a_block_beside_more_people_than_doubles_tell_apart_is_spread_too(total: str) -> None:
    """Its share of a running sum of 2**61 people is 0, and a quotient of it no number."""
    domain = sd.Domain(cell=sd.Grid(70, 130))
    table = sd.CountTable(domain, np.sort(domain.cells([5, 9000])), np.array([2**60, 2**60 - 8]))
    made = sd.release(table, sd.Tree(), epsilon=0.001, total=total, seed=11).table
    assert domain.contains(made.index).all()
    assert made.count.min() > 0
    assert total == "noisy" or int(made.total) == int(table.total)
