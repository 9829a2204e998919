"""Stores: sums of blocks, parts of jobs, and answers that must be complete."""

import numpy as np
import pyarrow as pa
import pytest

from in_process import InProcessStore
from sudare.errors import AccountingError
from sudare.spark.store import Jobs, answers_by_node, in_parts, slices

STORE = InProcessStore(np.array([0, 1, 9, 10, 40]), np.array([2, 3, 5, 7, 11]))


class Listed:
    """A kernel that tells which nodes and cells it was given."""

    gives = pa.schema([("node", pa.int64()), ("sum", pa.int64()), ("cells", pa.int64())])

    def __call__(self, jobs, index, count):
        own = slices(jobs, 3, index)
        nodes = jobs.column("node").to_pylist()
        rows = [{"node": n, "sum": int(count[s].sum()), "cells": len(index)} for n, s in zip(nodes, own, strict=True)]
        return pa.Table.from_pylist(rows, self.gives)


def test_sums_of_blocks():
    assert [array.tolist() for array in STORE.sums(3)] == [[0, 1, 5], [5, 12, 11]]
    assert [array.tolist() for array in STORE.sums(1, (3, np.array([1, 4])))] == [[4, 5], [5, 7]]
    assert [array.tolist() for array in InProcessStore(STORE.index[:0], STORE.count[:0]).sums(3)] == [[], []]
    assert [array.tolist() for array in InProcessStore(STORE.index, np.array([2, 3, 2, 2, 3])).histogram()] == [
        [2, 3],
        [3, 2],
    ]


def test_jobs_get_the_cells_of_their_part_and_no_others():
    jobs = Jobs(3, np.array([0, 0, 1]), np.array([0, 1, 4]))
    assert STORE.each(jobs, Listed()).to_pylist() == [
        {"node": 0, "sum": 5, "cells": 4},
        {"node": 1, "sum": 12, "cells": 4},
        {"node": 4, "sum": 0, "cells": 0},
    ]
    unread = Jobs(3, jobs.part, jobs.node, reading=np.array([True, False, True]))
    assert STORE.each(unread, Listed()).column("cells").to_pylist() == [2, 2, 0]
    assert STORE.each(Jobs(3, jobs.part[:0], jobs.node[:0]), Listed()).num_rows == 0


def test_parts_are_ranges_of_about_so_many_people():
    people = np.random.default_rng(1).integers(0, 50, 300)
    part = in_parts(people, 200)
    assert part[0] == 0
    assert set(np.diff(part).tolist()) <= {0, 1}
    sizes = np.bincount(part, weights=people)
    assert sizes.max() < 250
    assert in_parts(people[:0], 10).tolist() == []
    assert in_parts(np.array([10**9, 10**9]), 10).tolist() == [0, 1]


def test_each_node_answers_once():
    node = np.array([2, 5])
    answers = pa.table({"node": [5, 2], "sum": [1.0, 2.0]})
    assert answers_by_node(answers, node)["sum"].to_pylist() == [2.0, 1.0]
    for wrong in (answers.slice(1), pa.concat_tables([answers, answers.slice(1)])):
        with pytest.raises(AccountingError, match="exactly once"):
            answers_by_node(wrong, node)
