"""Make a new release agree with published totals: it adds up to totals of areas that are known from elsewhere.

Each known total has a standard error: 0 in a register, that of its noise in an earlier release. Where the new release
puts an area at n with variance v, and it is known to be m with variance u, the area gets (n u + m v) / (u + v), the
mean of least variance, which is m itself where u is 0. Its cells are scaled to that, in whole numbers.

Why it costs nothing. The result is a function of the protected table and of constants, which were out before. For every
value of the constants it keeps the guarantee of the table (post-processing), against anybody who knows them; where they
are an earlier release of the same people, the ledger adds both up (adaptive composition). Exact totals are constants
only if they come from elsewhere. A number read off the private records for this purpose would be ``total="public"``,
with which nothing holds for adding or removing somebody. What totals tell of a person that are out anyway is not
covered by any release that is fitted to them, and the guarantee names them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.arrays import Cells, Floats, Integers
from sudare.domain import Domain
from sudare.domain.attribute import Attribute
from sudare.errors import ParameterError, did_you_mean
from sudare.tables.areas import Parts
from sudare.tables.places import attribute_of, by_mapping, positions_in
from sudare.tables.public_totals import scaled

if TYPE_CHECKING:
    from sudare.tables.release import Release

_MOST_AREAS = 1 << 20
_MOST_DRAWN = 1 << 20
_DEVIATION = math.sqrt(math.pi / 2)
"""Of a normal error, its standard deviation over its expected absolute value."""


@dataclass(frozen=True)
class KnownTotals:
    """Totals of disjoint areas: codes of an attribute to areas, and of each area its number and standard error.

    ``origin`` is what a certificate says of them; ``released`` says whether they are those of an earlier release.

    >>> import sudare as sd
    >>> towns = KnownTotals("cell", {0: "east", 1: "east", 2: "west"}, {"east": 30, "west": 12})
    >>> table = sd.CountTable.from_array([11, 14, 9, 120])
    >>> made = sd.release(table, sd.Simplex(), epsilon=1, agree_with=towns, seed=7).table
    >>> made.to_array()[:2].sum(), made.to_array()[2]
    (np.int64(30), np.int64(12))
    """

    attribute: str
    area_of: Mapping[Any, str]
    number: Mapping[str, float]
    error: Mapping[str, float] = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)
    released: bool = False

    def __post_init__(self) -> None:
        for area in self.areas:
            number, error = self.number.get(area), self.error.get(area, 0.0)
            if number is None:
                raise ParameterError("an area has no known total", value=area)
            if not (math.isfinite(error) and error >= 0):
                raise ParameterError("the standard error of a known total is not a number from 0 on", value=error)
            if not math.isfinite(number) or (error == 0 and (number < 0 or number != int(number))):
                raise ParameterError("a public total is not a whole number from 0 on", value=number)

    @property
    def areas(self) -> tuple[str, ...]:
        """The names of the areas, in the order in which ``area_of`` first mentions them."""
        return tuple(dict.fromkeys(self.area_of.values()))

    @property
    def exact(self) -> bool:
        """Whether no total has an error."""
        return not any(self.error.get(area, 0.0) for area in self.areas)

    @classmethod
    def of_release(
        cls,
        earlier: Release,
        domain: Domain,
        attribute: str | None = None,
        area_of: Mapping[Any, str] | None = None,
        *,
        exactly: bool = False,
        origin: Mapping[str, Any] | None = None,
    ) -> KnownTotals:
        """Those of an earlier release of the same people, with the errors of its noise, or none with ``exactly``.

        ``area_of`` says which codes of ``attribute`` (by default the domain's place) make up an area. Without it
        every value of the attribute is one: of the earlier release, or of the new domain where that is the coarser.
        """
        there = earlier.table.domain
        name = attribute_of(domain, attribute)
        if name not in there.attributes:
            raise ParameterError(
                "the earlier release lacks an attribute", value=name, hint=did_you_mean(name, there.attributes)
            )
        listed = _every_value(there.attributes[name], domain.attributes[name]) if area_of is None else area_of
        _refuse_other_extent(name, there, domain, listed)
        bars = earlier.aggregate({name: listed})
        found = [(area, one, two) for area, one, two in zip(bars.area, bars.value, bars.expected_error, strict=True)]
        number = {area: max(float(value), 0.0) for area, value, _ in found if area}
        error = {} if exactly else {area: _DEVIATION * float(expected) for area, _, expected in found if area}
        if exactly:
            number = {area: float(round(value)) for area, value in number.items()}
        return cls(name, dict(listed), number, error, dict(origin or {}), released=True)

    def parts(self, domain: Domain) -> Parts:
        """The areas in a domain; refuses codes that it does not have, and such as overlap."""
        return by_mapping(domain, {self.attribute: self.area_of}).parts[0]

    def kept(self, made: Release, generator: np.random.Generator) -> Cells:
        """The cells of a protected table, so that the areas agree; other cells stay as they are."""
        table = made.table
        parts = self.parts(table.domain)
        value = parts.sums(table.domain, table.index, table.count)
        number, error = self._columns()
        target = number
        if error.any():
            bars = made.aggregate({self.attribute: self.area_of})
            own = (_DEVIATION * bars.expected_error[: len(value)]) ** 2
            both = own + error**2
            target = value + np.divide(own, both, out=np.ones(len(own)), where=both > 0) * (number - value)
        wanted = np.maximum(np.rint(target), 0).astype(np.int64)
        owner = parts.owner(table.domain.coordinates(table.index))
        order = np.argsort(owner, kind="stable")
        ends = np.searchsorted(owner[order], np.arange(len(value) + 1))
        index, count = table.index.copy(), table.count.copy()
        fresh: list[Cells] = []
        for area in np.flatnonzero(wanted != value).tolist():
            rows = order[ends[area] : ends[area + 1]]
            if len(rows):
                count[rows] = scaled(np.asarray(count[rows], dtype=np.int64), int(wanted[area]), generator)
            else:
                fresh.append(self._somewhere(table.domain, self.areas[area], int(wanted[area]), generator))
        index, count = (np.concatenate(columns) for columns in zip((index, count), *fresh, strict=True))
        order = np.argsort(index, kind="stable")
        order = order[count[order] > 0]
        return index[order], count[order]

    def _columns(self) -> tuple[Floats, Floats]:
        """Numbers and standard errors, in the order of the areas."""
        number = np.array([self.number[area] for area in self.areas], dtype=np.float64)
        return number, np.array([self.error.get(area, 0.0) for area in self.areas], dtype=np.float64)

    def _somewhere(self, domain: Domain, area: str, people: int, generator: np.random.Generator) -> Cells:
        """Cells drawn at random for the people of an area in which the release lists nobody."""
        codes = [code for code, own in self.area_of.items() if own == area]
        drawn = min(people, _MOST_DRAWN)
        axes: list[Integers] = []
        for name, attribute in domain.attributes.items():
            if name == self.attribute:
                here = positions_in(attribute, name, codes)
                pick = generator.integers(0, len(here[0]), drawn)
                axes += [axis[pick] for axis in here]
            else:
                axes += list(attribute.cell(generator.integers(0, attribute.size, drawn)))
        index, count = np.unique(domain.index(*axes), return_counts=True)
        return index, scaled(count.astype(np.int64), people, generator)


def _every_value(there: Attribute, here: Attribute) -> dict[Any, str]:
    """Each value of the coarser of two attributes as an area of its own."""
    coarser = min(there, here, key=lambda attribute: attribute.size)
    if coarser.size > _MOST_AREAS:
        raise ParameterError(
            "there are too many areas to agree with",
            value=coarser.size,
            hint="Name larger ones: a list of codes and areas.",
        )
    labels = coarser.labels(*coarser.cell(np.arange(coarser.size))).tolist()
    return {tuple(code) if isinstance(code, list) else code: str(code) for code in labels}


def _refuse_other_extent(name: str, there: Domain, here: Domain, area_of: Mapping[Any, str]) -> None:
    """Refuse areas of which one domain holds only a part: their totals would not be about the same people."""
    if there.attributes[name] == here.attributes[name]:
        return
    sizes = [by_mapping(domain, {name: area_of}).parts[0].cells for domain in (there, here)]
    if len({*(sizes[0] / sizes[1]).round(9).tolist()}) > 1:
        raise ParameterError(
            "an area lies in both domains, but in one of them only in part",
            value=name,
            hint="List areas that both domains hold as a whole.",
        )
