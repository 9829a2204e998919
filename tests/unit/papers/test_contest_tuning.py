import pytest

from sudare.papers.contest import tuned


@pytest.mark.parametrize("best", [0.002, 0.07, 0.6])
def test_the_least_loss_is_found_within_an_eighth_of_an_octave(best):
    found = tuned(lambda strength: abs(strength / best - 1), 1e-4, 0.9)
    assert found == pytest.approx(best, rel=0.1)


def test_no_strength_leaves_the_bounds():
    asked = []
    tuned(lambda strength: asked.append(strength) or -strength, 0.01, 0.5)
    assert max(asked) <= 0.5
    assert min(asked) == pytest.approx(0.01, rel=0.5)
