from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.noise import Source, metered
from sudare.privacy import Budget
from sudare.reweight.hats import Hats
from sudare.reweight.kernel import Kernel
from sudare.reweight.measurement import checked_size, measure_mean
from sudare.reweight.space import STEPS, Space

SPACE = Space.declare([(0, 1)])
CODES = np.rint(np.random.default_rng(9).uniform(0, STEPS, (500, 1)))
HATS, KERNEL = Hats.of(SPACE, CODES, 8), Kernel(SPACE, CODES[:6], 0.1 * STEPS)
BUDGET = Budget(epsilon=Fraction(1, 2))


def measured(basis, adjacency, budget=BUDGET, seed=1, **options):
    reach = basis.reach(adjacency, averaged=False)
    source = Source.from_seed(seed)
    with metered() as meter:
        made = measure_mean(
            basis, basis.total(CODES), len(CODES), reach, budget, source, adjacency=adjacency, **options
        )
    meter.check(budget)
    return made, [label for label, _, _ in meter.costs]


def test_replace_divides_by_the_public_number():
    made, labels = measured(HATS, "replace")
    assert labels == ["means"]
    assert made.people == 500
    assert made.sensitivity == 2
    assert np.sqrt(made.variance) == pytest.approx(np.sqrt(2) * 2 / (0.5 * 500), rel=1e-3)


def test_add_remove_measures_the_size_unless_it_is_shown_or_declared():
    made, labels = measured(KERNEL, "add_remove")
    assert labels == ["size", "means"]
    assert made.people != 500
    assert made.people_variance == pytest.approx(2 * (1 / 0.1) ** 2, rel=0.01)
    shown, labels = measured(HATS, "add_remove")
    assert labels == ["means"]
    assert abs(shown.people - 500) < 60
    assert shown.sensitivity == 1
    declared, labels = measured(KERNEL, "add_remove", size=480)
    assert labels == ["means"]
    assert declared.people == 480


def test_the_noise_does_not_depend_on_how_many_records_there_are():
    """Under add_remove the true number must not set the scale: what measure is given is the same for any data."""
    from sudare.noise import record

    scales = set()
    for rows in (CODES[:0], CODES[:3], CODES):
        with record() as tape, metered():
            reach = KERNEL.reach("add_remove", averaged=False)
            total = KERNEL.total(rows)
            measure_mean(KERNEL, total, len(rows), reach, BUDGET, Source.from_seed(1), adjacency="add_remove")
        scales.add(tuple((one.label, one.sensitivity, one.budget) for one in tape.measured))
    assert len(scales) == 1


def test_gaussian_noise_uses_l2():
    made, _ = measured(HATS, "replace", Budget(rho=Fraction(1, 50)))
    assert made.sensitivity == pytest.approx(np.sqrt(2))
    assert np.sqrt(made.variance) == pytest.approx(np.sqrt(2) / np.sqrt(2 / 50) / 500, rel=1e-6)


@pytest.mark.parametrize("wrong", [0, -5, "many", float("nan")])
def test_a_size_is_a_number(wrong):
    with pytest.raises(ParameterError, match="size is not a declared number"):
        checked_size(wrong)
    assert checked_size("noisy") is None
