"""Work side by side gives what work one after the other gives, byte for byte, and does run side by side."""

import importlib
import threading

import numpy as np
import pytest

import sudare as sd
from sudare import parallel


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_results_come_in_order_and_inner_work_stays_in_its_thread(monkeypatch, cores):
    monkeypatch.setattr(parallel, "cores", lambda: cores)

    def inner(number):
        return number, threading.get_ident()

    def outer(number):
        found = parallel.each(inner, range(number))
        assert {thread for _, thread in found} <= {threading.get_ident()}
        return [own for own, _ in found]

    assert parallel.each(outer, range(6)) == [list(range(number)) for number in range(6)]


def test_two_pieces_of_work_may_wait_for_each_other(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    both = threading.Barrier(2, timeout=30)
    assert sorted(parallel.each(lambda _: both.wait(), range(2))) == [0, 1]


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        parallel.each(lambda number: 1 // number, [1, 0, 2])


def test_error_bars_do_not_depend_on_the_number_of_cores(monkeypatch):
    counts = np.random.default_rng(1).poisson(np.random.default_rng(2).gamma(0.3, 20, (24, 20)))
    table, found = sd.CountTable.from_array(counts), []
    for cores in (1, 3):
        monkeypatch.setattr(parallel, "cores", lambda cores=cores: cores)
        monkeypatch.setattr(
            importlib.import_module("sudare.tables.release"), "_LATEST", {}
        )  # not the function of that name
        bars = sd.release(table, sd.Tree(), epsilon=1, seed=3).error(block_level=0)
        found.append((bars.low.tobytes(), bars.high.tobytes(), bars.expected_error.tobytes()))
    assert found[0] == found[1]
