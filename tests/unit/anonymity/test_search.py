"""The lattice of levels and the search in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from recipes import least_loss
from sudare.anonymity import Closeness, DistinctDiversity, EntropyDiversity, Hierarchy
from sudare.anonymity.lattice import Generalisation, Lattice, Tuples, optimal
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.requirements import Requirement
from sudare.errors import ParameterError

REQUIREMENTS = [(), (DistinctDiversity("ill", 2),), (EntropyDiversity("ill", 1.5),), (Closeness("ill", 0.3),)]


def test_a_point_loses_what_its_recoding_does(people: Callable[..., Tuples]) -> None:
    tuples = people()
    lattice = Lattice(tuples, tuples.judge(8))
    assert lattice.shape == (3, 3)
    for levels in product(*map(range, lattice.shape)):
        point = lattice.look(levels)
        made = Recoding.everywhere(tuples, Generalisation.at(tuples.hierarchies, levels)).published(8)
        assert point.suppressed == made.suppressed
        assert lattice.losses(point)[levels] == pytest.approx(made.loss)


@pytest.mark.parametrize("requirements", REQUIREMENTS)
@pytest.mark.parametrize("limit", [0.0, 0.02, 0.2, 1.0])
def test_the_optimum_is_that_of_looking_everywhere(
    people: Callable[..., Tuples], requirements: tuple[Requirement, ...], limit: float
) -> None:
    for seed in range(8):
        tuples = people(300, seed)
        lattice = Lattice(tuples, tuples.judge(6, requirements))
        found = optimal(lattice, limit)
        assert found.loss == pytest.approx(least_loss(lattice, limit), abs=1e-12)
        assert found.looks <= math.prod(lattice.shape)
        assert found.point.suppressed <= limit * tuples.total


@pytest.mark.slow
def test_it_looks_at_a_fraction_of_a_large_lattice() -> None:
    generator = np.random.default_rng(4)
    trees = tuple(Hierarchy.from_widths(0, 64, 1, 4, 16) for _ in range(5))
    codes = np.minimum(generator.exponential(8, (3000, 5)), 63).astype(np.int32)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    tuples = Tuples(tuple("abcde"), trees, distinct, counts.astype(np.int64))
    for limit in (0.0, 0.05):
        lattice = Lattice(tuples, tuples.judge(10))
        found = optimal(lattice, limit)
        assert found.loss == pytest.approx(least_loss(lattice, limit))
        assert found.looks < math.prod(lattice.shape) / 4


def test_nothing_satisfies_the_requirement(people: Callable[..., Tuples]) -> None:
    tuples = people()
    lattice = Lattice(tuples, tuples.judge(2, [DistinctDiversity("ill", 4)]))
    with pytest.raises(ParameterError, match="not even with every column at its root"):
        optimal(lattice, 0.0)


def test_a_lattice_that_is_too_large() -> None:
    tree = Hierarchy.from_nested({"a": {"b": {"c": {"d": {"e": {"f": {"g": ["h"]}}}}}}, "i": None})
    names = tuple(map(str, range(9)))
    tuples = Tuples(names, (tree,) * 9, np.zeros((1, 9), dtype=np.int32), np.array([5]))
    with pytest.raises(ParameterError, match="too many combinations of levels"):
        optimal(Lattice(tuples, tuples.judge(2)))
