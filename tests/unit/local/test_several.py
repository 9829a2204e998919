"""Two answers of one person: the budget that is divided, and how they go together."""

import numpy as np
import pytest

from sudare.errors import DomainError, InputError, ParameterError
from sudare.local import RandomisedResponse, Several, SubsetSelection, SymmetricUnary, estimate


@pytest.fixture
def people():
    """20,000 people, who take the bus to noodles."""
    rng = np.random.default_rng(4)
    way = rng.integers(0, 3, 20_000)
    lunch = np.where(rng.random(20_000) < 0.6, way, rng.integers(0, 5, 20_000))
    return {"lunch": lunch, "way": way, "town": rng.integers(0, 4, 20_000)}


def true(people, one, other, shape):
    return np.histogram2d(people[one], people[other], bins=[np.arange(size + 1) for size in shape])[0]


@pytest.mark.parametrize(
    "survey",
    [
        Several.divided({"lunch": 5, "way": 3, "town": 4}, epsilon=3),
        Several.divided({"lunch": 5, "way": 3, "town": 4}, epsilon=4, shares={"lunch": 2, "way": 1, "town": 1}),
        Several({"lunch": SubsetSelection(5, 2), "way": SymmetricUnary(3, 1), "town": SymmetricUnary(4, 1)}),
    ],
)
def test_joint_estimates_are_unbiased_with_the_error_that_they_state(survey, people):
    """Within six standard errors, and these as measured over 60 collections (to 25 %: five of their own errors)."""
    made = survey.joint(survey.randomize(people), "lunch", "way")
    truth = true(people, "lunch", "way", (5, 3))
    assert (np.abs(made.unbiased - truth) < 6 * made.standard_error).all()
    few = {name: values[:2000] for name, values in people.items()}
    drawn = np.array([survey.joint(survey.randomize(few), "lunch", "way").unbiased for _ in range(60)])
    stated = survey.joint(survey.randomize(few), "lunch", "way").standard_error
    assert abs((drawn.std(axis=0) / stated).mean() - 1) < 0.25
    assert made.counts.min() >= 0
    assert made.counts.sum() == pytest.approx(20_000)
    assert (made.low <= made.counts).all()
    assert (made.counts <= made.high).all()
    assert np.allclose(survey.joint(survey.randomize(people, seed=1), "way", "lunch").unbiased.shape, (3, 5))


def test_the_parts_add_up_to_the_whole_and_to_each_question(people):
    survey = Several.divided({"lunch": 5, "way": 3, "town": 4}, epsilon=3)
    assert survey.guarantee.epsilon == 3
    assert [encoding.epsilon for encoding in survey.questions.values()] == [1, 1, 1]
    reports = survey.randomize(people)
    made, alone = survey.joint(reports, "lunch", "town"), estimate(reports["lunch"], "mle")
    assert made.guarantee.epsilon == 3
    # Sums over the other answer are an estimate of the one question: within six of the joint errors.
    away = np.abs(made.unbiased.sum(axis=1) - alone.counts)
    assert (away < 6 * np.sqrt((made.standard_error**2).sum(axis=1))).all()


def test_reports_of_other_people_or_questions_are_refused(people):
    survey = Several.divided({"lunch": 5, "way": 3}, epsilon=2)
    with pytest.raises(DomainError, match="there is not an answer to each question"):
        survey.randomize(people)
    with pytest.raises(InputError, match="not of the same people"):
        survey.randomize({"lunch": people["lunch"], "way": people["way"][1:]})
    reports = survey.randomize({"lunch": people["lunch"], "way": people["way"]})
    with pytest.raises(ParameterError, match="no two questions"):
        survey.joint(reports, "lunch", "town")
    with pytest.raises(InputError, match="the reports are for another survey"):
        survey.joint({**reports, "way": reports["lunch"]}, "lunch", "way")
    with pytest.raises(ParameterError, match="one bit for each value"):
        Several({"lunch": RandomisedResponse(5, 1), "way": SymmetricUnary(3, 1)})
    with pytest.raises(ParameterError, match="shares are not one for each question"):
        Several.divided({"lunch": 5, "way": 3}, epsilon=2, shares={"lunch": 1})
    with pytest.raises(ParameterError, match="two or more"):
        Several.divided({"lunch": 5}, epsilon=2)
    assert survey.to_json()["way"]["size"] == 3
