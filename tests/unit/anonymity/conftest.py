"""Small tables for the tests of anonymity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sudare.anonymity import Hierarchy
from sudare.anonymity.lattice import Tuples
from sudare.anonymity.requirements import Sensitive

AGE = {"10s-20s": ["10s", "20s"], "30s-40s": ["30s", "40s"], "50s-60s": ["50s", "60s"]}
WORK = {"Government": ["Local", "State", "Federal"], "Self": ["Self-inc", "Self-not-inc"], "Private": None}


@pytest.fixture
def age() -> Hierarchy:
    """Six decades in pairs: the paper's figure 2.1."""
    return Hierarchy.from_nested(AGE)


@pytest.fixture
def work() -> Hierarchy:
    """Six kinds of work: the paper's figure 2.1."""
    return Hierarchy.from_nested(WORK)


@pytest.fixture
def people(age: Hierarchy, work: Hierarchy) -> Callable[..., Tuples]:
    """people(records, seed): tuples over age and work, and a sensitive column of three values."""

    def made(records: int = 400, seed: int = 0) -> Tuples:
        generator = np.random.default_rng(seed)
        weights = [0.5 ** np.arange(6), 0.6 ** np.arange(6), np.array([5.0, 3.0, 1.0])]
        columns = [generator.choice(len(weight), records, p=weight / weight.sum()) for weight in weights]
        distinct, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
        ill = Sensitive(distinct[:, 2].astype(np.int64), ("cold", "flu", "gout"))
        codes = distinct[:, :2].astype(np.int32)
        return Tuples(("age", "work"), (age, work), codes, counts.astype(np.int64), {"ill": ill})

    return made
