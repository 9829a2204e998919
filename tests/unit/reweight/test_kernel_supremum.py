import numpy as np
import pytest

from sudare.reweight.kernel import supremum


def bump(low, high):
    """1 - |x - 0.3|^2 on boxes of the plane: the point of a box nearest to the peak is where it is largest."""
    nearest = np.clip(0.3, low, high)
    middle = (low + high) / 2
    return 1 - ((nearest - 0.3) ** 2).sum(axis=1), 1 - ((middle - 0.3) ** 2).sum(axis=1)


@pytest.mark.parametrize("boxes", [1, 5, 50, 5000])
def test_it_is_never_below_the_truth_however_early_it_stops(boxes):
    loose = lambda low, high: (bump(low, high)[0] + (high - low).sum(axis=1), bump(low, high)[1])  # noqa: E731
    bound = supremum(loose, np.zeros(2), np.ones(2), np.zeros(2, dtype=bool), boxes=boxes)
    assert bound >= 1
    if boxes == 5000:
        assert bound < 1.03


def test_categories_are_searched_to_the_last():
    values = np.array([0.2, 0.9, 0.4, 0.1, 0.7])

    def bounding(low, high):
        ranges = zip(low[:, 0].astype(int), high[:, 0].astype(int), strict=True)
        upper = np.array([values[a : b + 1].max() for a, b in ranges])
        return upper, values[np.floor((low[:, 0] + high[:, 0]) / 2).astype(int)]

    bound = supremum(bounding, np.zeros(1), np.array([4.0]), np.array([True]), tolerance=1e-6)
    assert 0.9 <= bound < 0.90001


def test_a_point_cannot_be_cut():
    flat = lambda low, high: (np.full(len(low), 2.0), np.full(len(low), 1.0))  # noqa: E731
    assert supremum(flat, np.zeros(1), np.zeros(1), np.array([True])) == pytest.approx(2)


def test_a_twin_that_samples_is_too_low():
    """What the rule forbids: the maximum over a grid is below the supremum, branch and bound is not."""
    peak = lambda x: np.exp(-((x - 0.123456) ** 2) / 1e-6)  # noqa: E731
    sampled = peak(np.linspace(0, 1, 1000)).max()

    def bounding(low, high):
        return peak(np.clip(0.123456, low, high))[:, 0], peak((low + high) / 2)[:, 0]

    assert sampled < 0.99
    assert supremum(bounding, np.zeros(1), np.ones(1), np.array([False])) >= 1
