"""The law of perturbed records, and neighbours under replay."""

import numpy as np
import pytest
from scipy import stats

from sudare.errors import SudareError
from sudare.noise import record
from sudare.reconstruct.perturb import perturb

FALSE_ALARM = 1e-7
COLUMNS = {"age": np.linspace(20, 80, 60), "sex": np.resize(["f", "m"], 60)}
DECLARED = {"bounds": {"age": (17, 90)}, "categories": {"sex": ["f", "m"]}}


def test_laplace_noise_has_the_stated_scale():
    made = perturb(np.full(20_000, 50.0), bounds=(0, 100), epsilon=2, seed=5)
    noise = made.values - 50
    assert stats.kstest(noise, stats.laplace(scale=made.scale).cdf).pvalue > FALSE_ALARM
    for wrong in (0.7, 1.3):
        assert stats.kstest(noise, stats.laplace(scale=wrong * made.scale).cdf).pvalue < FALSE_ALARM


@pytest.mark.parametrize("noise", ["laplace", "square_wave"])
def test_a_replaced_record_is_within_the_sensitivity_and_changes_nothing_else(noise):
    with record() as tape:
        first = perturb(COLUMNS, **DECLARED, epsilon=1, noise=noise)
    neighbour = {name: column.copy() for name, column in COLUMNS.items()}
    neighbour["age"][0], neighbour["sex"][0] = 90, "m"
    with record(replay=tape) as again:
        second = perturb(neighbour, **DECLARED, epsilon=1, noise=noise)
    for name in COLUMNS:
        assert first.values[name].tolist() == second.values[name].tolist()
    for one, other in zip(tape.measured, again.measured, strict=True):
        moved = np.abs(one.exact - other.exact)
        assert (moved > 0).sum() <= 1
        if one.label == "column age" and noise == "laplace":
            assert 0 < moved.max() <= one.sensitivity


@pytest.mark.filterwarnings("ignore::sudare.errors.PrivacyWarning")
def test_rows_come_in_a_random_order_whatever_the_noise():
    """With hardly any noise rows can be told apart: 60 of them lie as they came, or ascend, with chance 1/60!."""
    made = perturb(COLUMNS, **DECLARED, epsilon=10**6)
    nearest = np.rint(made.values["age"]).tolist()
    came = np.rint(COLUMNS["age"]).tolist()
    assert sorted(nearest) == sorted(came)
    assert nearest != came
    assert nearest != perturb(COLUMNS, **DECLARED, epsilon=10**6).values["age"].tolist()
    # The two columns of a row stay together.
    sexes = dict(zip(came, COLUMNS["sex"].tolist(), strict=True))
    assert [sexes[age] for age in nearest] == made.values["sex"].tolist()


@pytest.mark.parametrize("column", [[40.0, 7654321.0], [-7654321.0, 40.0], [40.0, float("nan")]])
def test_a_refusal_shows_no_value(column):
    with pytest.raises(SudareError) as refused:
        perturb(column, bounds=(17, 90), epsilon=1)
    assert "7654321" not in str(refused.value)
    with pytest.raises(SudareError) as refused:
        perturb(["f", "wordone"], categories=["f", "m"], epsilon=1)
    assert "wordone" not in str(refused.value)
