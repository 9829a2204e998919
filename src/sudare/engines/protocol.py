"""What an engine is asked, and what it answers (`verbs.Engine`).

A cell is one whole number here, its *key*: the row-major position in ``domain.shape``, the same in every engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Domain, Place
from sudare.domain.ids import REFUSE, MissingUnit
from sudare.domain.sql import SourceColumn
from sudare.errors import ParameterError

Outside: TypeAlias = Literal["error", "drop", "clamp"]
OUTSIDE: tuple[str, ...] = get_args(Outside)
KEY_BYTES = 16


@dataclass(frozen=True)
class Placement:
    """Which columns place a row in which domain, and what happens to rows that lie outside."""

    domain: Domain
    columns: Mapping[str, tuple[SourceColumn, ...]]
    outside: Outside

    @property
    def from_points(self) -> bool:
        """Whether a place is read from two coordinates, so that a row is a point, and a cell may hold many."""
        attributes = self.domain.attributes.items()
        return any(isinstance(own, Place) and len(self.columns[name]) == 2 for name, own in attributes)


@dataclass(frozen=True)
class RowBound:
    """At most ``max_rows`` rows for each value of ``unit``, chosen by a hash under a secret ``key``.

    The rule is the same in every engine, whatever the order of the rows. Only rows inside the domain are
    considered. The j-th row (j = 1, 2, ...) that a unit has in a cell is written as the text

        key as 32 hexadecimal digits / cell key in decimal / j in decimal / unit as text

    with the four parts joined by "/". The unit comes last and the others hold no "/", so that two rows never
    share a text. A whole-number unit is written in decimal, any other as its text in plain form (`domain.text`).
    The rows of a unit are ordered by the MD5 of the text in UTF-8, as lower-case hexadecimal digits (then by cell
    key and j), and the first ``max_rows`` are kept: under a random key, each set of that size is equally likely.
    """

    unit: SourceColumn
    max_rows: int
    key: bytes
    missing: MissingUnit = REFUSE
    """What happens to rows without a unit, which cannot be bounded and are never counted."""

    def __post_init__(self) -> None:
        given = f"{len(self.key)} bytes" if type(self.key) is bytes else type(self.key).__name__
        if given != f"{KEY_BYTES} bytes":
            raise ParameterError(
                "the key of the hash is not 16 bytes",
                value=given,
                allowed="bytes of length 16",
                hint="Without a key, a fresh random one is drawn.",
            )


class CellCounts(NamedTuple):
    """Keys of distinct cells and how many rows each has: int64 arrays of one length."""

    cell: NDArray[np.int64]
    rows: NDArray[np.int64]


class CountRows(NamedTuple):
    """Rows that are counts already: int64 positions along each axis of ``domain.shape``, possibly outside it
    or `UNKNOWN`, and the counts, unchecked."""

    axes: tuple[NDArray[np.int64], ...]
    value: NDArray[np.int64] | NDArray[np.float64]


class Groups(NamedTuple):
    """Distinct tuples of some columns and how many rows each has, as small whole numbers.

    ``codes`` (int32, tuples x columns) are places in ``labels``, one sorted list of texts for each column, in which
    a missing value is a last None; ``rows`` is int64. Tuples come in the order of their codes.
    """

    codes: NDArray[np.int32]
    labels: tuple[list[str | None], ...]
    rows: NDArray[np.int64]
