"""Records from any source as codes of the declared space, with the unit of each row; and features of the public rows.

Arrays, dictionaries of columns, frames, files and `sudare.read` records all become `Rows`; an iterator of any of them
is read part by part, so that data larger than memory pass through once. `PublicFeatures` are computed chunk by chunk;
kept where they are small enough, computed again where not. `guarded` refuses public data that are the private ones,
since every public row is published, with a weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.domain.ids import REFUSE, MissingUnit, people
from sudare.errors import InputError, Message, MissingColumnError, ParameterError, did_you_mean
from sudare.privacy import whole
from sudare.reweight.basis import GRID, Basis
from sudare.reweight.space import Codes, Space

if TYPE_CHECKING:
    from sudare.engines import Records


ROWS = 1 << 12
"""Rows at once: a chunk of some hundred features stays in the cache."""
_KEPT = 1 << 25
"""Numbers that are kept: 256 MB."""


@dataclass(frozen=True)
class PublicFeatures:
    """``basis`` at public ``codes`` (rows, attributes); iterating gives (which rows, their features (rows, size))."""

    basis: Basis
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[tuple[slice, Floats]]:
        mixing = self.basis.mixing
        for rows, raw in self._raw():
            yield rows, raw if mixing is None else raw @ mixing.T

    def _raw(self) -> Iterator[tuple[slice, Floats]]:
        """Before they are mixed, which is cheaper done to sums than to rows."""
        if len(self.codes) * self.basis.size <= _KEPT:
            yield from self._kept
        else:
            yield from self._chunks()

    @cached_property
    def _kept(self) -> list[tuple[slice, Floats]]:
        return list(self._chunks())

    def _chunks(self) -> Iterator[tuple[slice, Floats]]:
        for first in range(0, len(self.codes), ROWS):
            rows = slice(first, min(first + ROWS, len(self.codes)))
            yield rows, self.basis.steps(self.codes[rows]) / GRID

    def projected(self, matrix: Floats) -> Floats:
        """Features times ``matrix`` (size, r): (rows, r)."""
        mixed = matrix if self.basis.mixing is None else self.basis.mixing.T @ matrix
        projected = np.empty((len(self), matrix.shape[1]))
        for rows, raw in self._raw():
            np.matmul(raw, mixed, out=projected[rows])
        return projected

    def weighted_mean(self, shares: Floats) -> Floats:
        """The means (size,) of the features under shares (rows,)."""
        mean = np.zeros(self.basis.size)
        for rows, raw in self._raw():
            mean += shares[rows] @ raw
        return mean if self.basis.mixing is None else self.basis.mixing @ mean

    @cached_property
    def moments(self) -> FeatureMoments:
        """Mean and second moments."""
        mean, second = np.zeros(self.basis.size), np.zeros((self.basis.size, self.basis.size))
        for _, raw in self._raw():
            mean += raw.sum(axis=0)
            second += raw.T @ raw
        if (mixing := self.basis.mixing) is not None:
            mean, second = mixing @ mean, mixing @ second @ mixing.T
        return FeatureMoments(mean / len(self), second / len(self), len(self))


@dataclass(frozen=True)
class FeatureMoments:
    """The mean (size,) and the second moments (size, size) of features over public ``rows``."""

    mean: Floats
    second: Floats
    rows: int

    @property
    def covariance(self) -> Floats:
        return self.second - np.outer(self.mean, self.mean)


_ROWS = 1 << 15


@dataclass(frozen=True)
class Rows:
    """``codes`` (rows, attributes); ``person`` (rows,) numbers people from 0, None where rows stand for themselves."""

    codes: Codes
    person: NDArray[np.int64] | None = None

    @property
    def people(self) -> int:
        if self.person is None:
            return len(self.codes)
        return int(self.person.max()) + 1 if len(self.person) else 0

    @property
    def shares(self) -> NDArray[np.float64]:
        """What each row counts in a mean over units (rows,), adding up to one."""
        if self.person is None:
            return np.full(len(self.codes), 1 / max(len(self.codes), 1))
        return np.asarray(1 / (np.bincount(self.person)[self.person] * self.people))

    def total(self, basis: Basis) -> NDArray[np.int64]:
        """The sum of the features over units, in steps; a person counts once, with the mean of their rows, rounded."""
        if self.person is None:
            return basis.total(self.codes)
        order = np.argsort(self.person, kind="stable")
        person, codes = self.person[order], self.codes[order]
        first = np.flatnonzero(np.diff(person, prepend=-1))  # where each person's rows begin
        counts = np.diff(first, append=len(person))
        # Whole people at once: parts of about _ROWS rows, each beginning with the first row of a person.
        cuts = np.unique(np.searchsorted(first, np.arange(0, len(person), _ROWS)))
        total = np.zeros(basis.size, dtype=np.int64)
        for start, end in zip(cuts, [*cuts[1:], len(first)], strict=True):
            if start == end:
                continue
            rows = slice(first[start], first[end] if end < len(first) else len(person))
            sums = np.add.reduceat(basis.steps(codes[rows]), first[start:end] - first[start], axis=0)
            # Sums of whole numbers are exact, and so is the rounding of their quotient, in whatever order rows come.
            total += np.rint(sums / counts[start:end, None]).astype(np.int64).sum(axis=0)
        return total

    def chosen(self, max_rows: int, generator: np.random.Generator) -> Rows:
        """At most ``max_rows`` rows of each person, every choice as likely; rows then stand for themselves."""
        if self.person is None:
            return self
        shuffled = generator.permutation(len(self.person))
        order = shuffled[np.argsort(self.person[shuffled], kind="stable")]
        person = self.person[order]
        first = np.flatnonzero(np.diff(person, prepend=-1))
        place = np.arange(len(person)) - np.repeat(first, np.diff(first, append=len(person)))
        return Rows(self.codes[np.sort(order[place < max_rows])])


def read_rows(data: Any, space: Space, who: Message, unit: Any = None, missing: MissingUnit = REFUSE) -> Rows:
    """The rows of ``data``; ``who`` names it in errors ("private", "public"), ``unit`` is a column or ids (rows,)."""
    columns = columns_of(data, space, who, [unit] if isinstance(unit, str) else [])
    codes = space.encode(columns)
    if unit is None:
        return Rows(codes)
    ids = np.asarray(columns[unit] if isinstance(unit, str) else unit)
    if ids.shape != (len(codes),):
        raise InputError("unit is not one id per row", value=ids.shape, allowed=[(len(codes),)])
    person, kept = people(ids, missing, unit if isinstance(unit, str) else "unit")
    return Rows(codes[kept], person)


def columns_of(data: Any, space: Space, who: Message, also: list[str] | None = None) -> Mapping[str, Any]:
    """The declared columns of ``data`` by name, and the columns ``also``."""
    if isinstance(data, Mapping):
        _require([*space.names, *(also or [])], data, who)
        return {name: np.asarray(column) for name, column in data.items()}
    if isinstance(data, np.ndarray | list):
        return _of_array(data, space, who)
    import narwhals

    from sudare.engines import Records, read  # arrays need no engine

    wanted = [*space.names, *(also or [])]
    frame = narwhals.from_native(data, pass_through=True) if not isinstance(data, str | Path | tuple) else None
    if isinstance(frame, narwhals.DataFrame):
        # Straight from the frame: weights stand in the order of its rows, which an engine need not keep.
        _require(wanted, frame.columns, who)
        return {name: frame[name].to_numpy() for name in frame.columns}
    records = data if isinstance(data, Records) else read(data)
    _require(wanted, records.engine.columns, who, records.shown_names)
    return records.values(wanted, as_text=also or [])


def _require(wanted: Iterable[str], columns: Iterable[str], who: Message, shown: Sequence[str] | None = None) -> None:
    """``shown``: the names that the refusal may repeat, where these are not all."""
    known = list(columns)
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known if shown is None else shown)
            raise MissingColumnError("the {who} data have no such column", value=name, hint=hint, who=who)


def _of_array(data: Any, space: Space, who: Message) -> dict[str, Any]:
    try:
        array = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the {who} array holds values that are not numbers", who=who) from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError("the {who} array is not rows by columns", value=array.ndim, allowed="1 or 2 axes", who=who)
    if array.shape[1] != len(space.attributes):
        raise InputError(
            "the {who} array has another number of columns than are declared",
            value=array.shape[1],
            allowed="{count}, one pair of bounds each",
            who=who,
            count=len(space.attributes),
        )
    return dict(zip(space.names, array.T, strict=True))


def checked_public(space: Space, public: Codes) -> None:
    """Require at least two public rows, and no constant column."""
    if len(public) < 2:
        raise InputError("the public data have too few rows", value=len(public), allowed="at least 2")
    for name, column in zip(space.names, public.T, strict=True):
        if np.all(column == column[0]):
            raise InputError(
                "a column of the public data is constant", value=name, hint="It cannot be weighted: leave it out."
            )


def checked_people(people: int) -> None:
    """At least two private records, where their number is public."""
    if people < 2:
        raise InputError(
            "there are too few private records",
            value=people,
            allowed="at least 2",
            hint="A mean over one record is that record.",
        )


def checked_number(number: Any, default: int) -> int:
    """A number of centres or knots."""
    return default if number is None else whole(number, "number")


def one_of(value: Any, allowed: tuple[str, ...], what: str | Message) -> str:
    """One of the allowed words."""
    if value not in allowed:
        raise ParameterError("unknown {what}", value=value, allowed=allowed, what=what)
    return str(value)


def guarded(private: Any, public: Any, space: Space, unit: Any, seeded: bool, confirmed: bool) -> Any:
    """``private``, after it was compared with ``public``; parts are compared one by one as they are read.

    A ``seeded`` result promises nothing, so that only the same object or file is refused.
    """
    from sudare.engines import refuse_same_file, refuse_shared_rows  # arrays alone need no engine

    refuse_same_file(private, public, "public")
    if seeded:
        return private
    if isinstance(private, Iterator):
        return (guarded(part, public, space, unit, seeded, confirmed) for part in private)
    column = unit if isinstance(unit, str) else None
    own, other = records_of(private, space, Message("private"), column), records_of(public, space, Message("public"))
    refuse_shared_rows(own, other, "public", unit=column, used=space.names, confirmed=confirmed)
    return private


def records_of(data: Any, space: Space, who: Message, unit: str | None = None) -> Records:
    """All columns of ``data`` in the engine: arrays and dictionaries as a table, anything else as it is read."""
    import pyarrow

    from sudare.engines import Records, read

    if isinstance(data, Records):
        return data
    if not isinstance(data, Mapping | np.ndarray | list):
        return read(data)
    columns = columns_of(data, space, who, [unit] if unit else [])
    return read(pyarrow.table({str(name): _plain(column) for name, column in columns.items()}))


def _plain(column: Any) -> Any:
    """An array that Arrow takes: objects of several types as their text."""
    array = np.asarray(column)
    return [None if value is None else str(value) for value in array.tolist()] if array.dtype.kind == "O" else array
