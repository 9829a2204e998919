"""The walk down the tree, beside dense sums."""

import numpy as np
import pytest

import sudare as sd
from sudare.tables import descent
from sudare.tables.descent import Leaves, Populated, Visited, coins, lone_halves
from sudare.tables.haar import differences_at, transform

BITS = 9


@pytest.fixture
def counts():
    rng = np.random.default_rng(4)
    return np.where(rng.random(1 << BITS) < 0.1, rng.integers(1, 50, 1 << BITS), 0)


ROOT = np.zeros(1, dtype=np.int64)


def leaves_of(counts):
    index = np.flatnonzero(counts)
    return Leaves(index, counts[index], BITS)


def test_differences_of_all_populated_nodes(counts):
    leaves, coefficients = leaves_of(counts), transform(counts)
    nodes = leaves.under(ROOT, BITS)
    for level in range(BITS, 0, -1):
        # Nobody is pruned, so a place is the number of the node.
        difference, nodes_below = leaves.halve(nodes, level)
        dense = coefficients[differences_at(BITS, level)]
        sums = counts.reshape(-1, 1 << level).sum(axis=1)
        assert np.array_equal(nodes.place, np.flatnonzero(sums))
        assert np.array_equal(nodes.total, sums[nodes.place])
        assert np.array_equal(difference, dense[nodes.place])
        nodes = nodes_below
    assert np.array_equal(nodes.place, np.flatnonzero(counts))
    assert np.array_equal(nodes.total, counts[nodes.place])


@pytest.mark.parametrize("seed", range(20))
def test_differences_after_nodes_were_left_behind(counts, seed):
    rng = np.random.default_rng(seed)
    leaves, coefficients = leaves_of(counts), transform(counts)
    nodes = leaves.under(ROOT, BITS)
    for level in range(BITS, 0, -1):
        node = nodes.place.copy()
        difference, halves = leaves.halve(nodes, level)
        assert np.array_equal(difference, coefficients[differences_at(BITS, level)][node])
        nodes = halves.at(np.where(rng.random(len(halves.place)) < 0.2, -1, halves.place))
    assert np.array_equal(nodes.total, counts[nodes.place])


def test_leaves_far_apart_part_at_the_right_level():
    # 2**54 - 1 rounds up to 2**54 as a double: a level too high if one is careless.
    index = np.array([0, 2**54 - 1, 2**62 - 1])
    leaves = Leaves(index, np.array([1, 2, 4]), 62)
    nodes, seen = leaves.under(ROOT, 62), {}
    for level in range(62, 0, -1):
        difference, nodes = leaves.halve(nodes, level)
        seen[level] = difference.tolist()
    assert seen[62] == [3 - 4]
    assert seen[61] == [3, -4]
    assert seen[54] == [1 - 2, -4]
    assert nodes.place.tolist() == index.tolist()


@pytest.mark.parametrize("index", [[], [0], [511]])
def test_tables_of_one_cell_or_none(index):
    leaves = Leaves(np.array(index, dtype=np.int64), np.full(len(index), 7), BITS)
    nodes = leaves.under(ROOT, BITS)
    for level in range(BITS, 0, -1):
        _, nodes = leaves.halve(nodes, level)
    assert nodes.place.tolist() == index
    assert nodes.total.tolist() == [7] * len(index)


def test_a_way_down_may_begin_at_some_nodes(counts):
    leaves = leaves_of(counts)
    sums = counts.reshape(-1, 8).sum(axis=1)
    chosen = np.array([2, 3, 9, 40])
    nodes = leaves.under(chosen, 3)
    assert chosen[nodes.place].tolist() == [node for node in chosen if sums[node]]
    assert nodes.total.tolist() == sums[chosen[nodes.place]].tolist()
    difference, _ = leaves.halve(nodes, 3)
    assert difference.tolist() == transform(counts)[differences_at(BITS, 3)][chosen[nodes.place]].tolist()
    assert not len(leaves.under(chosen[:0], 3).place)


def test_left_behind_is_left_behind():
    nodes = Populated(*(np.array([0, 3, 5]) for _ in range(3)))
    assert nodes.at(np.array([1, -1, 2])).first.tolist() == [0, 5]


@pytest.mark.parametrize("at_once", [1, 7, 64, 1 << 15])
def test_halving_visited_nodes(monkeypatch, at_once):
    monkeypatch.setattr(descent, "AT_ONCE", at_once)
    rng = np.random.default_rng(5)
    node = np.flatnonzero(rng.random(300) < 0.5)
    total, noisy = rng.integers(1, 9, len(node)), rng.integers(-15, 16, len(node))
    places = np.flatnonzero(rng.random(2 * len(node)) < 0.3)
    below, standing = Visited(node, total).halve(noisy, np.random.default_rng(1), places)

    by_node = dict(zip(below.node.tolist(), below.total.tolist(), strict=True))
    assert (np.diff(below.node) > 0).all()
    assert (below.total > 0).all()
    for number, people, difference in zip(node.tolist(), total.tolist(), noisy.tolist(), strict=True):
        left, right = by_node.get(2 * number, 0), by_node.get(2 * number + 1, 0)
        assert left + right == people
        assert abs(left - right - np.clip(difference, -people, people)) <= 1
    for place, stands in zip(places.tolist(), standing.tolist(), strict=True):
        child = 2 * int(node[place // 2]) + place % 2
        assert stands == (below.node.tolist().index(child) if child in by_node else -1)


def test_what_is_measured_is_not_changed():
    noisy = np.array([3, -9, 0])
    visited = Visited(np.arange(3), np.array([4, 4, 5]))
    visited.halve(noisy, np.random.default_rng(1), np.arange(0))
    assert noisy.tolist() == [3, -9, 0]
    assert visited.total.tolist() == [4, 4, 5]


def test_coins_are_fair():
    tossed = coins(np.random.default_rng(1), 99_999)
    assert len(tossed) == 99_999
    assert abs(int(tossed.sum()) - 50_000) < 6 * 158  # 6 sigma: 2e-9


def mask(*shape):
    return np.random.default_rng(9).random(shape) < 0.3


@pytest.mark.parametrize(
    "domain",
    [
        sd.Domain(cell=sd.Line(11)),
        sd.Domain(cell=sd.Line(1)),
        sd.Domain(cell=sd.Grid(5, 9)),
        sd.Domain(cell=sd.Grid(5, 9, mask=mask(5, 9)), sex=sd.Categories(["f", "m"])),
        sd.Domain(cell=sd.Grid(8, 4), age=sd.Bins(0, 60, step=5), sex=sd.Categories(["a", "b", "c"])),
        sd.Domain(mesh=sd.Mesh("500m", codes=["533946113", "533946114", "533945363"])),
    ],
    ids=str,
)
def test_halves_without_logical_cells(domain):
    for level in range(domain.bits, 0, -1):
        node = np.arange(1 << (domain.bits - level))
        node = node[domain.block_sizes(node, level) > 0]
        empty = [domain.block_sizes(2 * node + side, level - 1) == 0 for side in (0, 1)]
        lone = lone_halves(domain, node, level)
        expected = empty[1].astype(int) - empty[0].astype(int)
        assert np.array_equal(np.zeros(len(node)) if lone is None else lone, expected)


def test_a_level_without_padding_is_not_looked_at():
    domain = sd.Domain(cell=sd.Grid(8, 4), age=sd.Bins(0, 60, step=5))
    looked = [lone_halves(domain, np.zeros(1, dtype=np.int64), level) is not None for level in range(1, 10)]
    assert looked == [True] * 4 + [False] * 5
