"""`Privelet`: what comes out, what it measures, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.noise import record
from sudare.tables.method import Method
from sudare.tables.privelet import Privelet

COUNTS = np.array([[0, 0, 9, 0, 7], [120, 0, 0, 3, 0], [0, 41, 0, 0, 1]])
PERSON = sd.Unit("person")
METHODS = [
    Privelet(decomposition, scale) for decomposition in ("morton", "standard") for scale in ("tight", "original")
]
EPSILON = sd.privacy.Budget(epsilon="0.1")


@pytest.fixture
def table():
    return sd.CountTable.from_array(COUNTS, unit=PERSON)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_floats_in_every_logical_cell(table, method):
    assert isinstance(method, Method)
    made = sd.release(table, method, epsilon=0.1, seed=1).table
    assert made.count.dtype == np.float64
    assert len(made) == table.domain.size == 15
    assert made.to_array().min() < 0
    assert not made.private


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_cells_are_unbiased_with_padding_too(table, method):
    runs = np.array([sd.release(table, method, epsilon=1, seed=i).table.to_array() for i in range(400)])
    spread = runs.std(axis=0, ddof=1) / 20
    assert (np.abs(runs.mean(axis=0) - COUNTS) < 7 * spread).all()  # 15 means beyond 7 sigma: below 1e-9


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_noise_does_not_depend_on_the_data(table, method):
    empty = sd.CountTable.from_array(np.zeros_like(COUNTS))
    noise = sd.release(empty, method, epsilon=1, seed=5).table.to_array()
    released = sd.release(table, method, epsilon=1, seed=5).table.to_array()
    assert np.allclose(released - COUNTS, noise)


def test_on_the_line_root_and_levels_get_equal_parts(table):
    with record() as tape:
        sd.release(table, Privelet(), epsilon=0.6)
    assert [measured.label for measured in tape.measured] == ["root", *(f"level {level}" for level in range(5, 0, -1))]
    assert [len(measured.exact) for measured in tape.measured] == [1, 1, 2, 4, 8, 16]
    assert {(measured.budget.epsilon, measured.sensitivity) for measured in tape.measured} == {(Fraction(1, 10), 1)}


@pytest.mark.parametrize(("scale", "factor"), [("tight", 1), ("original", 2)])
def test_sensitivities(scale, factor):
    table = sd.CountTable.from_array(COUNTS, unit=sd.Unit("person", max_rows=3))
    with record() as tape:
        sd.release(table, Privelet("morton", scale), epsilon=1)
    assert {measured.sensitivity for measured in tape.measured} == {3 * factor}
    with record() as tape:
        sd.release(table, Privelet("standard", scale), epsilon=1)
    # Three rows and five columns are padded to 2**2 and 2**3: three times four parts.
    assert {(m.sensitivity, m.budget.epsilon) for m in tape.measured} == {(3 * factor, Fraction(1, 12))}
    assert sorted(m.exact.size for m in tape.measured) == sorted(a * b for a in (1, 1, 2) for b in (1, 1, 2, 4))


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("cell", [(0, 0), (0, 2), (2, 4), (1, 0)])
def test_a_neighbour_under_replay_gives_the_same_release(table, method, cell):
    neighbour = COUNTS.copy()
    neighbour[cell] += 1
    with record() as tape:
        first = sd.release(table, method, epsilon=0.3)
    with record(replay=tape) as second:
        again = sd.release(sd.CountTable.from_array(neighbour, unit=PERSON), method, epsilon=0.3)
    assert first.table == again.table
    for before, after in zip(tape.measured, second.measured, strict=True):
        distance = np.abs(before.exact - after.exact).sum()
        assert distance <= before.sensitivity
        assert distance * (2 if method.scale == "original" else 1) == before.sensitivity


def test_one_axis_may_be_of_another_attribute_than_the_other():
    domain = sd.Domain(line=sd.Line(4), age=sd.Bins(0, 30, step=5))
    table = sd.CountTable(domain, domain.index([1, 3], [5, 0]), [50, 70])
    made = sd.release(table, Privelet("standard"), epsilon=100, seed=1).table.to_array()
    assert np.abs(made - table.to_array()).max() < 20


@pytest.mark.parametrize(
    "domain", [sd.Domain(cell=sd.Line(8)), sd.Domain(cell=sd.Grid(2, 2), sex=sd.Categories(["f", "m"]))], ids=str
)
def test_the_standard_decomposition_needs_two_axes(domain):
    with pytest.raises(ParameterError, match="takes a domain with two axes"):
        sd.release(sd.CountTable(domain, [1], [1]), Privelet("standard"), epsilon=1)


def test_block_errors_of_the_papers_window():
    domain = sd.Domain(cell=sd.Grid(512, 512))
    errors = [Privelet().block_error(EPSILON, 1, 4**power, domain) for power in (0, 6, 8, 9)]
    assert errors == pytest.approx([155.13, 155.17, 164.54, 268.70], abs=0.01)
    plane = [Privelet("standard").block_error(EPSILON, 1, 4**power, domain) for power in (0, 6, 8, 9)]
    assert plane == pytest.approx([471.4, 486.1, 707.1, 1414.2], abs=0.1)
    assert Privelet(scale="original").block_error(EPSILON, 1, 1, domain) == pytest.approx(2 * errors[0], rel=1e-4)
    assert Privelet().block_error(EPSILON, 3, 1, domain) == pytest.approx(3 * errors[0], rel=1e-4)


def test_block_errors_are_given_only_where_they_are_exact():
    domain, padded = sd.Domain(cell=sd.Grid(4, 4)), sd.Domain(cell=sd.Grid(3, 4))
    assert Privelet().block_error(EPSILON, 1, 4) is None
    assert Privelet().block_error(EPSILON, 1, 3, domain) is None
    assert Privelet().block_error(EPSILON, 1, 32, domain) is None
    assert Privelet().block_error(EPSILON, 1, 4, padded) is None


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize(
    "counts", [[[0, 0], [0, 0]], [[7]], [[0]], [[10**12, 0, 0]]], ids=["empty", "one cell", "one empty cell", "crowd"]
)
def test_extreme_tables_are_released(method, counts):
    made = sd.release(sd.CountTable.from_array(counts), method, epsilon=0.5)
    # The largest noise has scale 2 * 3 * 1 / 0.5 = 12 in the total; padding adds a little. 600 is 50 scales.
    assert abs(made.table.total - np.sum(counts)) < 600


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_noise_that_would_overflow_is_refused(table, method):
    with pytest.raises(ParameterError, match="the scale of the noise is out of range"):
        sd.release(table, method, epsilon="1e-20")


@pytest.mark.parametrize("decomposition", ["morton", "standard"])
def test_a_domain_that_would_fill_the_memory_is_refused(decomposition):
    table = sd.CountTable(sd.Domain(cell=sd.Grid(2**15, 2**14)), [5], [10])
    with pytest.raises(ParameterError, match="too large for a dense transform"):
        sd.release(table, Privelet(decomposition), epsilon=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"decomposition": "mortn"}, "unknown decomposition.*Did you mean 'morton'"),
        ({"scale": "loose"}, r"unknown scale \(got 'loose'; allowed: tight or original\)"),
        ({"scale": 2}, "unknown scale"),
    ],
)
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Privelet(**options)
