"""Risk and loss, and what section 3.2 sets aside."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.anonymity import Hierarchy
from sudare.anonymity.anonymized import Assessment, promised
from sudare.anonymity.lattice import Generalisation, Tuples
from sudare.anonymity.recoding import Classes, Recoding


@pytest.fixture
def assessment(age: Hierarchy) -> Assessment:
    """Of (10, 10, 20, 1, 0, 5) records by decade, (4, 2, 5, 1, 0, 1) were drawn and published in pairs, k = 3."""
    population = Tuples(
        ("age",), (age,), np.array([[0], [1], [2], [3], [5]], dtype=np.int32), np.array([10, 10, 20, 1, 5])
    )
    drawn = population.selected(np.ones(5, dtype=bool), np.array([4, 2, 5, 1, 1]))
    made = Recoding.everywhere(drawn, Generalisation.at((age,), [1])).published(3)
    return Assessment(Classes(made, population), drawn.total)


def test_measures_by_hand(assessment: Assessment) -> None:
    found = {measure.name: measure.value for measure in assessment.table}
    assert assessment.classes.taken.tolist() == [6, 6]
    assert assessment.classes.held.tolist() == [20, 21]
    assert found["ncp"] == pytest.approx(2 / 6)
    assert found["ncp of age"] == pytest.approx(2 / 6)
    assert found["average class size"] == 6
    assert found["prosecutor risk"] == pytest.approx(1 / 6)
    assert found["mean prosecutor risk"] == pytest.approx(2 / 12)
    assert found["unique after"] == 0
    assert found["suppressed share"] == pytest.approx(1 / 13)
    assert found["ncp with suppressed"] == pytest.approx((12 * 2 / 6 + 1) / 13)
    assert found["discernibility"] == 36 + 36 + 13
    assert found["journalist risk"] == pytest.approx(1 / 20)
    assert found["marketer risk"] == pytest.approx((6 / 20 + 6 / 21) / 12)
    assert found["unique before"] == pytest.approx(1 / 46)


def test_public_measures_need_the_file_alone(assessment: Assessment) -> None:
    assert {measure.name for measure in assessment.public} == {
        "ncp",
        "ncp of age",
        "average class size",
        "prosecutor risk",
        "mean prosecutor risk",
        "unique after",
    }
    assert "held" not in vars(assessment.classes)


def test_nothing_published(assessment: Assessment) -> None:
    empty = Classes(assessment.classes.recoding.only(np.zeros(2, dtype=bool)), assessment.classes.population)
    values = {measure.name: measure.value for measure in Assessment(empty, 13).table}
    assert values["suppressed share"] == 1
    assert values["ncp with suppressed"] == 1
    assert values["prosecutor risk"] == 0


def test_risks_stay_below_what_was_promised(assessment: Assessment) -> None:
    bounds = {measure.name: measure.value for measure in promised(3)}
    found = {measure.name: measure.value for measure in assessment.table}
    assert all(found[name] <= bound for name, bound in bounds.items())
