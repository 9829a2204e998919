import numpy as np
import pytest

import sudare.reweight as reweight
from sudare.errors import InputError, ParameterError

GENERATOR = np.random.default_rng(11)
PRIVATE = {"age": GENERATOR.normal(45, 9, 4000), "sex": np.where(GENERATOR.random(4000) < 0.7, "f", "m")}
PUBLIC = {"age": GENERATOR.normal(40, 12, 600), "sex": np.where(GENERATOR.random(600) < 0.5, "f", "m")}
MADE = reweight.fit(
    PRIVATE, PUBLIC, epsilon=1.0, bounds={"age": (0, 100)}, categories={"sex": ["f", "m"]}, pairs="none", seed=1
)


def test_means_with_intervals():
    answer = MADE.mean("age")
    assert answer.labels == ("age",)
    assert answer.value[0] == pytest.approx(np.average(PUBLIC["age"], weights=MADE.weights))
    wide = MADE.mean("age", level=0.999)
    assert wide.low[0] <= PRIVATE["age"].mean() <= wide.high[0]
    assert 0 < answer.high[0] - answer.low[0] < 4
    half = MADE.mean("age", level=0.5)
    assert half.high[0] - half.low[0] < answer.high[0] - answer.low[0]
    several = MADE.mean(np.stack([PUBLIC["age"], PUBLIC["age"] ** 2], axis=1))
    assert several.value.shape == (2,)
    assert several.labels == ("query 0", "query 1")


def test_counts_are_shares_of_the_published_number():
    women = MADE.count(PUBLIC["sex"] == "f")
    assert women.value[0] == pytest.approx(4000 * np.average(PUBLIC["sex"] == "f", weights=MADE.weights))
    assert abs(women.value[0] - (PRIVATE["sex"] == "f").sum()) < 100
    assert (MADE.count(np.zeros(600, dtype=bool)).low >= 0).all()


def test_histograms_and_tables_add_up():
    bins = MADE.histogram("age", [0, 30, 50, 100])
    assert bins.value.sum() == pytest.approx(4000)
    assert bins.labels[1] == "age 30 to 50"
    closed = reweight.fit([1.0, 2.0, 2.0], [1.0, 2.0, 1.5], 1.0, bounds=[(0, 4)], seed=1).histogram("x0", [1, 1.5, 2])
    assert closed.value.sum() == pytest.approx(3)
    table = MADE.table("sex")
    assert table.labels == ("sex f", "sex m")
    assert table.value.sum() == pytest.approx(4000)
    old = {**PUBLIC, "old": PUBLIC["age"] > 50}
    made = reweight.fit(PRIVATE, old, epsilon=1, bounds={"age": (0, 100)}, categories={"sex": ["f", "m"]}, seed=1)
    assert len(made.table("sex", "old").labels) == 4


def test_moments_are_what_a_regression_needs():
    extra = {**PUBLIC, "pay": 2 * PUBLIC["age"] + GENERATOR.normal(0, 1, 600)}
    made = reweight.fit(PRIVATE, extra, epsilon=1, bounds={"age": (0, 100)}, categories={"sex": ["f", "m"]}, seed=1)
    answer = made.moments("age", "pay")
    matrix = answer.value.reshape(3, 3)
    assert matrix[0, 0] == pytest.approx(1)
    assert matrix == pytest.approx(matrix.T)
    slope = np.linalg.solve(matrix[:2, :2], matrix[:2, 2])[1]
    assert slope == pytest.approx(2, abs=0.1)
    assert answer.to_json()[1]["query"] == "1 age"


def test_less_privacy_noise_gives_shorter_intervals():
    halves = []
    for epsilon in (0.02, 0.2, 2.0):
        made = reweight.fit(
            PRIVATE, PUBLIC, epsilon=epsilon, bounds={"age": (0, 100)}, categories={"sex": ["f", "m"]}, seed=4
        )
        halves.append(float(np.ptp([made.mean("age").low, made.mean("age").high])))
    assert halves == sorted(halves, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"basis": "kernel"}, {"estimator": "ulsif"}])
def test_intervals_hold_the_truth_about_as_often_as_they_say(options):
    """At level 0.9 over 60 runs of four queries; 150 of 240 would be missed by a right interval less than once in 1e7
    runs even if all queries of a run stood and fell together (binomial, 60 draws of 0.9, at least 37)."""
    held = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        public, private = generator.normal(1, 1, 300), generator.normal(1.8, 0.6, 2000)
        made = reweight.fit(private, public, epsilon=0.5, bounds=[(-4, 6)], seed=seed, **options)
        functions = [lambda x: x, lambda x: x > 1.5, lambda x: x > 2.2, lambda x: x**2]
        answer = made.mean(np.stack([f(public).astype(float) for f in functions], axis=1))
        truth = np.array([f(private).mean() for f in functions])
        held += int(((answer.low <= truth) & (truth <= answer.high)).sum())
    assert held > 150


@pytest.mark.slow
def test_a_twin_that_forgets_the_noise_is_caught():
    """Without the noise only the finite samples are left, and far fewer intervals hold."""
    from dataclasses import replace

    held = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        public, private = generator.normal(1, 1, 4000), generator.normal(1.8, 0.6, 500)
        made = reweight.fit(private, public, epsilon=0.1, bounds=[(-4, 6)], seed=seed)
        answer = replace(made, measured=replace(made.measured, variance=1e-30)).mean(public)
        held += int(answer.low[0] <= private.mean() <= answer.high[0])
    assert held < 37


@pytest.mark.parametrize(
    ("ask", "error", "sentence"),
    [
        (lambda made: made.mean("agee"), InputError, "no such column \\(got 'agee'\\). Did you mean 'age'"),
        (lambda made: made.mean("sex"), InputError, "not a column of numbers"),
        (lambda made: made.mean([1.0, 2.0]), InputError, "one for each public row"),
        (lambda made: made.mean(np.full(600, np.nan)), InputError, "NaN or infinity"),
        (lambda made: made.mean("age", level=1.0), ParameterError, "level is not a probability"),
        (lambda made: made.count(PUBLIC["age"]), ParameterError, "true or false at every row"),
        (lambda made: made.histogram("age", [3, 1]), ParameterError, "edges are not ascending"),
        (lambda made: made.table(), ParameterError, "a table needs a column"),
        (lambda made: made.table("age", "age", "age", "age", "age"), ParameterError, "too many cells"),
        (lambda made: made.mean("age", labels=["a", "b"]), ParameterError, "labels are not one for each query"),
        (lambda made: made.normalised(0), ParameterError, "total is not positive"),
        (lambda made: made.relative(1), ParameterError, "alpha is not a share below one"),
    ],
)
def test_questions_without_an_answer(ask, error, sentence):
    with pytest.raises(error, match=sentence):
        ask(MADE)


def test_normalised_weights():
    assert MADE.normalised().sum() == pytest.approx(1)
    assert MADE.normalised(4000).sum() == pytest.approx(4000)
    assert MADE.relative(0.5).max() <= 2
    assert (MADE.relative(0) == MADE.weights).all()
