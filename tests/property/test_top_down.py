"""Laws of top-down refinement and of Privelet, on tables of any shape."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sudare as sd
from sudare.noise import record
from sudare.tables.haar import differences_at, inverse, padded_counts, transform
from sudare.tables.privelet import Privelet
from sudare.tables.top_down import TopDown

EPSILONS = st.sampled_from(["1/100", "1/5", "2", "40"])
SEEDS = st.integers(0, 2**32)


@st.composite
def tables(draw):
    """Lines and masked grids, with and without categories on the leaf side."""
    rows, columns, kinds = draw(st.tuples(st.integers(1, 6), st.integers(1, 6), st.sampled_from([1, 2, 3])))
    mask = draw(arrays(bool, (rows, columns)))
    mask[draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))] = True
    domain = sd.Domain(cell=sd.Grid(rows, columns, mask=mask), kind=sd.Categories(list(range(kinds))))
    cells = np.sort(domain.cells(np.arange(domain.size)))
    return sd.CountTable(domain, cells, draw(arrays(np.int64, domain.size, elements=st.integers(0, 200))))


@settings(max_examples=60, deadline=None)
@given(tables(), EPSILONS, SEEDS, st.sampled_from(["noisy", "public"]), st.booleans())
def test_integers_from_zero_on_inside_the_domain_with_the_total(table, epsilon, seed, total, serial):
    with record() as tape:
        made = sd.release(table, TopDown(serial), epsilon=epsilon, total=total, seed=seed).table
    assert made.count.dtype == np.int64
    assert (made.count > 0).all()
    assert table.domain.contains(made.index).all()
    assert made.total == (table.total if total == "public" else max(0, int(tape.measured[0].noisy[0])))


@settings(max_examples=60, deadline=None)
@given(tables(), EPSILONS, SEEDS)
def test_every_block_sum_is_the_one_that_was_refined(table, epsilon, seed):
    """From the tape alone: each block is split by its own measurement, clipped, and rounded by less than one."""
    domain = table.domain
    with record() as tape:
        made = sd.release(table, TopDown(), epsilon=epsilon, seed=seed).table
    coefficients = transform(padded_counts(table))
    for level, measured in zip(range(domain.bits, 0, -1), tape.measured[1:], strict=True):
        block, total = made.block_sums(level)
        halves = dict(zip(*(array.tolist() for array in made.block_sums(level - 1)), strict=True))
        sizes = [domain.block_sizes(2 * block + side, level - 1) for side in (0, 1)]
        two = (sizes[0] > 0) & (sizes[1] > 0)
        assert np.array_equal(measured.exact, coefficients[differences_at(domain.bits, level)][block[two]])
        left = np.array([halves.get(2 * number, 0) for number in block.tolist()], dtype=np.int64)
        assert np.array_equal(left[sizes[1] == 0], total[sizes[1] == 0])
        assert not left[sizes[0] == 0].any()
        difference = np.clip(measured.noisy, -total[two], total[two])
        rounding = 2 * left[two] - total[two] - difference
        assert np.array_equal(np.abs(rounding), (total[two] + difference) % 2)


@settings(max_examples=40, deadline=None)
@given(tables(), SEEDS, st.sampled_from([TopDown(), TopDown(serial=True), Privelet()]))
def test_a_person_more_is_a_neighbour_under_replay(table, seed, method):
    cell = int(table.domain.cells([seed % table.domain.size])[0])
    index = np.union1d(table.index, [cell])
    count = np.zeros(len(index), dtype=np.int64)
    count[np.searchsorted(index, table.index)] = table.count
    count[np.searchsorted(index, cell)] += 1
    with record() as tape:
        first = sd.release(table, method, epsilon=1, seed=seed)
    with record(replay=tape) as second:
        again = sd.release(sd.CountTable(table.domain, index, count), method, epsilon=1, seed=seed)
    assert first.table == again.table
    for before, after in zip(tape.measured, second.measured, strict=True):
        assert np.abs(before.exact - after.exact).sum() <= 1


@given(st.integers(0, 6).flatmap(lambda bits: arrays(np.int64, 1 << bits, elements=st.integers(-(2**40), 2**40))))
def test_the_transform_can_be_undone(values):
    assert np.array_equal(inverse(transform(values)), values)
