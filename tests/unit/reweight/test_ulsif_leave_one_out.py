import numpy as np
import pytest

from sudare.reweight.ratio import Gaussian, choose, kernels, leave_one_out

GENERATOR = np.random.default_rng(4)


def by_refitting(numerator, denominator, regularisation):
    scores = []
    for i in range(min(len(numerator), len(denominator))):
        top, bottom = np.delete(numerator, i, axis=0), np.delete(denominator, i, axis=0)
        second = bottom.T @ bottom / len(bottom) + regularisation * np.eye(bottom.shape[1])
        fitted = np.maximum(np.linalg.solve(second, top.mean(axis=0)), 0)
        scores.append((denominator[i] @ fitted) ** 2 / 2 - numerator[i] @ fitted)
    return np.mean(scores)


@pytest.mark.parametrize(("n", "rows"), [(30, 20), (20, 30), (15, 15)])
@pytest.mark.parametrize("regularisation", [1e-3, 0.1, 3.0])
def test_the_closed_form_is_brute_force_refitting(n, rows, regularisation):
    above, below = GENERATOR.normal(1, 0.5, (n, 2)), GENERATOR.normal(0, 1, (rows, 2))
    basis = Gaussian(above[:8], 0.7)
    numerator, denominator = basis(above), basis(below)
    score = leave_one_out(numerator, denominator, [regularisation])[0]
    assert score == pytest.approx(by_refitting(numerator, denominator, regularisation), abs=1e-9)


def test_the_formula_of_densratio_is_not():
    """densratio 0.4.0 leaves the division by d out of B1 (methods page, point 5); so would this twin."""
    above, below = GENERATOR.normal(1, 0.5, (12, 1)), GENERATOR.normal(0, 1, (12, 1))
    basis = Gaussian(above[:5], 0.7)
    p, x = basis(above), basis(below)
    rows, h = 12, p.mean(axis=0)
    inverse = np.linalg.inv(x.T @ x / rows + 0.1 * (rows - 1) / rows * np.eye(5))
    gap = rows - (x * (x @ inverse)).sum(axis=1)
    with_h = h @ inverse + (x @ inverse) * ((x @ inverse @ h) / gap)[:, None]
    dropped = p @ inverse + (x @ inverse) * (p * (x @ inverse)).sum(axis=1)[:, None]
    wrong = np.maximum((rows - 1) / (rows * (rows - 1)) * (rows * with_h - dropped), 0)
    score = np.mean((wrong * x).sum(axis=1) ** 2 / 2 - (wrong * p).sum(axis=1))
    assert abs(score - by_refitting(p, x, 0.1)) > 1e-6


def test_the_choice_has_the_smallest_score_of_all():
    above, below = GENERATOR.normal(1, 0.5, (60, 1)), GENERATOR.normal(0, 1, (60, 1))
    bases, strengths = kernels(above, below), (1e-2, 1.0)
    choice = choose(above, below, bases, strengths)
    scores = [leave_one_out(basis(above), basis(below), strengths) for basis in bases]
    assert choice.score == np.min(scores)
    assert choice.regularisation in strengths
