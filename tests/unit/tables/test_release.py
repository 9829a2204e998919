"""`release`: what comes out, what it promises, and what it refuses."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sudare as sd
from sudare.errors import AccountingError, ParameterError
from sudare.noise import measure, record
from sudare.privacy import Fact
from sudare.tables import Method

COUNTS = np.array([[0, 0, 9, 0], [120, 0, 0, 3], [0, 41, 0, 0]])
METHODS = [sd.Laplace(), sd.Laplace(cut=8), sd.Simplex(), sd.Tree(), sd.Tree(children=2)]


@pytest.fixture
def table():
    return sd.CountTable.from_array(COUNTS, unit=sd.Unit("person"))


@pytest.mark.parametrize("method", METHODS)
def test_the_guarantee_is_the_epsilon_that_was_asked(table, method):
    made = sd.release(table, method, epsilon=0.1)
    assert made.guarantee.notion == "epsilon-DP"
    assert made.guarantee.epsilon == Fraction(1, 10)
    assert made.guarantee.unit == sd.Unit("person", counted_elsewhere=True)
    assert made.guarantee.adjacency == "add or remove one unit"
    assert Fact("domain") in made.guarantee.public
    assert isinstance(method, Method)


@pytest.mark.parametrize("method", METHODS)
def test_a_seeded_release_repeats_and_promises_nothing(table, method):
    first, second = (sd.release(table, method, epsilon=1, seed=7) for _ in range(2))
    assert first.table == second.table
    assert first.guarantee.notion == "none: seeded"
    assert "none: seeded" in str(first.guarantee)
    assert first.guarantee.epsilon is None
    assert sd.release(table, method, epsilon=1, seed=8).table != first.table


@pytest.mark.slow
def test_laplace_lists_every_cell_signed_and_unbiased(table):
    runs = [sd.release(table, sd.Laplace(), epsilon=1, seed=i).table.to_array() for i in range(3000)]
    mean = np.mean(runs, axis=0)
    # The noise has variance 1.84; twelve means beyond 6.5 sigma: 1e-9.
    assert np.abs(mean - COUNTS).max() < 6.5 * (1.84 / 3000) ** 0.5
    assert np.min(runs) < 0


def test_laplace_cut_keeps_what_the_whole_vector_would_show(table):
    made = sd.release(table, sd.Laplace(cut=8), epsilon=1, seed=3).table
    assert (made.count >= 8).all()
    assert {int(i) for i in made.index} >= {int(i) for i in table.index[table.count > 30]}


@pytest.mark.slow
@pytest.mark.parametrize("method", [sd.Simplex(), sd.Tree(), sd.Tree(children=4)])
@pytest.mark.parametrize("total", ["noisy", "public"])
def test_estimates_are_integers_from_zero_on_with_the_total(table, total, method):
    for seed in range(200):
        made = sd.release(table, method, epsilon=0.05, total=total, seed=seed).table
        assert table.domain.contains(made.index).all()
        assert made.count.dtype == np.int64
        assert (made.count > 0).all()
        if total == "public":
            assert made.total == table.total


def test_a_public_total_has_its_own_guarantee(table):
    made = sd.release(table, sd.Simplex(), epsilon=0.5, total="public")
    assert made.guarantee.epsilon == 1
    assert made.guarantee.adjacency == "replace one record"
    assert Fact("total") in made.guarantee.public
    unchanged = sd.release(table, sd.Laplace(), epsilon=0.5, total="public")
    assert unchanged.guarantee.epsilon == Fraction(1, 2)


@pytest.mark.slow
def test_a_record_outside_the_domain_is_not_covered_by_a_public_total():
    """Dropped from the count, it changes the total that is published: so the guarantee leaves it out."""
    domain = sd.Domain(place=sd.Line(4))
    there, outside = (sd.read(pa.table({"place": [0, 1, 1, last]})) for last in (3, 9))
    made = [
        sd.release(records.count(domain, outside="drop"), sd.Simplex(), epsilon=1, total="public")
        for records in (there, outside)
    ]
    assert [one.table.total for one in made] == [4, 3]
    assert made[0].guarantee.assumptions == (Fact("inside"),)
    noisy = sd.release(there.count(domain, outside="drop"), sd.Simplex(), epsilon=1)
    assert noisy.guarantee.assumptions == ()


def test_a_public_total_with_several_rows_names_its_assumption():
    table = sd.CountTable.from_array(COUNTS, unit=sd.Unit("person", max_rows=3))
    made = sd.release(table, sd.Simplex(), epsilon=0.5, total="public")
    assert "equal row counts" in str(made.guarantee)


def test_counts_from_python_promise_a_unit_under_an_assumption_and_counted_rows_without():
    """They said "person with at most 1 row", as if somebody had bounded it."""
    line, two = sd.Domain(cell=sd.Line(4)), sd.Unit("person", max_rows=2)
    for handed_in in (sd.CountTable.from_array([1, 0, 2, 0], unit=two), sd.CountTable(line, [0, 2], [1, 2], unit=two)):
        promised = sd.release(handed_in, sd.Laplace(), epsilon=1).guarantee
        assert str(promised.unit) == "person counted at most 2 times"
        assert promised.assumptions == (Fact("counted", unit="person", rows=2),)
    rows = sd.read(pa.table({"cell": [0, 2, 2], "person": ["a", "b", "b"]}))
    promised = sd.release(rows.count(line, unit="person", max_rows=2), sd.Laplace(), epsilon=1).guarantee
    assert (str(promised.unit), promised.assumptions) == ("person with at most 2 rows", ())


def test_a_noisy_total_costs_five_percent(table):
    with record() as tape:
        sd.release(table, sd.Simplex(), epsilon=1)
    assert [(m.label, m.budget.epsilon) for m in tape.measured] == [
        ("total", Fraction(1, 20)),
        ("cells", Fraction(19, 20)),
    ]


@pytest.mark.parametrize("method", METHODS)
def test_several_rows_of_a_unit_multiply_the_noise(method):
    table = sd.CountTable.from_array(COUNTS, unit=sd.Unit("person", max_rows=4))
    with record() as tape:
        sd.release(table, method, epsilon=1)
    assert {m.sensitivity for m in tape.measured} == {4}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cell", [(0, 0), (0, 2), (2, 1)])
def test_a_neighbour_under_replay_gives_the_same_release(table, method, cell):
    neighbour = COUNTS.copy()
    neighbour[cell] += 1
    with record() as tape:
        first = sd.release(table, method, epsilon=0.3)
    with record(replay=tape) as second:
        again = sd.release(sd.CountTable.from_array(neighbour, unit=sd.Unit("person")), method, epsilon=0.3)
    assert np.array_equal(first.table.index, again.table.index)
    assert np.array_equal(first.table.count, again.table.count)
    loss = Fraction(0)
    for before, after in zip(tape.measured, second.measured, strict=True):
        distance = _distance(before.exact, after.exact)
        assert distance <= before.sensitivity
        loss += Fraction(int(distance)) / before.sensitivity * before.budget.epsilon
    # The privacy loss of this neighbour, added up over what it moved: what the guarantee bounds.
    assert loss <= Fraction(3, 10)


def _distance(one, other):
    if isinstance(one, np.ndarray):
        return np.abs(one - other).sum()
    cells = {int(i): int(v) for i, v in zip(one.index, one.value, strict=True)}
    for i, v in zip(other.index, other.value, strict=True):
        cells[int(i)] = cells.get(int(i), 0) - int(v)
    return sum(map(abs, cells.values()))


class Overspending:
    name = "overspending"
    uses_total = False
    parameters = {}  # noqa: RUF012 - a Protocol of plain values

    def protect(self, task):
        measure(np.array([1]), 1, task.budget, task.source, "once")
        measure(np.array([1]), 1, task.budget, task.source, "twice")
        return np.array([0]), np.array([1])

    def block_error(self, budget, sensitivity, cells, domain=None):
        return None


class Forgetful(Overspending):
    def protect(self, task):
        return task.table.index, task.table.count


@pytest.mark.parametrize("method", [Overspending(), Forgetful()])
def test_a_method_that_measures_something_else_than_it_promises_is_stopped(table, method):
    with pytest.raises(AccountingError, match="do not add up"):
        sd.release(table, method, epsilon=1)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "much", None])
def test_a_wrong_epsilon_is_refused(table, epsilon):
    with pytest.raises(ParameterError, match="epsilon is"):
        sd.release(table, sd.Simplex(), epsilon=epsilon)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"total": "exact"}, "unknown way to treat the total"),
        ({"method": "simplex"}, "not a method"),
        ({"seed": 1, "source": object()}, "a seed or a source"),
        ({"epsilon": "1e-30"}, "out of range"),
    ],
)
def test_wrong_options_are_refused(table, options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        sd.release(table, **{"epsilon": 1, "method": sd.Simplex(), **options})


def test_only_private_tables_are_released(table):
    with pytest.raises(ParameterError, match="takes a private CountTable"):
        sd.release(sd.release(table, sd.Simplex(), epsilon=1).table, sd.Simplex(), epsilon=1)
    with pytest.raises(ParameterError, match="takes a private CountTable"):
        sd.release(COUNTS, sd.Simplex(), epsilon=1)


def test_laplace_refuses_a_domain_it_would_have_to_list():
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**40)), [5], [10])
    with pytest.raises(ParameterError, match="too large for noise in every cell"):
        sd.release(table, sd.Laplace(), epsilon=1)
    assert (sd.release(table, sd.Laplace(cut=40), epsilon=1).table.count >= 40).all()


@pytest.mark.parametrize("cut", [0, -3, 2.5, True])
def test_a_wrong_cut_is_refused(cut):
    with pytest.raises(ParameterError, match="cut is not a whole number"):
        sd.Laplace(cut=cut)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "counts", [[0, 0, 0, 0], [7], [0], [10**12, 0, 0]], ids=["empty", "one cell", "one empty cell", "one crowd"]
)
def test_extreme_tables_are_released(method, counts):
    made = sd.release(sd.CountTable.from_array(counts), method, epsilon=0.5)
    assert abs(made.table.total - sum(counts)) < 10**4
    assert sd.release(sd.CountTable.from_array(counts), method, epsilon=0.5, total="public").guarantee.holds


def test_a_domain_of_2_to_the_40_cells_costs_what_is_populated():
    rng = np.random.default_rng(1)
    index = np.unique(rng.integers(0, 2**40, 3000))
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**40)), index, rng.integers(200, 5000, len(index)))
    made = sd.release(table, sd.Simplex(), epsilon=0.5, total="public").table
    assert made.total == table.total
    assert len(made) < 50_000


@pytest.mark.slow
@pytest.mark.parametrize("method", [sd.Simplex(), sd.NegativeL2(), sd.NonnegativeLasso(), sd.TopDown(), sd.Tree()])
@pytest.mark.parametrize("epsilon", [0.2, 30])
def test_few_people_in_a_huge_domain_are_released_whatever_the_noise(method, epsilon):
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**40)), [7, 5000], [3, 1])
    for seed in range(15):
        made = sd.release(table, method, epsilon=epsilon, total="public", seed=seed).table
        assert made.total == 4
        assert sd.release(table, method, epsilon=epsilon, seed=seed).table.total >= 0


@pytest.mark.slow
@pytest.mark.parametrize("method", [sd.Simplex(), sd.NegativeL2(), sd.NonnegativeLasso()])
@pytest.mark.parametrize("guess", [-1, 0, 3, 10**6])
def test_the_guess_of_how_deep_to_look_does_not_change_what_is_active(method, guess, monkeypatch):
    """A wrong guess, which comes from private things, may cost time but must not show in a huge domain either."""
    monkeypatch.setattr("sudare.noise.SparseNoise.level_for", lambda self, total: guess)
    index = np.arange(300) * 10**6
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**29)), index, np.arange(300) * 7 + 1)
    made = sd.release(table, method, epsilon=4, total="public", seed=3).table
    assert made.total == table.total
    assert (made.count > 0).all()
    assert np.isin(index[100:], made.index).all()
    released = dict(zip(made.index.tolist(), made.count.tolist(), strict=True))
    assert max(abs(released[i] - c) for i, c in zip(index.tolist()[200:], table.count.tolist()[200:], strict=True)) < 40


def test_the_summary_holds_public_facts(table):
    made = sd.release(table, sd.Simplex(), epsilon=1)
    assert made.summary["total"] == made.table.total
    assert made.summary["cells"] == 12
    assert made.summary["smallest"] == 0
    assert "Release(simplex" in repr(made)


def test_counts_that_are_handed_in_are_assumed_to_count_a_row_once():
    handed_in = sd.release(sd.CountTable.from_array([3, 0, 9]), sd.Laplace(), epsilon=1).guarantee
    assert str(handed_in.unit) == "row counted at most 1 time"
    assert [str(fact) for fact in handed_in.assumptions] == ["no row is counted more than once in the data"]
    rows = sd.read(pa.table({"place": [0, 2, 2]}))
    counted = sd.release(rows.count(sd.Domain(place=sd.Line(3))), sd.Laplace(), epsilon=1).guarantee
    assert (str(counted.unit), counted.assumptions) == ("row", ())
