"""What the private table may be like, from public things alone: the tables that forecasts and rehearsals run on.

In this order: a public table that the recipe names (the last census, an earlier release, a neighbouring city); else
people invented after the rough facts that the recipe declares. What is not declared is not guessed: it is taken once
as it is in a sparse, once in a middling and once in a dense table, and what differs between the three is a range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.domain import CountTable, Domain, Place
from sudare.domain.attribute import Attribute
from sudare.errors import InputError
from sudare.language.messages import PageMessage
from sudare.tables.agreement_files import CERTIFICATE, opened_table
from sudare.tables.synthetic import synthetic_table

if TYPE_CHECKING:
    from sudare.tables.kind import TableKind

_SEED = 1
_DRAWS, _FEW_CELLS = 4, 1 << 13
_CLUSTERING = 3.0
"""Populated places lie closer together than in an invented city: set on the tuning tables of benchmarks/held_out.py."""
_LOCAL = 0.7
"""By how much the odds of categories differ from place to place."""


@dataclass(frozen=True)
class Facts:
    """Rough facts about a table: people for each populated place, the share of such places, how uneven."""

    each: float
    populated: float
    concentration: str


RANGE = {
    "sparse": Facts(3, 0.003, "high"),
    "middling": Facts(100, 0.2, "medium"),
    "dense": Facts(1000, 0.8, "low"),
}
"""What stands for a fact that nobody declared. Real tables of people by place lie between the two ends:
benchmarks/forecast.py."""
MOST_CELLS = 1 << 18
"""Populated cells of invented people where their share is not declared: a larger domain is taken as thinner."""


@dataclass(frozen=True)
class Scenario:
    """A table that the private one may be like: its ``name`` in a range, and what it ``basis`` is."""

    name: str
    truth: CountTable
    basis: PageMessage
    others: tuple[CountTable, ...] = ()
    """Further tables after the same facts, where few places make one of them a matter of luck."""


def scenarios(job: TableKind) -> list[Scenario]:
    """One, where a public table is named or all facts are declared; else three, from sparse to dense."""
    choice = job.recipe.rehearsal
    if choice.path is not None:
        truth = _scaled(public_table(job), choice.people)
        return [Scenario("public", _of_unit(job, truth), PageMessage("basis.public_table", path=choice.path))]
    declared = {"people": choice.people, "populated": choice.populated, "concentration": choice.concentration}
    if None not in declared.values():
        facts = Facts(0, choice.populated or 0, choice.concentration or "")
        truth, basis = _invented(job, facts)
        more = range(1, _DRAWS if len(truth) <= _FEW_CELLS else 1)
        others = tuple(_invented(job, facts, _SEED + draw)[0] for draw in more)
        return [Scenario("declared", truth, PageMessage("basis.declared", people=_people(truth), facts=basis), others)]
    made = []
    for name, usual in RANGE.items():
        own = Facts(usual.each, choice.populated or usual.populated, choice.concentration or usual.concentration)
        truth, basis = _invented(job, own)
        made.append(Scenario(name, truth, PageMessage(f"basis.{name}", people=_people(truth), facts=basis)))
    return made


def middle(found: Sequence[Scenario]) -> Scenario:
    """The one that is shown where only one can be."""
    return found[len(found) // 2]


def _invented(job: TableKind, facts: Facts, seed: int = _SEED) -> tuple[CountTable, PageMessage]:
    """People over the places of the domain, dealt out to its categories; and the facts in words."""
    choice, domain = job.recipe.rehearsal, job.domain
    spatial = {name: attribute for name, attribute in domain.attributes.items() if attribute.spatial}
    places = Domain(None, **spatial) if spatial else domain
    share = facts.populated
    if choice.populated is None:
        others = domain.size // places.size
        share = min(share, max(1.0, MOST_CELLS / others) / places.size)
    people = choice.people or max(1, round(facts.each * share * places.size))
    table = synthetic_table(places, people, seed, share, facts.concentration, _CLUSTERING)
    words = PageMessage(
        "basis.facts", populated=f"{100 * len(table) / places.size:.2g}", concentration=_word(facts.concentration)
    )
    return _of_unit(job, _dealt(table, domain, seed) if spatial else table), words


def _people(table: CountTable) -> PageMessage:
    return PageMessage("basis.people", people=int(table.total))


def _word(concentration: str) -> PageMessage:
    return PageMessage(f"basis.concentration.{concentration}")


def _of_unit(job: TableKind, table: CountTable) -> CountTable:
    unit = job.recipe.data.protected_unit()
    return CountTable(table.domain, table.index, table.count, unit, bounded=True)


def _dealt(places: CountTable, domain: Domain, seed: int) -> CountTable:
    """The people of each place dealt out over all other attributes, in mixes that differ a little by place."""
    generator = np.random.default_rng(seed)
    found: dict[tuple[str, int], Integers] = {}
    for axis, column in zip(places.domain.axes, places.domain.coordinates(places.index), strict=True):
        found[axis.name, axis.position] = column
    count = places.count.astype(np.int64)
    for name, attribute in domain.attributes.items():
        if attribute.spatial:
            continue
        for number, length in enumerate(attribute.lengths):
            row, value, count = _split(count, generator.gamma(1.5, size=length), generator)
            found = {key: column[row] for key, column in found.items()}
            found[name, number] = value
    index = domain.index(*(found[axis.name, axis.position] for axis in domain.axes))
    order = np.argsort(index, kind="stable")
    return CountTable(domain, index[order], count[order])


def _split(
    count: Integers, weights: NDArray[np.float64], generator: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    """Each row's people by category, halving the categories until one is left: row, category and people.

    The work follows what is populated: halves without people are dropped.
    """
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    row, low, high = np.arange(len(count)), np.zeros_like(count), np.full_like(count, len(weights))
    while (wide := high - low > 1).any():
        half = (low + high) // 2
        share = (sums[half] - sums[low]) / (sums[high] - sums[low])
        odds = np.exp(_LOCAL * generator.standard_normal(len(count))) * share
        share = np.where(wide, odds / (odds + 1 - share), 1.0)
        first = generator.binomial(count, share)
        parts = ((row, low, np.where(wide, half, high), first), (row, half, high, count - first))
        row, low, high, count = (np.concatenate(pair) for pair in zip(*parts, strict=True))
        row, low, high, count = (column[count > 0] for column in (row, low, high, count))
    return row, low, count


def public_table(job: TableKind) -> CountTable:
    """The table that ``rehearsal.path`` names, over the recipe's own domain."""
    from sudare.engines import read

    choice, path = job.recipe.rehearsal, job.path(job.recipe.rehearsal.path or "")
    if path.is_dir() and (path / CERTIFICATE).is_file():
        return onto(released_table(path), job.domain)
    if choice.counts is None:
        raise InputError(
            "a public table needs counts: the name of its column of counts",
            value=str(choice.path),
            hint="The folder of an earlier release, which has a certificate, needs none.",
        )
    parts = {**job.recipe.domain, **(choice.domain or {})}
    domain = job.domain
    if choice.domain:
        domain = Domain(**{name: part.beside(job.folder).build() for name, part in parts.items()})
    columns = {name: part.source for name, part in parts.items() if part.source is not None}
    long = None if choice.long is None else choice.long.build(choice.counts)
    records = read(path, encoding=choice.encoding, delimiter=choice.delimiter, long=long)
    return onto(records.table(domain, columns=columns, count=choice.counts, outside="drop"), job.domain)


