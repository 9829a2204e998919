"""`ask`: one number of a released table, with its interval."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sudare.domain import Bins, Domain
from sudare.errors import ParameterError, did_you_mean
from sudare.tables import Release

_RANGE = re.compile(r"(-?[0-9.]+)(?:\s*(?:-|to)\s*(-?[0-9.]+)|(\+))")
_UNDER = re.compile(r"under\s*(-?[0-9.]+)")


@dataclass(frozen=True)
class Answer:
    """A sum of released cells: its value, where the truth lies with probability ``level``, and the expected error."""

    where: dict[str, list[Any]]
    value: int | float
    low: float
    high: float
    expected_error: float
    level: float

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def ask(release: Release, where: Mapping[str, Any] | None = None, *, level: float = 0.9, **also: Any) -> Answer:
    """How many are counted where all conditions hold: attribute to a value or a list of values; without any, the total.

    Values are as in the released files: mesh codes of the table's level or coarser, categories, names of bins. A range
    of numbers may join several bins ("65+", "0-14", "under 20") if it begins and ends where bins do.

    >>> import sudare as sd
    >>> domain = sd.Domain(sex=sd.Categories(["f", "m"]), age=sd.Bins(0, 100, step=5))
    >>> table = sd.CountTable(domain, domain.cells(range(40)), range(40), sd.Unit("person"))
    >>> answer = sd.reading.ask(sd.release(table, sd.Laplace(), epsilon=10, seed=1), sex="m", age="65+")
    >>> answer.value, answer.low, answer.high
    (252, 252.0, 252.0)
    """
    if not isinstance(release, Release):
        raise ParameterError(
            "only tables can be asked by conditions",
            value=type(release).__name__,
            hint="Weights have answer(), perturbed records reconstruct(), a sample its records.",
        )
    conditions = {**(where or {}), **also}
    domain = release.table.domain
    for name in conditions:
        if name not in domain.attributes:
            raise ParameterError(
                "there is no such attribute",
                value=name,
                allowed=list(domain.attributes),
                hint=did_you_mean(str(name), domain.attributes),
            )
    places = {name: _values(domain, name, asked) for name, asked in conditions.items()}
    if places:
        mapping = {name: dict.fromkeys(values, "asked") for name, values in places.items()}
        bars: Any = release.aggregate(mapping, level)
    else:
        bars = release.error(block_level=domain.bits, level=level)
        bars = bars if len(bars.value) else bars.elsewhere
    value, low, high, error = (column[0].item() for column in (bars.value, bars.low, bars.high, bars.expected_error))
    return Answer(places, value, low, high, error, level)


def _values(domain: Domain, name: str, asked: Any) -> list[Any]:
    """The values of an attribute that a condition means."""
    listed = list(asked) if isinstance(asked, Sequence | np.ndarray) and not isinstance(asked, str) else [asked]
    attribute = domain.attributes[name]
    if not isinstance(attribute, Bins):
        return listed
    return [label for value in listed for label in _bins(attribute, name, value)]


def _bins(bins: Bins, name: str, asked: Any) -> list[Any]:
    labels = bins.labels(np.arange(bins.size)).tolist()
    if asked in labels or not isinstance(asked, str):
        return [asked]
    if found := _RANGE.fullmatch(asked.strip()):
        low, high = float(found[1]), None if found[3] else float(found[2])
    elif found := _UNDER.fullmatch(asked.strip()):
        low, high = -np.inf, float(found[1])
    else:
        raise _no_bins(name, asked, labels)
    whole = all(edge is None or isinstance(edge, int) for edge in bins.edges)
    end = np.inf if high is None else high + (1 if whole and found.re is _RANGE else 0)
    starts = [-np.inf if edge is None else edge for edge in bins.edges[:-1]]
    stops = [np.inf if edge is None else edge for edge in bins.edges[1:]]
    begins = low if low in starts else min(starts) if low == -np.inf else None
    ends = end if end in stops else max(stops) if end == np.inf else None
    chosen = [
        label
        for label, start, stop in zip(labels, starts, stops, strict=True)
        if begins is not None and ends is not None and begins <= start and stop <= ends
    ]
    if not chosen:
        raise _no_bins(name, asked, labels)
    return chosen


def _no_bins(name: str, asked: str, labels: list[str]) -> ParameterError:
    return ParameterError("{name} has no bins that make up this range", value=asked, allowed=labels[:40], name=name)
