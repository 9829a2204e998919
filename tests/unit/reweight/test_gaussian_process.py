import numpy as np
import pytest

from sudare.reweight.basis import GRID
from sudare.reweight.kernel import JITTER, GaussianProcess, Kernel
from sudare.reweight.rows import PublicFeatures
from sudare.reweight.space import STEPS, Space

SPACE = Space.declare([(0, 1)])


def process(size: int, width: float = 0.1) -> GaussianProcess:
    return GaussianProcess(Kernel(SPACE, np.rint(np.linspace(0.1, 0.9, size) * STEPS)[:, None], width * STEPS))


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 30, 120])
def test_the_sensitivity_does_not_grow_with_the_centres(size):
    basis = process(size)
    points = np.rint(np.linspace(0, STEPS, 300))[:, None]
    measured = np.array([basis.measured(basis.total(point[None, :])) for point in points])
    apart = np.sqrt(((measured[:, None, :] - measured[None, :, :]) ** 2).sum(axis=2).max())
    bound = basis.reach("replace", averaged=False).l2
    assert apart <= bound < 1.01 * np.sqrt(2) * GRID
    longest = np.sqrt((measured**2).sum(axis=1).max())
    assert longest <= basis.reach("add_remove", averaged=False).l2 < 1.01 * GRID
    assert np.abs(measured[:, None, :] - measured[None, :, :]).sum(axis=2).max() <= basis.reach("replace", False).l1


def test_many_close_centres_leave_no_direction_without_noise():
    """K_cc of 120 close centres is singular; white noise on M h is noise of at least the jitter in every direction."""
    basis = process(120)
    assert np.linalg.eigvalsh(basis.kernel.between_centres)[0] < 1e-12
    back = np.linalg.inv(basis.mixing)
    assert np.linalg.eigvalsh(back @ back.T)[0] > JITTER / 2


def test_what_is_measured_is_the_mixed_mean():
    basis, points = process(20), np.rint(np.linspace(0, STEPS, 50))[:, None]
    mean = basis.measured(basis.total(points)) / (50 * GRID)
    assert mean == pytest.approx(PublicFeatures(basis, points).moments.mean, abs=1e-4)


def test_the_mixing_is_exact_arithmetic():
    basis = process(10)
    total = np.array([2**60, -(2**60), 1, 0, 5, 2**59, 3, -7, 11, 2**58])
    exact = [sum(int(w) * int(t) for w, t in zip(row, total, strict=True)) for row in basis.whole_matrix]
    assert basis.measured(total // 2**10).tolist() == pytest.approx([value / 2**40 for value in exact], abs=2**18)
    small = basis.measured(np.arange(10))
    assert small.dtype == np.int64


def test_averaging_costs_a_little():
    basis = process(10)
    assert basis.reach("replace", averaged=True).l2 > basis.reach("replace", averaged=False).l2


def test_the_total_is_rounded_with_a_record_and_without():
    """Both times by up to half a step, so that a rounded coordinate moves by up to 1 more or less than the exact one.

    The record stands at a centre that is alone, so that it moves one coordinate, and its own kernels are not rounded.
    """
    basis, size = process(30, width=0.002), 30
    record = basis.total(basis.kernel.centres[:1])
    exact = int(basis.whole_matrix[0, 0]) * int(record[0]) / 2**30
    totals = np.random.default_rng(3).integers(0, 2**30, (300, size))
    moved = [(basis.measured(total + record) - basis.measured(total))[0] for total in totals]
    assert record[1:].max() == 0
    assert np.abs(np.array(moved) - exact).max() > 0.5  # one rounding alone does not go as far
    embedded, matrix = basis._norms
    for adjacency, records in (("add_remove", 1), ("replace", 2)):
        whole = GRID * np.sqrt(records * embedded) + records * 0.51 * np.sqrt(size * matrix) + np.sqrt(size)
        assert basis.reach(adjacency, averaged=False).l2 >= whole
