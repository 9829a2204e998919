from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.reweight.basis import GRID
from sudare.reweight.hats import Hats, spread
from sudare.reweight.space import STEPS, Space

GENERATOR = np.random.default_rng(1)
SPACE = Space.declare({"age": (0, 100), "pay": (0, 9)}, {"sex": ["f", "m", "x"]})


def codes(rows: int) -> np.ndarray:
    numbers = np.rint(GENERATOR.uniform(0, STEPS, (rows, 2)))
    return np.concatenate([numbers, GENERATOR.integers(0, 3, (rows, 1)).astype(float)], axis=1)


PUBLIC = codes(300)


@pytest.mark.parametrize("pairs", [[], [(0, 1)], [(0, 2), (1, 2)]])
def test_every_block_adds_up_exactly(pairs):
    hats = Hats.of(SPACE, PUBLIC, pairs=pairs)
    steps = hats.steps(codes(200))
    assert (steps >= 0).all()
    assert (steps == np.rint(steps)).all()
    start = 0
    for block, size in zip(hats.blocks, hats.sizes, strict=True):
        assert (steps[:, start : start + size].sum(axis=1) == GRID).all(), block
        start += size


@pytest.mark.parametrize("pairs", [[], [(0, 1)]])
def test_totals_are_the_sums_of_the_dense_features(pairs):
    hats, rows = Hats.of(SPACE, PUBLIC, pairs=pairs), codes(1000)
    assert hats.total(rows).tolist() == hats.steps(rows).sum(axis=0).astype(int).tolist()
    assert hats.total(rows[:0]).tolist() == [0] * hats.size


def test_hats_interpolate_between_knots():
    hats = Hats.at(PUBLIC, np.array([STEPS / 4, STEPS / 2]))
    values = hats.steps(np.array([[0.0], [STEPS / 8], [STEPS * 3 / 4]])) / GRID
    assert values.tolist() == [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]


@pytest.mark.parametrize("pairs", [[], [(0, 2)]])
def test_the_sensitivity_is_proved_and_attained(pairs):
    hats = Hats.of(SPACE, PUBLIC, pairs=pairs)
    corners = [[0.0, float(STEPS)], [0.0, float(STEPS)], [0.0, 1.0, 2.0]]
    steps = hats.steps(np.array(list(product(*corners)) + codes(300).tolist()))
    differences = steps[:, None, :] - steps[None, :, :]
    l1, square = np.abs(differences).sum(axis=2).max(), (differences**2).sum(axis=2).max()
    replace, add = hats.reach("replace", averaged=False), hats.reach("add_remove", averaged=False)
    assert l1 == replace.l1 == 2 * GRID * len(hats.blocks)
    assert square <= replace.l2**2 < square * (1 + 1e-9)
    assert steps.sum(axis=1).max() == add.l1 == GRID * len(hats.blocks)
    assert (steps**2).sum(axis=1).max() <= add.l2**2
    assert replace.times(3).l1 == 3 * replace.l1


def test_averaging_adds_its_rounding():
    hats = Hats.of(SPACE, PUBLIC)
    assert hats.reach("replace", averaged=True).l1 - hats.reach("replace", averaged=False).l1 == hats.size
    assert hats.reach("add_remove", True).l1 - hats.reach("add_remove", False).l1 == Fraction(hats.size, 2)


def test_an_attribute_in_a_pair_has_no_block_of_its_own():
    assert [[axis.place for axis in block] for block in Hats.of(SPACE, PUBLIC, pairs=[(0, 2)]).blocks] == [[1], [0, 2]]


def test_knots_are_the_bounds_and_public_quantiles():
    hats = Hats.of(Space.declare([(0, 1)]), np.array([[1000.0], [1000.0], [2000.0], [3000.0]]), knots=5)
    assert hats.blocks[0][0].knots == (0, 1000, 1500, 3000, STEPS)
    with pytest.raises(ParameterError, match="too few knots"):
        Hats.of(SPACE, PUBLIC, knots=2)


def test_the_number_of_people_and_consistency():
    hats, rows = Hats.of(SPACE, PUBLIC), codes(500)
    assert hats.people(hats.total(rows)) == 500
    assert hats.people(-hats.total(rows)) == 1
    noisy = hats.total(rows) / (GRID * 500) + GENERATOR.normal(0, 0.1, hats.size)
    start = 0
    for size in hats.sizes:
        assert hats.consistent(noisy)[start : start + size].sum() == pytest.approx(1)
        start += size


def test_json_and_back():
    hats = Hats.of(SPACE, PUBLIC, pairs=[(0, 2)])
    assert Hats.from_json(hats.to_json()) == hats


def test_the_spread_of_heaped_values_is_not_zero():
    assert spread(np.array([5.0] * 99 + [9.0])) == 1.0
    assert spread(np.array([0.0, 300.0])) == pytest.approx(300 / np.sqrt(2))


def test_no_cell_between_public_values_is_wide():
    """Most of the public rows are close together; the few far away are not measured as one."""
    lumped = np.concatenate([GENERATOR.normal(30, 2, 1000), [60.0, 78.0, 90.0]])
    space = Space.declare([(0, 100)])
    hats = Hats.of(space, space.encode({"x0": lumped}), knots=20)
    knots = hats.knots(0) * 100 / STEPS
    inside = (knots[:-1] >= lumped.min() - 1e-3) & (knots[1:] <= 90 + 1e-3)
    assert np.diff(knots)[inside].max() <= 10 + 1e-3
    assert knots[-2:] == pytest.approx([90, 100], abs=1e-3)
    assert hats.reach("replace", averaged=False).l1 == 2 * GRID


@pytest.mark.parametrize("pairs", [[], [(0, 1)], [(0, 2), (1, 2)]])
def test_functions_of_one_attribute_are_combinations_of_hats(pairs):
    hats, rows = Hats.of(SPACE, PUBLIC, pairs=pairs), codes(50)
    features = hats.steps(rows) / GRID
    assert features @ hats.combination(1, hats.knots(1)) == pytest.approx(rows[:, 1], abs=STEPS * 1e-3)
    assert features @ hats.combination(2, np.array([5.0, 7.0, 9.0])) == pytest.approx(5 + 2 * rows[:, 2])


def test_gaps_are_the_way_to_the_next_knot_on_the_wider_side():
    hats = Hats.at(PUBLIC, np.array([STEPS / 4, STEPS / 2]))
    assert hats.gaps.tolist() == [0.25, 0.25, 0.5, 0.5]
    paired = Hats.of(SPACE, PUBLIC, pairs=[(0, 2)])
    assert len(paired.gaps) == paired.size
    words = Hats.of(Space.declare(categories={"sex": ["f", "m", "x"]}), PUBLIC[:, 2:])
    assert words.gaps.tolist() == [0, 0, 0]
