"""Every method on tables such as people publish, in memory: neighbours under replay, and what is listed of nobody.

The audit does the same from recipes and files. Here the tables are those that it long did without: places by categories
with a margin, padding and masks, trees of several adaptive levels, several rows of a person, rho, public totals.
Nothing is left to chance: noise is recorded and replayed, or seeded.
"""

import json
from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.audit import Neighbour, replay
from sudare.noise import Source, record
from sudare.privacy import Budget, Unit

ROWS = 3
RNG = np.random.default_rng(11)
DOMAINS = {
    "places and kinds": sd.Domain(cell=sd.Grid(16, 16), kind=sd.Categories(["child", "adult", "old"])),
    "padded line": sd.Domain(cell=sd.Line(600)),
    "masked grid": sd.Domain(cell=sd.Grid(20, 20, mask=np.arange(400).reshape(20, 20) % 7 > 0)),
}
METHODS = [
    sd.Tree(),
    sd.Tree(children=2, margin="0.2"),
    sd.Marginals(),
    sd.TopDown(),
    sd.TopDown(serial=True),
    sd.Simplex(),
    sd.NegativeL2(),
    sd.NegativeL2(strength="0.3"),
    sd.NonnegativeLasso(),
    sd.Laplace(),
    sd.Laplace(cut=4),
    sd.Laplace(clip=True),
    sd.Privelet(),
]


def counts(domain):
    """A dense corner, a thin rest."""
    dense = np.zeros(domain.size, dtype=np.int64)
    dense[:40] = RNG.integers(20, 400, 40)
    dense[RNG.choice(domain.size, 30, replace=False)] += 1
    return dense


def table(domain, dense):
    """The table with so many people in each logical cell, by rank."""
    rank = np.flatnonzero(dense)
    index = domain.cells(rank)
    order = np.argsort(index)
    return sd.CountTable(domain, index[order], dense[rank][order], Unit("person", ROWS))


def neighbours(domain, dense):
    """A person who comes with all their rows: into one cell, into three, alone, and one who goes; then strangers."""
    moved = {
        "into a full cell": {3: ROWS},
        "into an empty cell": {int(np.flatnonzero(dense == 0)[-1]): ROWS},
        "into the last cell": {domain.size - 1: ROWS},
        "into three cells": {0: 1, domain.size // 2: 1, domain.size - 1: 1},
        "out of a full cell": {5: -ROWS},
    }
    for name, change in moved.items():
        other = dense.copy()
        for cell, rows in change.items():
            other[cell] += rows
        yield Neighbour(name, other)
    yield Neighbour("nobody", np.zeros_like(dense), stranger=True)
    yield Neighbour("everybody", np.full_like(dense, 50), stranger=True)


def published(domain, method, asked):
    def run(dense, source):
        made = sd.release(table(domain, dense), method, source=source, **asked)
        told = json.dumps([made.summary, made.guarantee.to_json()]).encode()
        return {"cells": made.table.index.tobytes(), "counts": made.table.count.tobytes(), "told": told}

    return run


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("name", DOMAINS)
def test_a_person_moves_what_is_paid_for_and_nothing_else(name, method):
    domain = DOMAINS[name]
    dense = counts(domain)
    found = replay(
        published(domain, method, {"epsilon": 2}),
        dense,
        neighbours(domain, dense),
        promised=Budget(epsilon=Fraction(2)),
    )
    assert [one for one in found if not one.passed] == []
    assert max(one.ratio for one in found) == 1  # the neighbours are the worst there are


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(20)], ids=["pairs", "cells"])
def test_what_marginals_measure_follows_from_noisy_values(epsilon):
    """Strangers have so many people more, or fewer, that their own number would have decided otherwise."""
    values = sd.Categories(list(range(6)))
    domain = sd.Domain(one=values, two=values, three=values, four=values)
    dense = counts(domain)
    promised = Budget(epsilon=epsilon)
    asked = {"epsilon": epsilon}
    found = replay(published(domain, sd.Marginals(), asked), dense, neighbours(domain, dense), promised=promised)
    assert [one for one in found if not one.passed] == []


@pytest.mark.parametrize("name", DOMAINS)
def test_gaussian_noise_is_paid_in_rho(name):
    domain = DOMAINS[name]
    dense, rho = counts(domain), Fraction(1, 5)
    found = replay(
        published(domain, sd.Tree(), {"rho": rho}), dense, neighbours(domain, dense), promised=Budget(rho=rho)
    )
    assert [one for one in found if not one.passed] == []


def test_public_totals_of_areas_keep_the_rest_noisy():
    """What is left of the table is scaled to a total only where that is public."""
    domain = DOMAINS["padded line"]
    dense = counts(domain)
    asked = {"epsilon": 2, "public_totals": [(list(range(10)), 70)]}
    strangers = [one for one in neighbours(domain, dense) if one.stranger]
    found = replay(published(domain, sd.Simplex(), asked), dense, [*neighbours(domain, dense), *strangers])
    assert [one for one in found if not one.passed] == []


def test_the_tree_of_these_tables_splits_and_stops_at_several_levels():
    """Else the replays above would not see what goes wrong there."""
    domain, dense = DOMAINS["padded line"], counts(DOMAINS["padded line"])
    with record() as tape:
        sd.release(table(domain, dense), sd.Tree(children=2), epsilon=2, seed=1)
    again = [one for one in tape.measured if one.label.startswith("rest of level")]
    assert len([one for one in again if len(one.exact)]) >= 3
    assert "level 10" in {one.label for one in tape.measured}
    with record() as tape:
        places = DOMAINS["places and kinds"]
        sd.release(table(places, counts(places)), sd.Tree(), epsilon=2, seed=1)
    assert "margin" in {one.label for one in tape.measured}


@pytest.mark.parametrize("name", DOMAINS)
def test_of_nobody_every_cell_may_be_listed_and_no_other(name):
    """Noise falls on every logical cell and nowhere else, so that being listed never tells of being populated."""
    domain = DOMAINS[name]
    nobody = table(domain, np.zeros(domain.size, dtype=np.int64))
    for method in (sd.Laplace(), sd.Laplace(cut=2)):
        seen = set()
        for seed in range(200):
            seen |= set(sd.release(nobody, method, epsilon=1, seed=seed).table.index.tolist())
        # Noise of scale 3 is 2 or more with chance 0.3: a cell is left out 200 times with chance 1e-31.
        assert seen == set(domain.cells(np.arange(domain.size)).tolist())


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_populated_cells_are_cut_where_empty_ones_are(cut):
    """Half of the cells are populated, with counts around the cut; none of 200 releases shows one below it."""
    domain = DOMAINS["padded line"]
    dense = np.where(np.arange(domain.size) % 2, cut, 0)
    for seed in range(200):
        count = sd.release(table(domain, dense), sd.Laplace(cut=cut), epsilon=6, seed=seed).table.count
        assert count.min() >= cut


def test_a_seeded_source_promises_nothing():
    made = sd.release(
        table(DOMAINS["padded line"], np.ones(600, dtype=np.int64)), epsilon=1, source=Source.from_seed(1)
    )
    assert not made.guarantee.holds
