"""Refinement: the law of a pair of noises, what it costs, and callers that are broken on purpose."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sudare.audit.moves import cost_of, loss_of
from sudare.audit.recorded import recorded_fit, refined_below
from sudare.errors import AccountingError, ParameterError, TableError
from sudare.noise import AddedLaplace, Blocks, Refined, Source, measure, metered, record, refine
from sudare.privacy import Budget

PARTS = Budget(epsilon=Fraction(4, 5)).split([1, 3])
VALUES = np.array([5, 0, 7, 1])


def made(values, source, sensitivity=2, parts=PARTS, rows=None):
    coarse = measure(values, sensitivity, parts[0], source, "blocks", rows=rows)
    return refine(values, coarse, sensitivity, *parts, source, "finer", of="blocks", final=True, rows=rows)


def law(ratio):
    """The discrete Laplace law of a = exp(-1/scale), in exact fractions."""
    return lambda number: (1 - ratio) / (1 + ratio) * ratio ** abs(number)


@pytest.mark.parametrize(("coarse", "fine"), [("9/10", "1/2"), ("99/100", "97/100"), ("1/3", "1/7"), ("1/50", "1/51")])
def test_the_sampler_is_bayes_rule_in_exact_fractions(coarse, fine):
    """For every n1 and n2 the pieces of the sampler's docstring have the chance f2(n2) g(n1 - n2)/f1(n1), exactly."""
    high, low = Fraction(coarse), Fraction(fine)
    first, second, both, ratio = law(high), law(low), high * low, low / high
    chance = (1 - high) ** 2 * low / ((1 - low) ** 2 * high)
    assert 0 < chance < 1
    other, beyond = low * (high - low) / (1 - low**2), high * (high - low) / (1 - both)
    for size, fine_noise in product(range(9), range(-9, 18)):
        gap = size - fine_noise
        bayes = second(fine_noise) * ((chance if gap == 0 else 0) + (1 - chance) * first(gap)) / first(size)
        if fine_noise < 0:
            drawn = other * (1 - both) * both ** (-fine_noise - 1)
        elif fine_noise <= size:
            drawn = (1 - other) * (1 - ratio) * ratio**fine_noise
            drawn += (1 - other) * ratio ** (size + 1) * (1 - beyond) if fine_noise == size else 0
        else:
            drawn = (1 - other) * ratio ** (size + 1) * beyond * (1 - both) * both ** (fine_noise - size - 1)
        assert drawn == bayes


@pytest.mark.slow
def test_every_transcript_of_a_small_tree_costs_what_is_promised():
    """Two nodes, refined or split into cells by what is seen, also of the other: all transcripts, in exact fractions.

    A unit has up to two rows, in one cell, in one node or in both. The largest ratio is exactly what they cost.
    """
    unit = Fraction(3, 5)  # exp(-epsilon/3), of which a coarse value gets one part and all that follows two
    first, second, cells = law(unit), law(unit**3), law(unit**2)
    chance = (1 - unit) ** 2 * unit**3 / ((1 - unit**3) ** 2 * unit)
    seen = range(-2, 4)

    def likely(data, coarse, rest):
        found = Fraction(1)
        for node in (0, 1):
            own = data[2 * node : 2 * node + 2]
            if len(rest[node]) == 1:
                gap = coarse[node] - rest[node][0]
                found *= second(rest[node][0] - sum(own)) * ((gap == 0) * chance + (1 - chance) * first(gap))
            else:
                found *= first(coarse[node] - sum(own))
                found *= cells(rest[node][0] - own[0]) * cells(rest[node][1] - own[1])
        return found

    data, worst = (1, 0, 1, 1), {}
    others = {(2, 0, 1, 1): 1, (3, 0, 1, 1): 2, (2, 1, 1, 1): 2, (2, 0, 2, 1): 2}
    for coarse in product(seen, seen):
        splits = coarse[0] + coarse[1] >= 2 and coarse[0] >= 1
        for mine in product(seen, repeat=2 if splits else 1):
            goes = mine[0] - mine[-1] >= 2 if splits else coarse[1] >= 3
            for yours in product(seen, repeat=2 if goes else 1):
                here = likely(data, coarse, (mine, yours))
                for other in others:
                    ratio = likely(other, coarse, (mine, yours)) / here
                    worst[other] = max(worst.get(other, 0), ratio, 1 / ratio)
    assert worst == {other: unit ** (-3 * rows) for other, rows in others.items()}


@pytest.mark.parametrize("scales", [("10", "2"), ("4/3", "1/2"), ("1000", "900"), ("123456/7", "4321"), ("3", "2")])
def test_fine_noise_has_its_law_alone_and_given_the_coarse_noise(scales):
    """Moments of a million pairs within 6 standard deviations (chance 2e-9); a twin of its own is seen."""
    coarse, fine = map(Fraction, scales)
    source = Source.from_seed(5)
    noise = AddedLaplace(coarse).draw(source.child("coarse"), 1_000_000)
    finer = Refined(coarse, fine).draw(noise, source.child("fine"))
    for drawn, wanted in ((noise, AddedLaplace(coarse).spread), (finer, Refined(coarse, fine).spread)):
        squares = drawn.astype(float) ** 2
        assert abs(squares.mean() - wanted) < 6 * squares.std() / 1000
        assert abs(drawn.mean()) < 6 * (wanted / 1e6) ** 0.5
    # The further noise n1 - n2 is independent of n2, so their product has mean 0: a twin drawn alone has none.
    for drawn, independent in ((finer, True), (AddedLaplace(fine).draw(source.child("twin"), len(noise)), False)):
        together = (noise - drawn).astype(float) * drawn
        assert (abs(together.mean()) < 6 * together.std() / 1000) == independent


