"""`TopDown`: what comes out, what it measures, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.noise import record
from sudare.tables.haar import differences_at, transform
from sudare.tables.method import Method
from sudare.tables.top_down import TopDown

COUNTS = np.array([[0, 0, 9, 0, 7], [120, 0, 0, 3, 0], [0, 41, 0, 0, 1]])
PERSON = sd.Unit("person")
METHODS = [TopDown(), TopDown(serial=True)]


@pytest.fixture
def table():
    return sd.CountTable.from_array(COUNTS, unit=PERSON)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("total", ["noisy", "public"])
def test_integers_above_zero_in_logical_cells(table, method, total):
    for seed in range(100):
        made = sd.release(table, method, epsilon=0.3, total=total, seed=seed).table
        assert made.count.dtype == np.int64
        assert (made.count > 0).all()
        assert table.domain.contains(made.index).all()
        if total == "public":
            assert made.total == table.total


@pytest.mark.parametrize("method", METHODS)
def test_the_budget_goes_in_equal_parts_to_root_and_levels(table, method):
    assert isinstance(method, Method)
    with record() as tape:
        made = sd.release(table, method, epsilon=0.6)
    assert [measured.label for measured in tape.measured] == ["root", *(f"level {level}" for level in range(5, 0, -1))]
    assert {measured.budget.epsilon for measured in tape.measured} == {Fraction(1, 10)}
    assert made.guarantee.epsilon == Fraction(6, 10)
    assert made.table.total == max(0, int(tape.measured[0].noisy[0]))


@pytest.mark.parametrize("method", METHODS)
def test_a_public_total_is_not_measured(table, method):
    with record() as tape:
        made = sd.release(table, method, epsilon=0.5, total="public")
    assert [measured.label for measured in tape.measured] == [f"level {level}" for level in range(5, 0, -1)]
    assert {measured.budget.epsilon for measured in tape.measured} == {Fraction(1, 10)}
    assert made.guarantee.adjacency == "replace one record"
    assert made.guarantee.epsilon == 1


@pytest.mark.parametrize("method", METHODS)
def test_several_rows_of_a_unit_multiply_the_noise(method):
    table = sd.CountTable.from_array(COUNTS, unit=sd.Unit("person", max_rows=4))
    with record() as tape:
        sd.release(table, method, epsilon=1)
    assert {measured.sensitivity for measured in tape.measured} == {4}


def test_only_nodes_with_people_are_visited():
    table = sd.CountTable.from_array(np.where(np.arange(256) == 17, 10**6, 0))
    with record() as tape:
        made = sd.release(table, TopDown(), epsilon=1, seed=1)
    for measured in tape.measured[1:]:
        blocks, _ = made.table.block_sums(int(measured.label.split()[1]))
        assert len(measured.exact) == len(blocks) < 40


def test_the_serial_twin_measures_every_node(table):
    with record() as tape:
        sd.release(table, TopDown(serial=True), epsilon=1)
    assert [len(measured.exact) for measured in tape.measured] == [1, 1, 2, 4, 8, 16]
    dense = np.zeros(32, dtype=np.int64)
    dense[table.index] = table.count
    for level, measured in zip(range(5, 0, -1), tape.measured[1:], strict=True):
        assert np.array_equal(measured.exact, transform(dense)[differences_at(5, level)])


def test_a_node_with_one_logical_half_is_not_measured():
    # Five cells in a line of eight: the nodes of cells 4..7 and 4..5 have one half each that is padding.
    table = sd.CountTable.from_array([900, 900, 900, 900, 900])
    with record() as tape:
        sd.release(table, TopDown(), epsilon=1, seed=3)
    assert [len(measured.exact) for measured in tape.measured] == [1, 1, 1, 2]


def test_nothing_falls_into_masked_cells():
    mask = np.random.default_rng(2).random((6, 6)) < 0.4
    domain = sd.Domain(cell=sd.Grid(6, 6, mask=mask))
    table = sd.CountTable(domain, domain.cells(np.arange(domain.size)), np.full(domain.size, 3))
    for method in METHODS:
        for seed in range(50):
            made = sd.release(table, method, epsilon=0.2, total="public", seed=seed).table
            assert made.total == table.total
            assert not made.to_array()[~mask].any()


def neighbours_agree(table, neighbour, method, total, distance):
    with record() as tape:
        first = sd.release(table, method, epsilon=0.3, total=total)
    with record(replay=tape) as second:
        again = sd.release(neighbour, method, epsilon=0.3, total=total)
    assert first.table == again.table
    for before, after in zip(tape.measured, second.measured, strict=True):
        assert np.abs(before.exact - after.exact).sum() <= distance * before.sensitivity


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cell", [(0, 0), (0, 2), (2, 4), (1, 0)])
def test_a_neighbour_under_replay_gives_the_same_release(table, method, cell):
    more = COUNTS.copy()
    more[cell] += 1
    neighbours_agree(table, sd.CountTable.from_array(more, unit=PERSON), method, "noisy", 1)


@pytest.mark.parametrize("method", METHODS)
def test_with_a_public_total_a_replaced_record_gives_the_same_release(table, method):
    moved = COUNTS.copy()
    moved[0, 4] -= 1
    moved[2, 0] += 1
    neighbours_agree(table, sd.CountTable.from_array(moved, unit=PERSON), method, "public", 2)


def test_neighbours_of_an_empty_table_and_of_a_huge_domain():
    empty = sd.CountTable.from_array(np.zeros(8), unit=PERSON)
    one = sd.CountTable.from_array([0, 0, 0, 0, 0, 1, 0, 0], unit=PERSON)
    for method in METHODS:
        for _ in range(20):
            neighbours_agree(empty, one, method, "noisy", 1)
    domain = sd.Domain(cell=sd.Line(2**40))
    index = np.unique(np.random.default_rng(3).integers(0, 2**40, 200))
    sparse = sd.CountTable(domain, index, np.full(len(index), 500), PERSON)
    more = sd.CountTable(domain, np.append(index, 12345), np.append(sparse.count, 1), PERSON)
    neighbours_agree(sparse, more, TopDown(), "noisy", 1)


def test_replay_leaves_the_tape_as_it_was(table):
    with record() as tape:
        sd.release(table, TopDown(), epsilon=0.3)
    before = [(measured.exact.copy(), measured.noisy.copy()) for measured in tape.measured]
    with record(replay=tape):
        sd.release(table, TopDown(), epsilon=0.3)
    for (exact, noisy), measured in zip(before, tape.measured, strict=True):
        assert np.array_equal(exact, measured.exact)
        assert np.array_equal(noisy, measured.noisy)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("total", ["noisy", "public"])
@pytest.mark.parametrize(
    "counts", [[0, 0, 0, 0], [7], [0], [10**12, 0, 0]], ids=["empty", "one cell", "one empty cell", "one crowd"]
)
def test_extreme_tables_are_released(method, total, counts):
    made = sd.release(sd.CountTable.from_array(counts), method, epsilon=0.5, total=total)
    # Noise of scale at most 6, in the total only: 200 is 33 scales.
    assert abs(made.table.total - sum(counts)) < (1 if total == "public" else 200)


@pytest.mark.parametrize("counts", [[0, 0, 0, 0], [0, 0, 0, 1], [500, 3, 0, 9]])
@pytest.mark.parametrize("method", METHODS)
def test_noise_that_would_overflow_is_refused_whatever_the_table(method, counts):
    for total in ("noisy", "public"):
        with pytest.raises(ParameterError, match="the scale of the noise is out of range"):
            sd.release(sd.CountTable.from_array(counts), method, epsilon="1e-20", total=total)


def test_the_largest_noise_still_gives_a_table():
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**37)), [5, 2**30], [3, 10**12])
    made = sd.release(table, TopDown(), epsilon="1e-13", seed=2).table
    assert (made.count > 0).all()


def test_a_domain_of_2_to_the_40_cells_costs_what_is_populated():
    rng = np.random.default_rng(1)
    index = np.unique(rng.integers(0, 2**40, 3000))
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**40)), index, rng.integers(2000, 5000, len(index)))
    made = sd.release(table, TopDown(), epsilon=0.5, total="public").table
    assert made.total == table.total
    assert len(made) < 300_000


def test_the_serial_twin_refuses_a_domain_it_would_have_to_list():
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**29)), [5], [10])
    with pytest.raises(ParameterError, match="too large for a dense transform"):
        sd.release(table, TopDown(serial=True), epsilon=1)


@pytest.mark.parametrize("serial", [1, "yes", None])
def test_a_wrong_serial_is_refused(serial):
    with pytest.raises(ParameterError, match="serial is neither true nor false"):
        TopDown(serial=serial)


def test_its_error_depends_on_the_data():
    assert TopDown().block_error(sd.privacy.Budget(epsilon=1), 1, 4) is None
    assert TopDown(serial=True).parameters == {"serial": True}