def released_table(folder: Path) -> CountTable:
    """The table of an earlier release, as whole numbers of people."""
    found = opened_table(folder / CERTIFICATE)[0].table
    count = np.rint(found.count).astype(np.int64)
    return CountTable(found.domain, found.index[count > 0], count[count > 0])


def onto(table: CountTable, domain: Domain) -> CountTable:
    """A public table over the recipe's domain: what is in both stays, a place elsewhere is laid upon the domain's own.

    Attributes that the domain does not have are summed over. People of values that it does not have are left out.

    >>> from sudare.domain import Categories, Mesh
    >>> there, here = (Domain(mesh=Mesh("1km", codes=[code])) for code in ("5340", "5339"))
    >>> len(onto(CountTable(there, there.cells([0, 5]), [3, 4]), here))
    2
    """
    if table.domain == domain:
        return table
    coordinates = table.domain.coordinates(table.index)
    own: dict[str, list[Integers]] = {}
    for axis, column in zip(table.domain.axes, coordinates, strict=True):
        own.setdefault(axis.name, []).append(column)
    kept = np.ones(len(table), dtype=np.bool_)
    moved: dict[str, list[Integers]] = {}
    for name, attribute in domain.attributes.items():
        if name not in own:
            raise InputError("the public table lacks an attribute of the domain", value=name)
        moved[name], inside = _moved(table.domain.attributes[name], attribute, own[name])
        kept &= inside
    position = dict.fromkeys(domain.attributes, 0)
    columns = []
    for axis in domain.axes:
        columns.append(moved[axis.name][position[axis.name]][kept])
        position[axis.name] += 1
    index = domain.index(*columns)
    order = np.argsort(index, kind="stable")
    index, count = index[order], table.count[kept][order]
    first = np.flatnonzero(np.diff(index, prepend=-1))
    sums = np.add.reduceat(count, first) if len(first) else count
    return CountTable(domain, index[first], sums.astype(np.int64))


def _moved(from_: Attribute, to: Attribute, columns: list[Integers]) -> tuple[list[Integers], NDArray[np.bool_]]:
    """Coordinates in another attribute, and which of them it has."""
    if from_ == to:
        return columns, np.ones(len(columns[0]), dtype=np.bool_)
    if len(from_.lengths) != len(to.lengths):
        raise InputError("the public table has another kind of attribute than the domain", value=type(from_).__name__)
    if isinstance(from_, Place) and type(from_) is type(to) and len(columns[0]):
        found, inside = to.locate(from_.labels(*columns))
        if inside.any():
            return list(found), inside
    if not from_.spatial:
        place = {label: at for at, label in enumerate(to.labels(np.arange(to.size)).tolist())}
        known = np.array([place.get(label, -1) for label in from_.labels(np.arange(from_.size)).tolist()])
        return [np.maximum(known[columns[0]], 0)], known[columns[0]] >= 0
    # Elsewhere: corner upon corner.
    inside = np.all([column < length for column, length in zip(columns, to.lengths, strict=True)], axis=0)
    clipped = [np.where(inside, column, 0) for column in columns]
    return clipped, inside & to.allowed(*clipped)


def _scaled(table: CountTable, people: int | None) -> CountTable:
    """As if so many people had been in it: thinned at random, or multiplied and rounded at random."""
    if people is None or not table.total or people == table.total:
        return table
    factor, generator = people / float(table.total), np.random.default_rng(_SEED)
    count = table.count.astype(np.int64)
    more = math.floor(factor)
    scaled = more * count + generator.binomial(count, factor - more)
    return CountTable(table.domain, table.index[scaled > 0], scaled[scaled > 0])