@pytest.mark.parametrize("scales", [(10.0, 2.0), (1.5, 0.4)])
def test_the_audits_own_formula_sums_to_one(scales):
    size, value = np.meshgrid(np.arange(12), np.arange(-400, 400), indexing="ij")
    below = refined_below(size, value, *scales)
    assert (np.diff(below, axis=1) >= -1e-15).all()
    assert np.allclose(below[:, [0, -1]], [0, 1])


def test_the_audit_knows_the_law_and_sees_a_wrong_one(monkeypatch):
    """Draws on tapes against their law given the coarse ones; false alarms below 1e-9."""

    def run(source):
        return made(np.arange(400), source)

    assert recorded_fit(run, 20_000).passed
    sound = Refined.draw
    for wrong in (
        lambda self, noise, source: AddedLaplace(self.fine).draw(source, noise.size),
        lambda self, noise, source: sound(Refined(self.coarse, self.fine * Fraction(7, 10)), noise, source),
        lambda self, noise, source: noise,
    ):
        monkeypatch.setattr(Refined, "draw", wrong)
        assert not recorded_fit(run, 20_000).passed


def test_both_together_cost_the_sum_of_their_budgets_and_no_release_loses_more():
    with record() as tape:
        noisy = made(VALUES, Source.from_seed(1))
    for change in ([1, 0, 0, 0], [0, -1, 1, 0], [2, 0, 0, 0]):
        with record(replay=tape) as again:
            assert np.array_equal(made(VALUES + change, Source.system()), noisy)
        costs = [cost_of(one, other) for one, other in zip(tape.measured, again.measured, strict=True)]
        size = sum(map(abs, change))
        assert sum(costs) == Fraction(4, 5) * size / 2
        assert abs(loss_of(tape, again)) <= 0.4 * size + 1e-12


def test_given_the_coarse_value_the_fine_one_alone_can_tell_more_than_it_is_booked_for():
    """Why a refinement is never judged by itself."""
    law = Refined(Fraction(10), Fraction(2))
    alone = law.log_ratio(np.array([0]), np.array([9]), np.array([0]), np.array([1]))
    assert alone == pytest.approx(1 / 2 + 1 / 10)
    assert alone > law.cost([1])


def test_the_meter_books_the_rest_and_refuses_what_was_not_measured():
    rows = Blocks(np.arange(4), 0)
    with metered() as meter:
        made(VALUES, Source.from_seed(1), rows=rows)
        with pytest.raises(AccountingError, match="measured for the last time"):
            measure(VALUES, 1, PARTS[0], Source.from_seed(2), "again", rows=rows)
    meter.costs.append(("others", PARTS[1], False))  # rows beside these go on
    meter.check(Budget(epsilon=Fraction(4, 5)))
    for of, first in (("others", PARTS[0]), ("blocks", PARTS[1])):
        with metered():
            coarse = measure(VALUES, 1, PARTS[0], Source.from_seed(1), "blocks")
            with pytest.raises(AccountingError, match="not measured with this budget"):
                refine(VALUES, coarse, 1, first, PARTS[1], Source.from_seed(1), "finer", of=of, final=True, rows=rows)


def test_what_cannot_be_refined_is_refused():
    source, rho = Source.from_seed(1), Budget(rho=Fraction(1))
    with pytest.raises(AccountingError, match="cost is an epsilon"):
        refine(VALUES, VALUES, 1, rho, rho, source, "a", of="b")
    with pytest.raises(TableError, match="can be refined"):
        refine(VALUES, VALUES[:2], 1, *PARTS, source, "a", of="b")
    with pytest.raises(AccountingError, match="one block of rows"):
        refine(VALUES, VALUES, 1, *PARTS, source, "a", of="b", rows=Blocks(np.arange(2), 0))
    with pytest.raises(ParameterError, match="no smaller scale"):
        Refined(Fraction(1), Fraction(1))


def test_a_replay_that_refines_other_noisy_values_is_refused():
    with record() as tape:
        made(VALUES, Source.from_seed(1))
    with record(replay=tape):
        coarse = measure(VALUES, 2, PARTS[0], Source.from_seed(1), "blocks") + 1
        with pytest.raises(AccountingError, match="refines other noisy values"):
            refine(VALUES, coarse, 2, *PARTS, Source.from_seed(1), "finer", of="blocks")


def test_a_refined_value_is_refined_again_at_the_cost_of_the_last():
    """Three scales in a chain: the last noise has its law, and the meter books every step once."""
    parts = Budget(epsilon=Fraction(1)).split([1, 2, 5])
    values, rows, source = np.zeros(200_000, dtype=np.int64), Blocks(np.arange(200_000), 0), Source.from_seed(4)
    with metered() as meter:
        coarse = measure(values, 1, parts[0], source, "a")
        finer = refine(values, coarse, 1, *parts[:2], source, "b", of="a")
        with pytest.raises(AccountingError, match="not measured with this budget"):
            refine(values, coarse, 1, *parts[:2], source, "again", of="a")
        last = refine(values, finer, 1, parts[0] + parts[1], parts[2], source, "c", of="b", final=True, rows=rows)
    meter.costs.append(("others", parts[2], False))
    meter.check(Budget(epsilon=Fraction(1)))
    for noise, scale in ((coarse, 8), (finer, Fraction(8, 3)), (last, 1)):
        squares = noise.astype(float) ** 2
        assert abs(squares.mean() - AddedLaplace(Fraction(scale)).spread) < 6 * squares.std() / len(squares) ** 0.5
