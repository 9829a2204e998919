import numpy as np
import pytest

from papers_in_words import untranslated
from sudare.papers import ulsif_adult
from sudare.papers.ulsif import reproduce
from sudare.papers.ulsif_setting import (
    BOUNDS,
    CONTENDERS,
    GRID,
    Classifier,
    Draw,
    density,
    judge,
    noise_at,
    true_ratio,
)
from sudare.reweight.space import Space


def test_the_true_ratio_is_judged_best():
    draw = Draw.of(3)
    assert true_ratio(GRID) == pytest.approx(density(GRID, 2, 0.5) / density(GRID, 1, 1))
    assert judge(draw, true_ratio)[0] < 1e-12
    flat = judge(draw, lambda x: np.ones(len(x)))
    assert flat[0] == pytest.approx(np.sqrt(2.677 - 1), abs=0.01)  # E w^2 = 2.677 for these normals
    assert flat[1] > 0.5
    assert judge(draw, lambda x: np.zeros(len(x)))[1] == flat[1]


@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda contender: contender.name)
def test_every_contender_gives_a_ratio(contender):
    ratio = contender.ratio(Draw.of(1), 1.0, 0)
    values = np.asarray(ratio(GRID))
    assert np.isfinite(values).all()
    assert (values >= 0).all()


def test_spherical_noise_has_the_length_of_its_law():
    """Gamma(3, 2 / (n lambda epsilon)) in three coefficients: mean 3 and deviation sqrt 3 of its scale."""
    draw = Draw.of(1)
    made = Classifier.of(draw.private, draw.public, Space.declare(BOUNDS), 0.1, 2)
    lengths = [np.linalg.norm(made.noisy(1.0, seed) - made.coefficients) for seed in range(2000)]
    scale = 2 / (2000 * 0.1)
    assert abs(np.mean(lengths) - 3 * scale) < 5.5 * np.sqrt(3 / 2000) * scale  # false alarm below 1e-7
    assert abs(np.mean(lengths) - 3 * 1.3 * scale) > 5.5 * np.sqrt(3 / 2000) * scale


def test_the_noise_of_a_coefficient_follows_the_analysis():
    base = noise_at(b=20, epsilon=1.0, n=2000, runs=20, **{"lambda": 50.0})
    assert noise_at(b=20, epsilon=0.1, n=2000, runs=20, **{"lambda": 50.0}) == pytest.approx(10 * base, rel=1e-3)
    assert noise_at(b=20, epsilon=1.0, n=2000, runs=20, **{"lambda": 100.0}) == pytest.approx(base / 2, rel=0.02)


def test_the_stand_in_says_what_it_is_and_can_be_weighted(monkeypatch, tmp_path):
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    case = ulsif_adult.load()
    assert "invented stand-in" in str(case.basis)
    small = ulsif_adult.AdultCase(
        {name: column[:2000] for name, column in case.private.items()},
        {name: column[:3000] for name, column in case.public.items()},
        case.space,
        case.basis,
    )
    answered = ulsif_adult.compete(small, (1.0,), 2)
    errors = {one.name: one.errors.mean() for one in answered}
    assert errors["Sudare"] < errors["no weights"] / 2


def test_everything_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    monkeypatch.setattr("sudare.papers.ulsif.compete_on_adult", lambda case, epsilons, runs: [])
    said = []
    made = reproduce(tmp_path / "out", True, said.append, runs=1)
    names = {path.name for path in made.files if ".ja." not in path.name}
    assert names == {"ratios.csv", "noise.csv", "adult.csv", "figures.png"}
    assert all(path.stat().st_size for path in made.files)
    assert made.to_json()["paper"] == "ulsif"
    assert len(made.figures["figures"]["concat"]) == 4
    assert any(progress.done == progress.total for progress in said)
    assert not untranslated(made)
    assert {sheet.name for sheet in made.sheets} == {"ratios", "noise", "adult"}
