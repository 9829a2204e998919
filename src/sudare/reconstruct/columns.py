"""Columns as they are given: one array, a table of numbers, or names with a column each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError, did_you_mean
from sudare.reconstruct.noises import Noise, noise_of

ONLY = "value"
"""What a single column without a name is called."""


@dataclass(frozen=True)
class NamedColumns:
    """Columns of equal length by name, and the ``form`` they came in: "array", "table" or "names"."""

    names: tuple[str, ...]
    values: tuple[NDArray[Any], ...]
    form: str

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.values[0])

    def each(self, given: Any, what: str) -> tuple[Any, ...]:
        """``given`` for each column, in the form the columns came in; None where a mapping names none."""
        if self.form == "array":
            return (given,)
        if self.form == "names":
            return _by_name(given, self.names, what)
        if given is None:
            return (None,) * len(self.names)
        listed = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else None
        if listed is None or len(listed) != len(self.names):
            raise ParameterError(
                "{what} does not name every column", allowed="a list of {count}", what=what, count=len(self.names)
            )
        return tuple(listed)

    def shaped(self, columns: Sequence[Any]) -> Any:
        """One thing for each column, in the form the columns came in."""
        if self.form == "array":
            return columns[0]
        return dict(zip(self.names, columns, strict=True)) if self.form == "names" else tuple(columns)


def _by_name(given: Any, names: tuple[str, ...], what: str) -> tuple[Any, ...]:
    if given is None:
        return (None,) * len(names)
    if not isinstance(given, Mapping):
        raise ParameterError("{what} is not given by name", value=type(given).__name__, allowed=names, what=what)
    for name in given:
        if name not in names:
            raise ParameterError(
                "{what} names a column that is not there", value=name, hint=did_you_mean(str(name), names), what=what
            )
    return tuple(given.get(name) for name in names)


def table_of(values: Any) -> NamedColumns:
    """Columns of an array (n,), a table (n, columns), a mapping or a data frame.

    >>> table_of({"age": [30, 41], "sex": ["f", "m"]}).names
    ('age', 'sex')
    """
    if isinstance(values, Mapping):
        named = {str(name): np.asarray(column) for name, column in values.items()}
    elif (listed := getattr(values, "column_names", getattr(values, "columns", None))) is not None:
        named = {str(name): np.asarray(values[name]) for name in listed}
    else:
        return _unnamed(np.asarray(values))
    lengths = {len(column) if column.ndim == 1 else -1 for column in named.values()}
    if not named or len(lengths) != 1 or lengths & {-1, 0}:
        raise ParameterError("columns are missing, empty or of different lengths", value=tuple(named))
    return NamedColumns(tuple(named), tuple(named.values()), "names")


def _unnamed(array: NDArray[Any]) -> NamedColumns:
    if array.ndim not in (1, 2) or not array.size:
        raise ParameterError(
            "the values do not form a table", value=array.shape, allowed="an array (records,) or (records, columns)"
        )
    if array.ndim == 1:
        return NamedColumns((ONLY,), (array,), "array")
    return NamedColumns(tuple(str(place) for place in range(array.shape[1])), tuple(array.T), "table")


@dataclass(frozen=True)
class PerturbedColumns:
    """Perturbed columns with the noise of each and the edges of its bins (None for categories)."""

    table: NamedColumns
    noises: tuple[Noise, ...]
    edges: tuple[Any, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.table.names

    @property
    def values(self) -> tuple[NDArray[Any], ...]:
        """The columns."""
        return self.table.values


def columns_of(values: Any, scale: Any, edges: Any) -> PerturbedColumns:
    """Values, scales (or noises) and edges of one column or of several, brought together."""
    table = table_of(values)
    if table.form != "array" and not isinstance(scale, Mapping | Sequence | np.ndarray):
        scale = dict.fromkeys(table.names, scale) if table.form == "names" else [scale] * len(table.names)
    noises = tuple(noise_of(given) for given in table.each(scale, "scale"))
    return PerturbedColumns(table, noises, table.each(edges, "edges"))
