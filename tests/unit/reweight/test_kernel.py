from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.reweight.basis import GRID
from sudare.reweight.kernel import Kernel
from sudare.reweight.space import STEPS, Numeric, Space

GENERATOR = np.random.default_rng(2)


def kernel(columns: int, size: int, width: float = 0.1) -> Kernel:
    space = Space.declare([(0, 1)] * columns)
    return Kernel(space, np.rint(GENERATOR.uniform(0.2, 0.8, (size, columns)) * STEPS), width * STEPS)


def mixed(size: int) -> Kernel:
    space = Space.declare([(0, 1)], {"sex": ["f", "m"], "job": ["a", "b", "c"]})
    centres = np.stack(
        [
            np.rint(GENERATOR.uniform(0, STEPS, size)),
            GENERATOR.integers(0, 2, size).astype(float),
            GENERATOR.integers(0, 3, size).astype(float),
        ],
        axis=1,
    )
    return Kernel(space, centres, 0.7 * STEPS)


def everywhere(basis: Kernel, rows: int) -> np.ndarray:
    low, high = box(basis)
    points = np.rint(GENERATOR.uniform(low, high, (rows, len(low))))
    corners = np.array(list(product(*zip(low, high, strict=True))))
    return np.concatenate([points, basis.centres, corners])


def box(basis: Kernel) -> np.ndarray:
    """The ends of the declared box of codes: (2, attributes)."""
    top = [STEPS if isinstance(attribute, Numeric) else attribute.size - 1 for attribute in basis.space.attributes]
    return np.stack([np.zeros(len(top)), np.array(top, dtype=float)])


def test_values_are_the_formula_to_half_a_step():
    basis = kernel(3, 7)
    points = np.rint(GENERATOR.uniform(0, STEPS, (50, 3)))
    square = ((points[:, None, :] - basis.centres) ** 2).sum(axis=2)
    assert np.abs(basis.steps(points) - GRID * np.exp(-square / (2 * basis.width**2))).max() <= 0.501


def test_a_record_has_the_same_features_wherever_it_stands():
    """The proof of the sensitivity rests on it: whole-number distances, an exponential element by element."""
    basis, points = kernel(3, 37, 0.3), np.rint(GENERATOR.uniform(0, STEPS, (300, 3)))
    whole = basis.steps(points)
    for first, last in ((0, 1), (1, 2), (5, 300), (7, 19), (299, 300)):
        assert (basis.steps(points[first:last]) == whole[first:last]).all()
    order = GENERATOR.permutation(300)
    assert (basis.steps(points[order]) == whole[order]).all()
    assert basis.total(points[order]).tolist() == whole.sum(axis=0).astype(int).tolist()


def test_the_exponential_does_not_depend_on_place_or_alignment():
    values = GENERATOR.uniform(-30, 17, 4097)
    whole = np.exp(values)
    for first in range(1, 20):
        assert (np.exp(values[first:]) == whole[first:]).all()
        assert (np.exp(values[::first]) == whole[::first]).all()
        assert np.exp(values[first : first + 1])[0] == whole[first]


@pytest.mark.parametrize(
    "basis",
    [kernel(1, 5), kernel(1, 20, 0.02), kernel(2, 6), kernel(3, 12), mixed(8)],
    ids=["1", "narrow", "2", "3", "mixed"],
)
def test_no_pair_of_records_is_further_apart_than_the_bound(basis):
    steps = basis.steps(everywhere(basis, 400))
    apart = np.abs(steps[:, None, :] - steps[None, :, :])
    replace, add = basis.reach("replace", averaged=False), basis.reach("add_remove", averaged=False)
    assert apart.sum(axis=2).max() <= replace.l1
    assert np.sqrt((apart**2).sum(axis=2).max()) <= replace.l2
    assert steps.sum(axis=1).max() <= add.l1
    assert np.sqrt((steps**2).sum(axis=1).max()) <= add.l2
    assert replace.l1 <= Fraction(basis.size) * (GRID + 2)  # never worse than one a centre


def test_the_bounds_are_tight_where_the_paper_is_loose():
    """The setting of the paper: bC/n is 10 and 50, the suprema 7.1 and 34.5 (methods page)."""
    sample = np.random.default_rng(0).normal(1, 1, 50)
    space = Space.declare([(-4, 6)])
    for size, paper in ((10, 10), (50, 50)):
        centres = space.encode({"x0": np.quantile(sample, (np.arange(size) + 0.5) / size)})
        basis = Kernel(space, centres, 0.0675 * STEPS)
        fine = basis.steps(np.rint(np.linspace(0, STEPS, 1500))[:, None]) / GRID
        sampled = max(np.abs(fine - row).sum(axis=1).max() for row in fine[::5])
        assert sampled <= basis.largest_difference <= 1.03 * sampled < 0.75 * paper


def test_a_twin_with_the_half_bound_is_caught():
    """sup |k(x)|_1 / n, which the methods page warns of, is below what two records can differ by."""
    basis = kernel(1, 2, 0.01)
    basis = Kernel(basis.space, np.array([[0.1 * STEPS], [0.9 * STEPS]]).round(), basis.width)
    steps = basis.steps(basis.centres)
    assert np.abs(steps[0] - steps[1]).sum() > basis.reach("add_remove", averaged=False).l1
    assert np.abs(steps[0] - steps[1]).sum() <= basis.reach("replace", averaged=False).l1


def test_intervals_hold_every_value_of_their_box():
    basis = mixed(6)
    low, high = box(basis)
    for _ in range(20):
        ends = np.rint(np.sort(GENERATOR.uniform(low, high, (2, len(low))), axis=0))
        inside = np.rint(GENERATOR.uniform(ends[0], ends[1], (50, len(low))))
        least, most = basis.interval(ends[:1], ends[1:])
        values = np.exp(basis._exponents(inside))
        assert (values >= least - 1e-12).all()
        assert (values <= most + 1e-12).all()


@pytest.mark.parametrize("most", [1, 7, 100, 5000])
@pytest.mark.parametrize("basis", [kernel(1, 3), kernel(3, 3), mixed(3)], ids=["1", "3", "mixed"])
def test_boxes_cover_every_record_and_the_bound_holds_however_few(basis, most):
    low, high = basis.boxes(most)
    assert len(low) <= most
    points = everywhere(basis, 200)
    inside = ((low <= points[:, None]) & (points[:, None] <= high)).all(axis=2)
    assert inside.any(axis=1).all()
    largest = basis.interval(low, high)[1].sum(axis=1).max()
    assert np.exp(basis._exponents(points)).sum(axis=1).max() <= largest + 1e-12
    assert basis.largest_sum <= largest * (1 + 1e-6), "more boxes, a bound no larger"


def test_a_twin_that_samples_is_too_low():
    """What the rule forbids: the maximum over a grid is below the supremum, the bound is not."""
    basis = Kernel(Space.declare([(0, 1)]), np.array([[123_456.0]]), 500.0)
    sampled = np.exp(basis._exponents(np.linspace(0, STEPS, 800)[:, None])).max()
    assert sampled < 0.99
    assert basis.largest_sum >= 1


def test_what_cannot_be_a_kernel():
    space = Space.declare([(0, 1)])
    with pytest.raises(ParameterError, match="width of the kernel is not positive"):
        Kernel(space, np.zeros((1, 1)), 0.0)
    wide = Space.declare(None, {"code": [str(number) for number in range(1025)]})
    with pytest.raises(ParameterError, match="too many coordinates for exact distances"):
        Kernel(wide, np.zeros((1, 1)), 1.0)
