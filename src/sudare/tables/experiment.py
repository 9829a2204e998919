"""`experiment`: the error of methods on a table whose truth may be seen, for researchers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sudare.domain import CountTable
from sudare.domain.frames import arrow
from sudare.errors import ParameterError
from sudare.measure import error_by_block
from sudare.privacy import Number
from sudare.tables.method import Method
from sudare.tables.release import release

if TYPE_CHECKING:
    import pyarrow as pa


def experiment(
    table: CountTable,
    methods: Sequence[Method],
    epsilons: Sequence[Number],
    repetitions: int = 10,
    *,
    levels: Sequence[int] | None = None,
    total: str = "noisy",
    seed: int = 0,
) -> pa.Table:
    """Errors of seeded releases, tidy: one row per method, epsilon, repetition and block level.

    Columns: method, parameters, epsilon, repetition, nonzero_cells, and those of `measure.BlockErrors`.
    It compares with the exact counts, so its result is as private as the table itself.

    >>> import sudare as sd
    >>> frame = sd.experiment(sd.CountTable.from_array([5, 0, 0, 9]), [sd.Laplace()], [1], repetitions=2)
    >>> frame.num_rows
    6
    """
    pa = arrow()
    if type(repetitions) is not int or repetitions < 1:
        raise ParameterError("repetitions is not a whole number from 1 on", value=repetitions)
    rows: list[dict[str, Any]] = []
    for number, method in enumerate(methods):
        for epsilon in epsilons:
            for repetition in range(repetitions):
                # The same repetition of another method or epsilon must not share its noise.
                own_seed = ((seed * 1_000_003 + number) * 1_000_003 + len(rows)) * 1_000_003 + repetition
                made = release(table, method, epsilon, total=total, seed=own_seed)
                rows.extend(
                    {
                        "method": method.name,
                        "parameters": str(method.parameters) if method.parameters else "",
                        "epsilon": float(epsilon),
                        "repetition": repetition,
                        "nonzero_cells": len(made.table),
                        **row,
                    }
                    for row in error_by_block(table, made.table, levels).rows()
                )
    return pa.Table.from_pylist(rows)
