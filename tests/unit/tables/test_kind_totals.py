"""Totals of kinds: projections moved until they agree, and what the noise of the totals makes of any sum."""

import numpy as np
import pytest

import sudare as sd
from sudare.measure.simplex import project_rows
from sudare.privacy import Budget
from sudare.tables.areas import CellSet
from sudare.tables.kind_totals import KindErrors, KindTotals
from sudare.tables.mix import Margin, Mix, MixMeasurements
from sudare.tables.places import by_mapping
from sudare.tables.tree_level import Level

KINDS = 20
DOMAIN = sd.Domain(place=sd.Grid(32, 32), kind=sd.Categories([f"kind {number}" for number in range(KINDS)]))


def town(people=300_000, seed=11):
    """Few kinds have most people, and each place has its own mix."""
    rng = np.random.default_rng(seed)
    place = np.exp(1.8 * rng.normal(size=1024))
    mix = rng.dirichlet(0.3 / np.arange(1, KINDS + 1) * KINDS / 3, 1024)
    drawn = rng.multinomial(people, (place[:, None] * mix / place.sum()).ravel()).reshape(32, 32, KINDS)
    cells = DOMAIN.index(*np.nonzero(drawn))
    order = np.argsort(cells)
    return sd.CountTable(DOMAIN, cells[order], drawn[np.nonzero(drawn)][order])


def kind_totals(table):
    return table.to_array().sum(axis=(0, 1))


def line_level(rng, places=400):
    domain = sd.Domain(cell=sd.Line(places), kind=sd.Categories(["a", "b", "c"]))
    level = Level.of(domain, np.arange(places), 2, 0)
    people = rng.integers(0, 60, places)
    true = rng.multinomial(people, [0.8, 0.15, 0.05])
    level.learn(level.logical, (true + np.rint(rng.laplace(0, 20, true.shape))).ravel(), 800.0)
    return level, people, true.sum(axis=0)


def test_projections_add_up_to_the_totals_and_did_not_before():
    level, people, true = line_level(np.random.default_rng(1))
    wanted = np.append(true, 0).astype(float)
    totals = KindTotals.of(Mix(2, wanted / wanted.sum(), wanted / wanted.sum(), wanted))
    piece, value = next(level.rows())
    found = project_rows(value + totals.shift(level, people)[level.places(piece, 2)], people)
    assert np.allclose(found.sum(axis=1), people)
    assert found.sum(axis=0) == pytest.approx(wanted, abs=0.01 * wanted.sum())
    assert found[:, 3].sum() == 0
    before = level.project(people).sum(axis=0)
    assert np.abs(before - wanted).max() > 0.1 * wanted.sum()
    totals.placed(level, np.rint(found).astype(int))
    assert np.allclose(totals.left[:3], 0, atol=0.02 * wanted.sum())


def test_without_measured_totals_nothing_is_moved():
    assert KindTotals.of(None) is None
    assert KindTotals.of(Mix(2, np.ones(4) / 4, np.ones(4) / 4)) is None


def test_what_is_known_of_cells_and_of_totals_is_joined_by_variance():
    domain = sd.Domain(cell=sd.Line(2), kind=sd.Categories(["a", "b", "c"]))
    level = Level.of(domain, np.arange(2), 2, 0)
    level.learn(level.logical, np.array([600, 300, 100, 600, 300, 100]), 50.0)
    tally = MixMeasurements.of(domain, [level])
    mix = Mix.learned(domain, tally, 2000.0, Margin(np.array([1280.0, 600.0, 120.0, 0.0]), variance=100.0))
    assert mix.totals == pytest.approx([1240, 600, 160, 0])


@pytest.mark.slow
def test_totals_of_kinds_have_the_error_of_their_measurement(monkeypatch):
    """The margin has 2 % of epsilon 1: a deviation of 71. Before, projections were off by several times that."""
    table = town()

    def error():
        made = [sd.release(table, sd.Tree(), epsilon=1, seed=seed).table for seed in range(4)]
        return np.sqrt(np.mean([(kind_totals(one) - kind_totals(table)) ** 2 for one in made]))

    assert error() < 100
    monkeypatch.setattr(KindTotals, "of", classmethod(lambda *_: None))
    assert error() > 200


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_intervals_of_totals_and_bands_hold(epsilon):
    """Of 120 intervals at 90 % at least 96; seeds are fixed."""
    table, held = town(), []
    truth = table.to_array()
    index = DOMAIN.cells(np.arange(DOMAIN.size)).reshape(32, 32, KINDS)
    for seed in range(3):
        made = sd.release(table, sd.Tree(), epsilon=epsilon, seed=seed)
        for kind in range(KINDS):
            for rows in (slice(0, 32), slice(0, 12)):
                bars = made.error(cells=index[rows, :, kind].ravel())
                held.append(bars.low[0] <= truth[rows, :, kind].sum() <= bars.high[0])
    assert np.mean(held) >= 0.8


def test_errors_of_kinds_say_nothing_of_whole_places_and_the_law_of_totals():
    errors = KindErrors.of(town(), 5000.0)
    names = {f"kind {number}": str(number) for number in range(KINDS)}
    totals = errors.variance(by_mapping(DOMAIN, {"kind": names}), 400)
    # Less than the variance of a measurement, by what people who stay in their places take back.
    assert 3000 < np.median(totals) < 5500
    places = CellSet.of(DOMAIN, DOMAIN.cells(np.arange(KINDS * 320)))
    assert errors.variance(places, 20) == pytest.approx(0, abs=1e-9)


def test_a_kind_of_which_nobody_is_released_may_have_people():
    domain = sd.Domain(cell=sd.Line(4), kind=sd.Categories(["a", "b", "c"]))
    table = sd.CountTable.released(domain, domain.cells(np.array([0, 1, 3, 4])), np.array([500, 300, 500, 300]))
    errors = KindErrors.of(table, 100.0)
    third = CellSet.of(domain, domain.cells(np.arange(2, 12, 3)))
    assert errors.variance(third, 200)[0] > 50


def test_where_no_totals_are_measured_there_is_no_such_variance():
    budget = Budget(epsilon=1)
    assert sd.Tree().margin_variance(DOMAIN, budget, 1) == pytest.approx(5000, rel=0.01)
    assert sd.Tree(margin=0).margin_variance(DOMAIN, budget, 1) is None
    assert sd.Tree().margin_variance(sd.Domain(cell=sd.Grid(32, 32)), budget, 1) is None
