"""Areas as people write them: mesh codes of any coarseness, categories, and tables from codes to names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.domain import Bins, Domain, Place
from sudare.domain.attribute import Attribute
from sudare.domain.place import Squares
from sudare.domain.regions import Box
from sudare.errors import Message, MissingExtraError, ParameterError, did_you_mean
from sudare.tables.areas import Crossed, Layer, Parts, place_key

_MOST_CELLS = 1 << 26
_MOST_SHOWN = 40


def by_codes(domain: Domain, codes: Any) -> Parts:
    """One area per code of the domain's place, of its own cells or coarser ones."""
    places = _places(domain)
    if len(places) != 1:
        raise ParameterError(
            "codes need a domain with one place", value=len(places), hint="aggregate({{attribute: mapping}}) names it."
        )
    listed = [codes] if isinstance(codes, str | int | np.generic) else list(codes)
    return _parts(domain, places[0], listed, np.arange(len(listed)), np.array(listed, dtype=object))


def by_mapping(domain: Domain, mapping: Any) -> Crossed:
    """Areas from a table of places and names: a mapping, a frame of two columns, or {attribute: either}."""
    if isinstance(mapping, Mapping) and mapping and all(_is_table(value) for value in mapping.values()):
        tables = {attribute_of(domain, name): _pairs(table) for name, table in mapping.items()}
    else:
        tables = {attribute_of(domain): _pairs(mapping)}
    return Crossed(tuple(_named(domain, name, *pairs) for name, pairs in tables.items()), domain.size)


def attribute_of(domain: Domain, name: str | None = None) -> str:
    """The attribute that codes are of: the one named, else the only place, else the only attribute."""
    if name is not None:
        if name not in domain.attributes:
            raise ParameterError(
                "there is no such attribute", value=name, hint=did_you_mean(str(name), domain.attributes)
            )
        return name
    candidates = _places(domain) or list(domain.attributes)
    if len(candidates) != 1:
        raise ParameterError(
            "a mapping does not say which attribute it is about",
            allowed="{{attribute: mapping}} for one of {attributes}",
            attributes=", ".join(domain.attributes),
        )
    return candidates[0]


def cells_where(domain: Domain, where: Mapping[str, Sequence[Any]]) -> Integers:
    """Every cell whose value of each attribute named is among those listed: mesh codes of any coarseness, categories,
    values that fall into bins or their names, positions. Ascending; other attributes are free.

    >>> from sudare.domain import Categories, Line
    >>> cells_where(Domain(place=Line(4), sex=Categories(["f", "m"])), {"sex": ["m"]}).tolist()
    [1, 3, 5, 7]
    """
    names = {attribute_of(domain, name): list(places) for name, places in where.items()}
    found = {name: positions_in(domain.attributes[name], name, places) for name, places in names.items()}
    attributes = domain.attributes.items()
    if prod(len(found[name][0]) if name in found else own.size for name, own in attributes) > _MOST_CELLS:
        raise ParameterError(
            "an area has too many cells to be listed", allowed="at most {most_cells:,}", most_cells=_MOST_CELLS
        )
    positions = [found[name] if name in found else own.cell(np.arange(own.size)) for name, own in attributes]
    picks = np.meshgrid(*(np.arange(len(own[0])) for own in positions), indexing="ij")
    axes = [axis[pick.reshape(-1)] for own, pick in zip(positions, picks, strict=True) for axis in own]
    return np.sort(domain.index(*axes))


def positions_in(attribute: Attribute, name: str, places: list[Any]) -> tuple[Integers, ...]:
    """The distinct positions, an array for each axis, that lie in the listed places."""
    found = []
    for squares in _squares(attribute, name, places):
        for which, *position in zip(squares.which, *squares.position, strict=True):
            ranges = [
                np.arange(max(p * squares.side - start, 0), min((p + 1) * squares.side - start, length))
                for p, start, length in zip(position, squares.origin, attribute.lengths, strict=True)
            ]
            box = np.stack([axis.reshape(-1) for axis in np.meshgrid(*ranges, indexing="ij")])
            box = box[:, attribute.allowed(*box)]
            if not box.shape[1]:
                raise _unknown(attribute, name, places[int(which)])
            found.append(box)
    if not found:
        raise ParameterError("an area lists no value of an attribute", value=name)
    return tuple(np.unique(np.concatenate(found, axis=1), axis=1))


def _named(domain: Domain, name: str, places: list[Any], areas: list[Any]) -> Parts:
    listed = [(place, area) for place, area in zip(places, areas, strict=True) if area is not None and area != ""]
    if not listed:
        raise ParameterError("a mapping names no area", value=name)
    number = {area: position for position, area in enumerate(dict.fromkeys(area for _, area in listed))}
    own = np.array([number[area] for _, area in listed], dtype=np.int64)
    parts = _parts(domain, name, [place for place, _ in listed], own, np.array([str(area) for area in number]))
    _refuse_overlap(parts)
    return parts


