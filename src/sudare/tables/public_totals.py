"""Totals of areas that are public already: given by the caller, exactly kept in what is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Cells, Integers
from sudare.domain import Domain
from sudare.errors import ParameterError
from sudare.measure.simplex import round_rows


@dataclass(frozen=True)
class PublicTotals:
    """Disjoint areas (cells of the domain, each an ascending array) and the number of people each is known to have."""

    areas: tuple[Integers, ...]
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, domain: Domain, given: Sequence[tuple[Any, int]]) -> PublicTotals:
        """Check what the caller gave: ``(cells, number)``, cells as indices or as {attribute: values},
        which means every cell with these values, whatever the other attributes (see `cells_where`).

        >>> from sudare.domain import Line
        >>> PublicTotals.of(Domain(cell=Line(4)), [([0, 1], 30), ({"cell": [3]}, 5)]).numbers
        (30, 5)
        """
        areas, numbers = [], []
        for cells, number in given:
            if type(number) is not int or number < 0:
                raise ParameterError("a public total is not a whole number from 0 on", value=number)
            areas.append(_cells(domain, cells))
            numbers.append(number)
        everything = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *areas]))
        if (everything[1:] == everything[:-1]).any():
            raise ParameterError(
                "two public totals share a cell", hint="Give areas that do not overlap, for instance prefectures."
            )
        return cls(tuple(areas), tuple(numbers))

    def agree_with(self, domain: Domain, total: int) -> None:
        """Refuse what contradicts a public total of everything."""
        known, covered = sum(self.numbers), sum(map(len, self.areas))
        if known > total or (covered == domain.size and known != total):
            raise ParameterError("the public totals contradict the public total of the whole table")

    def keep(
        self, domain: Domain, cells: Cells, generator: np.random.Generator, total: int | None
    ) -> tuple[Integers, Integers]:
        """Released cells scaled area by area; with ``total``, the rest of the table too. Ascending."""
        index, count = cells
        inside = np.zeros(len(index), dtype=np.bool_)
        kept: list[tuple[Integers, Integers]] = []
        for area, number in zip(self.areas, self.numbers, strict=True):
            own = _members(index, area)
            inside |= own
            if own.any():
                kept.append(_listed(index[own], scaled(count[own], number, generator)))
            else:
                kept.append(_listed(area, scaled(np.ones(len(area), dtype=np.int64), number, generator)))
        rest = (index[~inside], count[~inside])
        if total is not None:
            missing = total - sum(self.numbers)
            places, people_there = rest if len(rest[0]) else self._elsewhere(domain, missing, generator)
            rest = _listed(places, scaled(people_there, missing, generator))
        index, count = (np.concatenate(parts) for parts in zip(*kept, rest, strict=True))
        order = np.argsort(index, kind="stable")
        return index[order], count[order]

    def _elsewhere(self, domain: Domain, people: int, generator: np.random.Generator) -> Cells:
        """Some cells outside all areas, for people whom the release placed nowhere there."""
        free = domain.size - sum(map(len, self.areas))
        wanted, found = min(people, free), np.empty(0, dtype=np.int64)
        while len(found) < wanted:
            drawn = domain.cells(generator.integers(0, domain.size, 2 * wanted + 16))
            for area in self.areas:
                drawn = drawn[~_members(drawn, area)]
            found = np.union1d(found, drawn)
        found = np.sort(generator.choice(found, wanted, replace=False)) if wanted else found
        return found, np.ones(len(found), dtype=np.int64)


def _cells(domain: Domain, cells: Any) -> Integers:
    if isinstance(cells, Mapping):
        from sudare.tables.places import cells_where

        return cells_where(domain, cells)
    index = np.asarray(cells, dtype=np.int64)
    if index.ndim != 1 or not domain.contains(index).all():
        raise ParameterError("a public total has cells outside the domain")
    if not len(index):
        raise ParameterError("a public total has no cells")
    return np.unique(index)


def _members(index: Integers, area: Integers) -> NDArray[np.bool_]:
    place = np.minimum(np.searchsorted(area, index), len(area) - 1)
    return np.asarray(area[place] == index)


def scaled(count: Integers, number: int, generator: np.random.Generator) -> Integers:
    """Counts in proportion, in whole numbers that add up to ``number``; no counts stay none."""
    if not len(count):
        return count
    return np.asarray(round_rows(count[None, :] * (number / count.sum()), np.array([number]), generator)[0])


def _listed(index: Integers, count: Integers) -> Cells:
    """Those with people."""
    return index[count > 0], count[count > 0]
