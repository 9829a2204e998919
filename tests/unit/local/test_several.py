"""Two answers of one person: the budget that is divided, and how they go together."""

import numpy as np
import pytest

from sudare.errors import DomainError, InputError, ParameterError
from sudare.local import (
    FORGED,
    LocalHashing,
    RandomisedResponse,
    Reports,
    Several,
    SubsetSelection,
    SymmetricUnary,
    Tally,
    encoding_from_json,
    estimate,
    honest_chance,
    joint,
)
from sudare.measure.simplex import project_rows

SIZES = {"lunch": 5, "way": 3, "town": 4}


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
        Several.divided(SIZES, epsilon=3),
        Several.divided(SIZES, epsilon=4, shares={"lunch": 2, "way": 1, "town": 1}),
        Several.divided(SIZES, epsilon=3, encoding=RandomisedResponse),
        Several({"lunch": SubsetSelection(5, 2), "way": RandomisedResponse(3, 1), "town": SymmetricUnary(4, 1)}),
    ],
)
def test_joint_estimates_are_unbiased_with_the_error_that_they_state(survey, people):
    """Within six standard errors, and these as measured over 60 collections (to 25 %: five of their own errors)."""
    made = joint(survey.randomize(people), "lunch", "way")
    truth = true(people, "lunch", "way", (5, 3))
    assert (np.abs(made.unbiased - truth) < 6 * made.standard_error).all()
    few = {name: values[:2000] for name, values in people.items()}
    drawn = np.array([joint(survey.randomize(few), "lunch", "way").unbiased for _ in range(60)])
    stated = joint(survey.randomize(few), "lunch", "way").standard_error
    assert abs((drawn.std(axis=0) / stated).mean() - 1) < 0.25
    assert made.counts.min() >= 0
    assert made.counts.sum() == pytest.approx(20_000)
    assert (made.low <= made.counts).all()
    assert (made.counts <= made.high).all()


def test_the_parts_add_up_to_the_whole_and_to_each_question(people):
    survey = Several.divided(SIZES, epsilon=3)
    assert survey.guarantee.epsilon == 3
    assert [encoding.epsilon for encoding in survey.questions.values()] == [1, 1, 1]
    reports = survey.randomize(people)
    made, alone = joint(reports, "lunch", "town"), estimate(reports, "mle", question="lunch")
    assert (made.guarantee.epsilon, alone.guarantee.epsilon) == (3, 1)
    # Sums over the other answer are an estimate of the one question: within six of the joint errors.
    away = np.abs(made.unbiased.sum(axis=1) - alone.counts)
    assert (away < 6 * np.sqrt((made.standard_error**2).sum(axis=1))).all()
    assert np.allclose(joint(reports, "town", "lunch").unbiased, made.unbiased.T)
    for axis, name in ((1, "lunch"), (0, "town")):
        assert np.allclose(made.counts.sum(axis=axis), estimate(reports, "simplex", question=name).counts, atol=0.1)


def test_sums_that_fit_the_questions_make_the_joint_estimate_better(people):
    """Against the nearest point that only adds up to the people, over 20 draws (six of their standard errors)."""
    survey, truth = Several.divided(SIZES, epsilon=3), true(people, "lunch", "way", (5, 3))
    gained = []
    for _ in range(20):
        made = joint(survey.randomize(people), "lunch", "way")
        plain = project_rows(made.unbiased.reshape(1, -1), np.array([20_000.0]))[0].reshape(5, 3)
        gained.append(np.abs(plain - truth).sum() - np.abs(made.counts - truth).sum())
    assert np.mean(gained) > 0


@pytest.mark.parametrize("encoding", [SymmetricUnary, RandomisedResponse, SubsetSelection])
def test_a_tally_and_a_file_know_all_that_the_reports_know(encoding, people, tmp_path):
    survey = Several.divided(SIZES, epsilon=3, encoding=encoding)
    assert encoding_from_json(survey.to_json()) == survey
    turned = Several(dict(reversed(survey.questions.items())))
    assert survey != turned  # the order of the questions is the order of the bytes
    reports = survey.randomize(people)
    read = Reports.from_parquet(reports.to_parquet(tmp_path / "reports.parquet"))
    tally = Tally.from_json((Tally(survey).add(reports[:9000]) + Tally(survey).add(reports[9000:])).to_json())
    for name in SIZES:
        part = survey.part(read, name)
        assert np.array_equal(Tally(part.encoding).add(part).sums, tally.part(name).sums)
        by_each = estimate(reports.chunks(1000), "simplex", question=name).counts
        assert np.array_equal(by_each, estimate(tally, "simplex", question=name).counts)
    assert np.array_equal(joint(read, "way", "town").unbiased, joint(tally, "way", "town").unbiased)


def test_forged_reports_to_one_question_are_found(people):
    survey = Several.divided(SIZES, epsilon=3)
    honest = Tally(survey).add(survey.randomize(people, seed=1))
    forged = np.zeros((400, survey.report_bytes), dtype=np.uint8)
    assert honest_chance(honest) > 0.01
    assert honest_chance(Tally(survey).add(forged)) < FORGED


def test_what_is_no_report_or_no_question_is_refused(people):
    survey = Several.divided({"lunch": 5, "way": 3}, epsilon=2)
    two = {"lunch": people["lunch"], "way": people["way"]}
    with pytest.raises(DomainError, match="there is not an answer to each question"):
        survey.randomize(people)
    with pytest.raises(InputError, match="not of the same people"):
        survey.randomize({**two, "way": two["way"][1:]})
    with pytest.raises(DomainError, match="outside the declared domain"):
        survey.randomize({**two, "way": two["lunch"]})
    reports = survey.randomize(two)
    with pytest.raises(ParameterError, match="there is no such question"):
        joint(reports, "lunch", "town")
    with pytest.raises(ParameterError, match="the same"):
        joint(reports, "lunch", "lunch")
    with pytest.raises(ParameterError, match="name one"):
        estimate(reports)
    with pytest.raises(ParameterError, match="to one question"):
        estimate(survey.part(reports, "lunch"), question="lunch")
    with pytest.raises(InputError, match="beyond the last value"):
        survey.check(np.array([[0, 255]], dtype=np.uint8))
    with pytest.raises(ParameterError, match="not one for several questions"):
        Several({"lunch": LocalHashing(5, 1), "way": SymmetricUnary(3, 1)})
    with pytest.raises(ParameterError, match="shares are not one for each question"):
        Several.divided({"lunch": 5, "way": 3}, epsilon=2, shares={"lunch": 1})
    with pytest.raises(ParameterError, match="two or more"):
        Several.divided({"lunch": 5}, epsilon=2)
    with pytest.raises(ParameterError, match="too many answers together"):
        Several.divided({"lunch": 200, "way": 57}, epsilon=2)