def _parts(domain: Domain, name: str, places: list[Any], area: Integers, names: NDArray[Any]) -> Parts:
    """Areas number ``area`` made of ``places`` of the attribute ``name``."""
    if not places:
        raise ParameterError("there are no codes", allowed="at least one")
    attribute = domain.attributes[name]
    axes = tuple(number for number, axis in enumerate(domain.axes) if axis.name == name)
    layers = []
    cells = np.zeros(len(names), dtype=np.int64)
    low, high = np.full((len(names), len(axes)), 2**62), np.full((len(names), len(axes)), -1)
    for squares in _squares(attribute, name, places):
        own = area[squares.which]
        begin = [np.maximum(p * squares.side - o, 0) for p, o in zip(squares.position, squares.origin, strict=True)]
        end = [
            np.minimum((position + 1) * squares.side - start, length)
            for position, start, length in zip(squares.position, squares.origin, attribute.lengths, strict=True)
        ]
        number = _logical_cells(attribute, begin, end)
        if not number.all():
            raise _unknown(attribute, name, places[int(squares.which[number == 0][0])])
        key = place_key(squares.position)
        order = np.argsort(key, kind="stable")
        if (again := np.flatnonzero(np.diff(key[order]) == 0)).size:
            raise ParameterError("a code is listed twice", value=places[int(squares.which[order[again[0] + 1]])])
        layers.append(Layer(axes, squares.origin, squares.side, key[order], own[order]))
        np.add.at(cells, own, number)
        for axis in range(len(axes)):
            np.minimum.at(low[:, axis], own, begin[axis])
            np.maximum.at(high[:, axis], own, end[axis] - 1)
    return Parts(names, tuple(layers), cells, low, high, domain.size // attribute.size)


def _squares(attribute: Attribute, name: str, places: list[Any]) -> list[Squares]:
    """The places by resolution; refuses the first that the attribute does not know."""
    if isinstance(attribute, Bins):
        places = _inside_bins(attribute, places)
    if isinstance(attribute, Place):
        found, read = attribute.squares(places)
        if not read.all():
            raise ParameterError(
                "this is not a code of {name}, nor of a coarser area",
                value=places[int(np.argmin(read))],
                name=str(attribute.describe()),
            )
        return found
    columns = zip(*places, strict=True) if len(attribute.lengths) > 1 else [places]
    position, inside = attribute.locate(*(list(column) for column in columns))
    if not inside.all():
        raise _unknown(attribute, name, places[int(np.argmin(inside))])
    return [Squares(1, (0,) * len(position), np.arange(len(places)), position)]


def _inside_bins(bins: Bins, places: list[Any]) -> list[Any]:
    """A bin may be called by its name in released files ("0-14") as well as by any number in it."""
    first, second = bins.edges[:2]
    below = 0 if second is None else second - 1  # in the first bin, where that has no lower edge
    lowest = [below if first is None else first, *bins.edges[1:-1]]
    named = dict(zip(bins.labels(np.arange(bins.size)).tolist(), lowest, strict=True))
    return [named.get(place, place) if isinstance(place, str) else place for place in places]


def _logical_cells(attribute: Attribute, begin: Sequence[Integers], end: Sequence[Integers]) -> Integers:
    """Logical cells in boxes from ``begin`` to before ``end``, per axis; 0 for what lies outside."""
    number = np.ones(len(begin[0]), dtype=np.int64)
    for low, high in zip(begin, end, strict=True):
        number *= np.maximum(high - low, 0)
    if isinstance(attribute.region, Box):
        return number
    for box in np.flatnonzero(number):
        axes = [np.arange(low[box], high[box]) for low, high in zip(begin, end, strict=True)]
        coordinates = [axis.reshape(-1) for axis in np.meshgrid(*axes, indexing="ij")]
        number[box] = np.count_nonzero(attribute.allowed(*coordinates))
    return number


def _refuse_overlap(parts: Parts) -> None:
    """A code below another that is listed too would be counted twice."""
    for position, coarse in enumerate(parts.layers):
        for fine in parts.layers[position + 1 :]:
            axes: list[Integers] = [np.empty(0, dtype=np.int64)] * (max(fine.axes) + 1)
            for axis, place, start in zip(fine.axes, (fine.key >> 31, fine.key % 2**31), fine.origin, strict=True):
                axes[axis] = place * fine.side - start
            if (coarse.find(axes) >= 0).any():
                raise ParameterError("a mapping names a code and another one inside it", hint="Name each cell once.")


def _places(domain: Domain) -> list[str]:
    return [name for name, attribute in domain.attributes.items() if isinstance(attribute, Place)]


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "column_names")


def _pairs(table: Any) -> tuple[list[Any], list[Any]]:
    """Places and area names: of a mapping, or of the two columns of a frame."""
    if isinstance(table, Mapping):
        return list(table), list(table.values())
    nw = MissingExtraError.load("narwhals", Message("narwhals"), "frames")

    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise ParameterError(
            "a mapping is neither a dictionary nor a frame", value=type(table).__name__, allowed="code -> area name"
        ) from None
    if len(frame.columns) != 2:
        raise ParameterError("a mapping has another number of columns", value=len(frame.columns), allowed="2")
    places, areas = (frame[column].to_list() for column in frame.columns)
    return places, [None if area is None or area != area else area for area in areas]


def _unknown(attribute: Attribute, name: str, place: Any) -> ParameterError:
    """What to say of a code that the attribute does not have: its declared codes too, where they are few."""
    few = attribute.size <= _MOST_SHOWN
    labels = attribute.labels(*attribute.cell(np.arange(attribute.size))).tolist() if few else []
    return ParameterError(
        "a code is not in the domain of {name}",
        value=place,
        allowed=labels or None,
        hint=did_you_mean(str(place), map(str, labels)),
        name=name,
    )
