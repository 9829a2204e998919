"""What intervals are made of, and that they hold where the public file lacks a tail."""

from dataclasses import replace

import numpy as np
import pytest

import sudare.reweight as reweight

RUNS, FEWEST = 40, 23
"""A right 90 % interval holds less often than 23 times in 40 with probability below 1e-7 (binomial)."""


def staff(people, hours, night, generator):
    nights = generator.random(people) < night
    worked = np.clip(generator.normal(hours, 8, people) - 4 * nights, 0, 80).round(1)
    return {"hours": worked, "night": np.where(nights, "yes", "no")}


def draw(seed, epsilon):
    """As in the tutorial: few public rows are above 60 hours, many private ones."""
    generator = np.random.default_rng(seed)
    private, public = staff(10_000, 44, 0.5, generator), staff(1_500, 38, 0.3, generator)
    made = reweight.fit(
        private, public, epsilon, bounds={"hours": (0, 80)}, categories={"night": ["no", "yes"]}, seed=seed
    )
    return private, public, made


def functions(columns):
    hours = columns["hours"]
    return np.stack([hours, hours > 60, hours > 70, (columns["night"] == "yes") * hours], axis=1).astype(float)


EXTREMES = ((0, 0, 0, 0), (80, 1, 1, 80))


def before(made, values):
    """Intervals that trust the weights with what was measured: without what they miss of it."""
    return made.doubt.law(made.public.queries(values, EXTREMES)).supported.interval(0.9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 10.0])
def test_intervals_hold_where_the_public_file_lacks_a_tail(epsilon):
    held, held_before = np.zeros(4), np.zeros(4)
    for seed in range(RUNS):
        private, public, made = draw(seed, epsilon)
        truth = functions(private).mean(axis=0)
        answer = made.mean(functions(public), extremes=EXTREMES)
        held += (answer.low <= truth) & (truth <= answer.high)
        low, high = before(made, functions(public))
        held_before += (low <= truth) & (truth <= high)
    assert (held >= FEWEST).all(), held
    assert held_before[2] < FEWEST, "the twin that forgets the tail must be caught"
    assert epsilon < 10 or held_before[0] < FEWEST, "and for the mean, where no noise hides it"


@pytest.mark.slow
def test_a_declared_number_is_off_by_the_misfit_and_the_noise_alone():
    """The mean of forty squared scores is outside 0.25 and 2.6 less than once in 1e6 times (chi-square law)."""
    scores = []
    for seed in range(RUNS):
        private, _, made = draw(seed, 1.0)
        law = made.doubt.law(made.public.queries("hours"))
        assert law.rows[0] + law.form[0] < 1e-3 * law.noise[0]
        assert law.above == law.below == 0
        scores.append((private["hours"].mean() - law.value[0] - law.misfit[0]) ** 2 / law.noise[0])
    assert 0.25 < np.mean(scores) < 2.6
    assert np.mean(scores) / 9 < 0.25, "a noise that is thought to be three times as large must be caught"


def test_nobody_in_the_public_file_is_not_nobody():
    generator = np.random.default_rng(5)
    private, public = generator.uniform(0, 100, 20_000), generator.uniform(0, 60, 3_000)
    made = reweight.fit(private, public, epsilon=1.0, bounds=[(0, 100)], seed=5)
    far = made.count(public > 80)
    assert far.value[0] == 0
    assert far.low[0] == 0
    assert (private > 80).sum() <= far.high[0] < 20_000
    assert far.flags == ("unseen",)
    assert "query 0: most of the interval is there because the public file has few or no rows" in str(far.notes[0])
    mean = made.mean("x0")
    assert mean.low[0] <= private.mean() <= mean.high[0]
    assert mean.flags == ("unseen",)
    assert made.mean(public**2, extremes=(0, 10_000)).high[0] > (private**2).mean()


def test_a_fair_public_file_has_no_flags_and_intervals_about_as_short_as_before():
    generator = np.random.default_rng(6)
    private, public = staff(10_000, 40, 0.4, generator), staff(5_000, 40, 0.4, generator)
    made = reweight.fit(
        private, public, 1.0, bounds={"hours": (0, 80)}, categories={"night": ["no", "yes"]}, pairs="none", seed=6
    )
    values = np.stack([public["hours"], public["hours"] > 50, public["night"] == "yes"], axis=1).astype(float)
    answer = made.mean(values)
    low, high = made.doubt.law(made.public.queries(values)).supported.interval(0.9)
    assert answer.flags == ("", "", "")
    assert answer.notes == ()
    assert (answer.high - answer.low < 1.5 * (high - low)).all()


def test_what_rests_on_columns_that_were_not_measured_together_is_flagged():
    generator = np.random.default_rng(7)

    def people(number, first, second):
        return {
            "a": np.where(generator.random(number) < first, "x", "y"),
            "b": np.where(generator.random(number) < second, "x", "y"),
            "c": np.where(generator.random(number) < 0.5, "x", "y"),
        }

    private, public = people(40_000, 0.9, 0.1), people(40_000, 0.3, 0.7)
    both = (public["a"] == "x") & (public["b"] == "x")
    words = ["x", "y"]
    apart = reweight.fit(private, public, 10.0, categories={"a": words, "b": words, "c": words}, seed=7)
    assert apart.count(both).flags == ("assumed",)
    assert "name the columns as a pair" in str(apart.count(both).notes[0])
    together = reweight.fit(
        private, public, 10.0, categories={"a": words, "b": words, "c": words}, pairs=[("a", "b")], seed=7
    )
    assert together.count(both).flags == ("",)
    assert np.ptp([together.count(both).low, together.count(both).high]) < (
        np.ptp([apart.count(both).low, apart.count(both).high]) / 2
    )


@pytest.mark.parametrize("options", [{"basis": "kernel"}, {"estimator": "ulsif"}])
def test_a_basis_that_does_not_show_gaps_says_so(options):
    generator = np.random.default_rng(8)
    public = generator.normal(1, 1, 300)
    made = reweight.fit(generator.normal(1.5, 0.7, 2000), public, 1.0, bounds=[(-4, 6)], seed=8, **options)
    answer = made.mean(np.stack([public] * 5, axis=1))
    assert answer.flags == ("blind",) * 5
    assert str(answer.notes[0]).startswith('query 0, query 1, query 2 and 2 more: only the basis "hats" shows')


def test_the_same_release_has_the_same_intervals_and_the_answer_inside():
    _, public, made = draw(1, 10.0)
    again = replace(made)
    first, second = (each.mean(functions(public), extremes=EXTREMES) for each in (made, again))
    assert (first.low == second.low).all()
    assert (first.high == second.high).all()
    assert ((first.low <= first.value) & (first.value <= first.high)).all()


def test_no_interval_leaves_what_is_possible():
    private, public, made = draw(2, 1e-4)
    answer = made.mean("hours")
    assert (answer.low, answer.high) == (0, 80)
    share = made.mean(public["night"] == "yes")
    assert (share.low, share.high) == (0, 1)
    assert made.mean(public["hours"] ** 2, extremes=(0, 6400)).high == 6400
    assert made.mean(public["hours"] ** 2).high > 6400, "bounds that only the public rows show are not certain"
    assert made.count(public["night"] == "yes").high == len(private["hours"])
