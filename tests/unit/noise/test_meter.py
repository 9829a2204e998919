"""The meter knows rows: callers that are broken on purpose are stopped before noise is drawn."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.domain import CountTable, Domain, Line
from sudare.errors import AccountingError
from sudare.noise import Blocks, Source, delegate, measure, metered, record, respond
from sudare.noise.response import RandomisedResponse
from sudare.privacy import Budget
from sudare.tables import Tree, release, tree_passes

HALF = Budget(epsilon=Fraction(1, 2))
ONE = Budget(epsilon=Fraction(1))


def blocks(*numbers, bits=2):
    return Blocks(np.array(numbers, dtype=np.int64), bits)


def ones(rows):
    return np.ones(len(rows.number), dtype=np.int64)


def measured(rows, source, label, *, final=False):
    return measure(ones(rows), 1, HALF, source, label, final=final, rows=rows)


def test_rows_that_were_final_are_never_measured_again():
    source = Source.from_seed(1)
    with metered() as meter:
        measured(blocks(0, 1, 5), source, "level 1")
        measured(blocks(1, 5), source, "rest", final=True)
        measured(blocks(0, 1, 2, 3, bits=0), source, "level 2")  # all below block 0, which went on
        meter.check(ONE)
        for broken in (blocks(1), blocks(5), blocks(4, bits=0), blocks(23, bits=0), blocks(0, bits=5)):
            with pytest.raises(AccountingError, match="measured again that were measured for the last time"):
                measured(broken, source, "again")
    assert [label for label, _, _ in meter.costs] == ["level 1", "rest", "level 2"]


def test_final_rows_are_final_for_final_measurements_too():
    source = Source.from_seed(1)
    with metered():
        measured(blocks(3), source, "rest", final=True)
        with pytest.raises(AccountingError, match="measured for the last time"):
            measured(blocks(3), source, "rest again", final=True)


def test_a_final_measurement_names_its_rows_and_so_does_every_later_one():
    source, values = Source.from_seed(1), np.ones(2, dtype=np.int64)
    with metered(), pytest.raises(AccountingError, match="does not name its rows"):
        measure(values, 1, HALF, source, "rest", final=True)
    with metered():
        measured(blocks(3), source, "rest", final=True)
        with pytest.raises(AccountingError, match="does not name its rows"):
            measure(values, 1, HALF, source, "total")
        with pytest.raises(AccountingError, match="does not name its rows"):
            respond(values, RandomisedResponse(3, Fraction(1)), source, "reports")
        with pytest.raises(AccountingError, match="does not name its rows"):
            delegate("level 2 in subtrees", HALF)
        with pytest.raises(AccountingError, match="measured for the last time"):
            delegate("level 2 in subtrees", HALF, blocks(12, 13, bits=0))
        delegate("level 2 in subtrees", HALF, blocks(11, 16, bits=0))


def test_the_meter_holds_under_replay():
    def broken(source):
        with metered():
            measured(blocks(3), source, "rest", final=True)
            measured(blocks(2), source, "level 2")

    with record() as tape:
        broken(Source.from_seed(1))
    with record(replay=tape), metered():
        measured(blocks(3), Source.from_seed(1), "rest", final=True)
        with pytest.raises(AccountingError, match="measured for the last time"):
            measured(blocks(3), Source.from_seed(1), "level 2")


def test_every_value_has_a_block_of_its_own():
    with pytest.raises(AccountingError, match="one block of rows for each value"):
        measure(np.ones(3, dtype=np.int64), 1, HALF, Source.from_seed(1), "cells", rows=blocks(0, 1))
    for numbers in ([1, 1], [2, 1]):
        with pytest.raises(AccountingError, match="do not ascend"):
            blocks(*numbers)


@pytest.mark.slow
@given(
    st.lists(st.integers(0, 40), unique=True),
    st.integers(0, 4),
    st.lists(st.integers(0, 40), unique=True),
    st.integers(0, 4),
)
def test_blocks_touch_where_they_have_a_cell_in_common(one, bits, other, other_bits):
    def cells(numbers, width):
        return {(number << width) + step for number in numbers for step in range(1 << width)}

    touching = bool(cells(one, bits) & cells(other, other_bits))
    here, there = blocks(*sorted(one), bits=bits).stretches(), blocks(*sorted(other), bits=other_bits).stretches()
    assert here.touch(there) == there.touch(here) == touching


def test_a_tree_that_splits_what_it_measured_for_the_last_time_is_stopped(monkeypatch):
    """The mistake that was planted: the rest is spent on every node, also on those that are split."""
    table = CountTable(Domain(cell=Line(4096)), np.arange(40), np.full(40, 50))
    method = Tree(emphasis="areas")
    release(table, method, 4, seed=1)
    measured, refined, seen = tree_passes.measure, tree_passes.refine, []

    def kept(values, sensitivity, budget, source, label, *, rows):
        noisy = measured(values, sensitivity, budget, source, label, rows=rows)
        seen[:] = [values, noisy, rows]
        return noisy

    def everything(values, coarse, *given, of, final, rows):
        finer = refined(seen[0], seen[1], *given, of=of, final=final, rows=seen[2])
        return finer[: len(values)]

    monkeypatch.setattr(tree_passes, "measure", kept)
    monkeypatch.setattr(tree_passes, "refine", everything)
    with pytest.raises(AccountingError, match="measured for the last time"):
        release(table, method, 4, seed=1)
