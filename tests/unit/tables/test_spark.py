"""Releases cut into parts, in one process: right cells, right sums, and independent of how they are cut into files."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import sudare as sd
from in_process import InProcessStore
from sudare.errors import AccountingError, OutputError, ParameterError
from sudare.privacy import Fact, Unit
from sudare.tables import spark_noisy as noisy
from sudare.tables.spark import ClusterTable, release
from sudare.tables.spark_task import Cut

RNG = np.random.default_rng(3)
METHODS = [
    sd.Tree(),
    sd.Tree(children=4),
    sd.TopDown(),
    sd.Simplex(),
    sd.NegativeL2(strength="0.05"),
    sd.NegativeL2(),
    sd.NonnegativeLasso(strength=6),
    sd.NonnegativeLasso(fit="shift"),
]
SMALL = Cut(subtree_bits=5, fewest_bits=3, part_people=300)


def cluster_table(table):
    return ClusterTable(table.domain, table.unit, InProcessStore(table.index, table.count))


def grid(side=24):
    """A masked grid with padding: 24 x 20 cells and two sexes in 11 bits."""
    mask = RNG.random((side, 20)) < 0.9
    domain = sd.Domain(cell=sd.Grid(side, 20, mask=mask), sex=sd.Categories(["f", "m"]))
    cells = domain.cells(np.sort(RNG.choice(domain.size, 150, replace=False)))
    return sd.CountTable(domain, cells, RNG.integers(1, 60, 150), Unit("person", 2))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("total", ["noisy", "public"])
def test_the_released_table_is_one(tmp_path, method, total):
    table = grid()
    made = release(cluster_table(table), tmp_path / "out", method, 0.5, total=total, seed=1, cut=SMALL)
    found = made.table()
    assert (found.count > 0).all()
    assert found.total == made.total == sum(part.total for part in made.parts)
    assert len(made.parts) > 1
    assert made.summary == {
        "kind": "table",
        "method": method.name,
        "parameters": method.parameters,
        "cells": table.domain.size,
        "nonzero_cells": len(found),
        "total": found.total,
        "smallest": 0,
        "integers": True,
    }
    assert made.guarantee == sd.release(table, method, 0.5, total=total, seed=1).guarantee
    if total == "public":
        assert found.total == table.total


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_with_hardly_any_noise_the_table_is_itself(tmp_path, method):
    table = grid()
    if isinstance(method, sd.NegativeL2 | sd.NonnegativeLasso):
        method = replace(method, strength=0)
    found = release(cluster_table(table), tmp_path / "out", method, 10**4, seed=1, cut=SMALL).table()
    assert np.array_equal(found.index, table.index)
    assert np.array_equal(found.count, table.count)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_cells_do_not_depend_on_how_blocks_are_put_into_files(tmp_path, method):
    """Subtrees of a part are measured together: of trees, only what the driver draws stays the same."""
    table = cluster_table(grid())
    cuts = [Cut(subtree_bits=5, fewest_bits=3, part_people=people) for people in (10, 10**6)]
    one, other = (
        release(table, tmp_path / str(number), method, 0.5, seed=4, cut=cut) for number, cut in enumerate(cuts)
    )
    assert len(one.parts) > len(other.parts) == 1
    if isinstance(method, sd.TopDown):
        coarse = [np.bincount(made.table().index >> 8, made.table().count) for made in (one, other)]
        assert np.array_equal(*coarse)
    elif not isinstance(method, sd.Tree):
        assert one.table() == other.table()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("cells", [1, 2, 5, 300])
def test_tiny_domains_and_empty_tables(tmp_path, method, cells):
    domain = sd.Domain(cell=sd.Line(cells))
    table = sd.CountTable(domain, [cells - 1], [40])
    made = release(cluster_table(table), tmp_path / "a", method, 1, total="public", seed=2)
    assert made.total == 40
    empty = sd.CountTable(domain, [], [])
    nothing = release(cluster_table(empty), tmp_path / "b", method, 10**4, total="public", seed=2)
    assert (nothing.total, nothing.nonzero_cells, len(nothing.parts)) == (0, 0, 1)
    assert len(nothing.table()) == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_huge_domain_costs_what_is_populated(tmp_path, method):
    """2**58 cells: the driver follows what is worth it, one level after the other."""
    domain = sd.Domain(cell=sd.Line(2**57 + 5), sex=sd.Categories(["f", "m"]))
    index = np.unique(domain.cells(RNG.integers(0, domain.size, 40)))
    table = sd.CountTable(domain, index, np.full(len(index), 5000))
    cut = Cut(subtree_bits=12, fewest_bits=4, driver_nodes=1024)
    if method == sd.NonnegativeLasso(strength=6):
        method = replace(method, strength=30)
    made = release(cluster_table(table), tmp_path / "out", method, 2, seed=5, cut=cut)
    found = made.table()
    # Noise of some hundred people in all at most; nearly everybody is found where they are.
    inside = np.isin(found.index, index)
    assert abs(found.total - table.total) < 2000
    assert found.count[inside].sum() > 0.9 * table.total


def test_noise_with_a_cut(tmp_path):
    table = grid()
    made = release(cluster_table(table), tmp_path / "a", sd.Laplace(cut=9), 0.5, total="public", seed=1, cut=SMALL)
    found = made.table()
    assert found.count.min() >= 9
    assert len(found) > len(made.parts) > 1
    assert made.guarantee == sd.release(table, sd.Laplace(cut=9), 0.5, total="public", seed=1).guarantee
    assert Fact("total") not in made.guarantee.public  # nothing of it is used
    clipped = release(cluster_table(table), tmp_path / "b", sd.Laplace(clip=True), 0.5, total="public", seed=1)
    assert clipped.total == table.total


def test_a_threshold_above_everybody_leaves_the_largest(tmp_path):
    table = sd.CountTable(sd.Domain(cell=sd.Line(100)), [7, 60], [900, 40])
    lasso = sd.NonnegativeLasso(strength=10**4)
    made = release(cluster_table(table), tmp_path / "a", lasso, 5, total="public", seed=1, cut=SMALL)
    assert made.table().index.tolist() == [7]
    assert made.total == 940
    huge = sd.CountTable(sd.Domain(cell=sd.Line(2**40)), [7], [9])
    with pytest.raises(ParameterError, match="the noise of too many cells is above the threshold"):
        release(cluster_table(huge), tmp_path / "b", sd.NonnegativeLasso(strength=0), 1)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_gaussian_noise(tmp_path, method):
    made = release(cluster_table(grid()), tmp_path / "a", method, rho="0.1", cut=SMALL)
    assert (made.budget.rho, made.guarantee.rho) == (Fraction(1, 10), Fraction(1, 10))
    known = release(cluster_table(grid()), tmp_path / "b", method, rho="0.1", total="public", cut=SMALL)
    factor = 2 + Fraction(2, known.domain.bits) if method.name == "top_down" else 2
    assert known.guarantee.rho == Fraction(1, 10) * (factor if method.uses_total else 1)


@pytest.mark.slow
@pytest.mark.parametrize("start", [40, 9])
def test_a_level_that_was_too_high_is_lowered(tmp_path, monkeypatch, start):
    table = cluster_table(grid())
    asked = []
    derive = InProcessStore.derive
    monkeypatch.setattr(noisy, "expected_level", lambda *_: start)
    monkeypatch.setattr(InProcessStore, "derive", lambda *work: asked.append(work[2].levels) or derive(*work))
    made = release(table, tmp_path / "out", sd.Simplex(), 0.5, total="public", seed=1, cut=SMALL)
    assert len(asked) > 1
    # Every attempt begins with what was looked at before, so that nothing is drawn afresh.
    for before, after in pairwise(asked):
        assert after[:-1] == before
        assert after[-1] < before[-1]
    assert made.total == grid_total(table)


def grid_total(table):
    return int(table.store.count.sum())


def test_without_a_seed_the_guarantee_holds_and_noise_differs(tmp_path):
    table = cluster_table(grid())
    made = [release(table, tmp_path / str(run), epsilon=0.5, cut=SMALL) for run in range(2)]
    assert made[0].guarantee.notion == "epsilon-DP"
    assert made[0].table() != made[1].table()


class Changing(InProcessStore):
    """A store whose rows are other ones when they are read a second time, as an unfrozen frame may be."""

    def each(self, jobs, kernel):
        answers = super().each(jobs, kernel)
        object.__setattr__(self, "count", self.count + (np.arange(len(self.count)) % 7 == 0))
        return answers


def test_cells_that_change_between_the_passes_are_refused(tmp_path):
    table = grid()
    changing = ClusterTable(table.domain, table.unit, Changing(table.index, table.count))
    with pytest.raises(AccountingError, match="changed between two passes"):
        release(changing, tmp_path / "out", epsilon=0.5, seed=1, cut=SMALL)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"total": "exact"}, "unknown way to treat the total (got 'exact'; allowed: noisy or public)"),
        ({"epsilon": None}, "epsilon is missing (allowed: a finite number > 0)"),
        ({"seed": 1, "source": object()}, "give a seed or a source, not both"),
        (
            {"method": sd.Laplace()},
            "this method does not run in a cluster (got 'laplace'; allowed: tree, top_down, simplex, negative_l2, "
            "nonnegative_lasso, laplace with cut or clip)",
        ),
        ({"method": sd.Privelet()}, "this method does not run in a cluster (got 'privelet'; allowed: "),
        ({"method": sd.TopDown(serial=True)}, "this method does not run in a cluster (got 'top_down'; allowed: "),
        ({"method": "tree"}, "this method does not run in a cluster (got 'str'; allowed: "),
    ],
)
def test_mistakes(tmp_path, arguments, sentence):
    with pytest.raises(ParameterError) as refusal:
        release(cluster_table(grid()), tmp_path / "out", **{"epsilon": 1, **arguments})
    assert str(refusal.value).startswith(sentence)
    assert not (tmp_path / "out").exists()


def test_other_mistakes(tmp_path):
    with pytest.raises(ParameterError, match=r"^this is not a table in a cluster \(got 'CountTable'\)"):
        release(grid(), tmp_path / "out", epsilon=1)
    with pytest.raises(ParameterError, match=r"^part_people is not a whole number from 1 on \(got 0\)$"):
        Cut(part_people=0)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").touch()
    with pytest.raises(OutputError, match="the output folder is not empty"):
        release(cluster_table(grid()), tmp_path / "full", epsilon=1)
    with pytest.raises(OutputError, match="the output folder cannot be made"):
        release(cluster_table(grid()), tmp_path / "full" / "something" / "below", epsilon=1)
    assert "59" not in repr(cluster_table(sd.CountTable.from_array([59])))
