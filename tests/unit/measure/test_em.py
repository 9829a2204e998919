"""EM through a known channel: its limit, its stopping, and the acceleration."""

from itertools import pairwise

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.measure import em
from sudare.measure.em import accelerate, split

CHANNEL = np.array([[0.5, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.2, 0.5], [0.1, 0.1, 0.2]])


def forward(law: np.ndarray) -> np.ndarray:
    return CHANNEL @ law


def back(score: np.ndarray) -> np.ndarray:
    return CHANNEL.T @ score


def test_the_limit_is_the_maximum_of_the_likelihood() -> None:
    truth = np.array([0.5, 0.2, 0.3])
    found = em(1e6 * forward(truth), forward, back, np.full(3, 1 / 3), stop="converged", tolerance=1e-10)
    assert found.converged
    np.testing.assert_allclose(found.probabilities, truth, atol=1e-5)
    # On the border: a report that the second value cannot explain better than the others.
    found = em(np.array([90.0, 0, 10, 0]), forward, back, np.full(3, 1 / 3), stop="converged")
    gradient = back(np.array([0.9, 0, 0.1, 0]) / forward(found.probabilities))
    assert gradient[found.probabilities > 1e-4] == pytest.approx(1, abs=1e-3)
    assert (gradient < 1 + 1e-3).all()


def test_a_number_of_steps_is_plain_em_and_the_likelihood_grows() -> None:
    counts, start = np.array([5.0, 4, 3, 1]), np.array([0.2, 0.3, 0.5])
    point, scores = start, []
    for step in range(1, 6):
        point = point * back(counts / 13 / forward(point))
        found = em(counts, forward, back, start, stop=step)
        np.testing.assert_allclose(found.probabilities, point / point.sum())
        scores.append(found.score)
    assert all(later > earlier for earlier, later in pairwise(scores))


@pytest.mark.slow
def test_held_out_reports_stop_it_before_it_fits_the_noise() -> None:
    generator = np.random.default_rng(3)
    size = 60
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    channel = np.exp(-distance / 8.0)
    channel /= channel.sum(axis=0)
    truth = np.exp(-((np.arange(size) - 25) ** 2) / 60.0)
    truth /= truth.sum()
    counts = generator.multinomial(800, channel @ truth).astype(float)
    apply = (lambda p: channel @ p, lambda r: channel.T @ r)
    start = np.full(size, 1 / size)
    stopped = em(counts, *apply, start, generator=generator)
    limit = em(counts, *apply, start, stop="converged", steps=20_000)
    error = {name: np.abs(f.probabilities - truth).sum() for name, f in (("stopped", stopped), ("limit", limit))}
    assert error["stopped"] < 0.6 * error["limit"]
    smooth = em(
        counts, *apply, start, stop=200, smooth=lambda p: np.convolve(np.pad(p, 1, "edge"), [0.25, 0.5, 0.25], "valid")
    )
    assert np.abs(np.diff(smooth.probabilities, 2)).sum() < 0.2 * np.abs(np.diff(limit.probabilities, 2)).sum()


def test_acceleration_reaches_the_same_point_in_fewer_steps_and_never_falls() -> None:
    counts, start, scores = np.array([500.0, 300, 150, 50]), np.full(3, 1 / 3), []

    def score(point: np.ndarray) -> float:
        return float((counts * np.log(forward(point))).sum())

    def step(point: np.ndarray) -> np.ndarray:
        scores.append(score(point))
        moved = point * back(counts / 1000 / forward(point))
        return moved / moved.sum()

    quick = accelerate(
        step, start, score, tolerance=1e-12, repair=lambda p: np.maximum(p, 1e-12) / np.maximum(p, 1e-12).sum()
    )
    point, plain = start, 0
    while np.abs(step(point) - point).max() > 1e-12 and plain < 100_000:
        point, plain = step(point), plain + 1
    assert quick.converged
    assert quick.steps < plain / 3
    assert quick.score >= score(point) - 1e-6


@pytest.mark.parametrize("reports", [1, 2, 3])
def test_a_handful_of_reports_has_folds_that_judge_nothing(reports: int) -> None:
    for seed in range(20):
        counts = np.array([float(reports), 0, 0, 0])
        found = em(counts, forward, back, np.full(3, 1 / 3), generator=np.random.default_rng(seed))
        assert np.isfinite(found.probabilities).all()


def test_folds_are_parts_of_the_whole() -> None:
    counts = np.array([7.0, 0, 1000])
    parts = split(counts, np.random.default_rng(1))
    assert sum(parts).tolist() == counts.tolist()
    assert all(150 < part[2] < 250 for part in parts)


@pytest.mark.parametrize("counts", [[0.0, 0, 0, 0], [1, -1, 2, 3], [np.nan, 1, 1, 1]])
def test_no_reports_are_refused(counts: list[float]) -> None:
    with pytest.raises(ParameterError, match="EM needs reports"):
        em(np.array(counts), forward, back, np.full(3, 1 / 3))


@pytest.mark.parametrize("stop", ["sometime", 0, 2.5])
def test_an_unknown_rule_is_refused(stop: object) -> None:
    with pytest.raises(ParameterError, match="no such rule to stop"):
        em(np.ones(4), forward, back, np.full(3, 1 / 3), stop=stop)
