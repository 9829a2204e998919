"""Where hierarchies come from: nested dicts, rows or CSV files with the leaf first, and intervals of numbers."""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from sudare.domain.text import number as read_number
from sudare.errors import InputError, MissingFileError, ParameterError
from sudare.privacy import exact

ROOT = "*"
MOST_LEAVES = 2**20


@dataclass
class Branch:
    """A node with what is under it, while a tree is being built."""

    label: str | None
    children: list[Branch] = field(default_factory=list)


def branch_of_nested(tree: Mapping[Any, Any] | Sequence[Any]) -> Branch:
    """The root of nested dicts that end in lists of leaves or in None; ``"*"`` where several stand at the top."""
    tops = _under(tree)
    if not tops:
        raise ParameterError("a hierarchy has no leaf", allowed="nested dicts that end in lists of leaves")
    return tops[0] if len(tops) == 1 and isinstance(tree, Mapping) else Branch(ROOT, tops)


def _under(tree: Any) -> list[Branch]:
    if tree is None:
        return []
    if isinstance(tree, Mapping):
        return [Branch(label_of(label), _under(under)) for label, under in tree.items()]
    if isinstance(tree, list | tuple | set | frozenset | range):
        return [Branch(label_of(leaf)) for leaf in (sorted(tree) if isinstance(tree, set | frozenset) else tree)]
    raise ParameterError(
        "a hierarchy holds something that is neither a dict, a list of leaves, nor None", value=type(tree).__name__
    )


def branch_of_rows(rows: Sequence[Sequence[Any]]) -> Branch:
    """The root of rows that go from a leaf up to the root.

    Equal labels in one column are one node, which must lead to one label in the next column; the last column has one
    label alone.
    """
    if not rows or not rows[0]:
        raise ParameterError("a hierarchy has no leaf", allowed="one row per leaf, leaf first")
    levels = len(rows[0])
    nodes: list[dict[str, Branch]] = [{} for _ in range(levels)]
    above: list[dict[str, str]] = [{} for _ in range(levels)]
    joined: list[set[str]] = [set() for _ in range(levels)]
    for place, row in enumerate(rows, start=1):
        if len(row) != levels:
            raise ParameterError(
                "row {place} of a hierarchy has another number of levels than the first", value=len(row), place=place
            )
        labels = [label_of(label) for label in row]
        if labels[0] in nodes[0]:
            raise ParameterError("a hierarchy has the same leaf twice", value=labels[0])
        for level, (label, parent) in enumerate(pairwise(labels)):
            known = above[level].setdefault(label, parent)
            if known != parent:
                raise ParameterError(
                    "a value of level {level} of a hierarchy leads to two groups",
                    value=label,
                    allowed=[known],
                    level=level,
                )
            group = nodes[level + 1].setdefault(parent, Branch(parent))
            if label not in joined[level]:
                joined[level].add(label)
                group.children.append(nodes[level].setdefault(label, Branch(label)))
        nodes[-1].setdefault(labels[-1], Branch(labels[-1]))
    if len(nodes[-1]) > 1:
        raise ParameterError(
            "the leaves of a hierarchy do not reach one root",
            value=sorted(nodes[-1])[:4],
            hint="End every row with the same label, such as {root!r}.",
            root=ROOT,
        )
    return next(iter(nodes[-1].values()))


def branch_of_csv(path: Path, delimiter: str) -> Branch:
    """The root of a CSV file without a header, leaf first."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [[text.strip() for text in row] for row in csv.reader(file, delimiter=delimiter) if row]
    except FileNotFoundError:
        raise MissingFileError("there is no such hierarchy file", value=path) from None
    except (OSError, UnicodeError, csv.Error, TypeError):
        raise InputError("the hierarchy file cannot be read", value=path, allowed="CSV in UTF-8, leaf first") from None
    if rows and len(rows[0]) == 1:
        raise InputError(
            "the hierarchy file has one column only",
            value=path,
            hint="Give delimiter=, which is {delimiter!r} here.",
            delimiter=delimiter,
        )
    return branch_of_rows(rows)


def branch_of_edges(levels: Sequence[Sequence[float]]) -> Branch:
    """The root of nested intervals: each level's edges, finest first."""
    if not levels:
        raise ParameterError("a hierarchy has no leaf", allowed="a list of edges per level, finest first")
    for edges in levels:
        if len(edges) < 2 or not all(math.isfinite(a) and a < b < math.inf for a, b in pairwise(edges)):
            raise ParameterError("edges are not finite numbers in rising order", value=list(edges))
    for fine, coarse in pairwise(levels):
        if not set(coarse) <= set(fine) or (coarse[0], coarse[-1]) != (fine[0], fine[-1]):
            raise ParameterError(
                "edges of a level are not among those of the level below it, with the same ends", value=list(coarse)
            )
    below = [Branch(interval_label(a, b)) for a, b in pairwise(levels[0])]
    for fine, coarse in pairwise(levels):
        starts = [bisect_right(coarse, start) - 1 for start in fine[:-1]]
        groups = [Branch(interval_label(a, b)) for a, b in pairwise(coarse)]
        for child, group in zip(below, starts, strict=True):
            groups[group].children.append(child)
        below = groups
    return below[0] if len(below) == 1 and len(levels) > 1 else Branch(ROOT, below)


def edges_of_widths(low: float, high: float, widths: Sequence[float], origin: float) -> list[list[float]]:
    """The edges of each width between ``low`` and ``high``, counted from ``origin``."""
    if not widths or min(widths) <= 0 or not all(math.isfinite(width) for width in widths):
        raise ParameterError("widths are not positive numbers", value=list(widths))
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError("an interval has no width", value=(low, high), allowed="low < high")
    if any((exact(wide) / exact(narrow)).denominator != 1 for narrow, wide in pairwise(widths)):
        raise ParameterError("a width is not a multiple of the one before", value=list(widths))
    start, stop, zero = exact(low), exact(high), exact(origin)
    if (stop - start) / exact(widths[0]) > MOST_LEAVES:
        raise ParameterError(
            "the widths cut the interval into too many leaves", value=list(widths), allowed="at most 2**20 leaves"
        )
    levels = []
    for step in map(exact, widths):
        first, last = math.floor((start - zero) / step) + 1, math.ceil((stop - zero) / step) - 1
        # As rationals, so that edges of different levels are the same doubles.
        inner = [float(zero + step * place) for place in range(first, last + 1)]
        levels.append([float(low), *inner, float(high)])
    return levels


def interval_label(low: float, high: float) -> str:
    """An interval low <= x < high for people: of whole numbers "20-29" or "20", else "[0.5, 1)"."""
    if float(low).is_integer() and float(high).is_integer():
        first, last = int(low), int(high) - 1
        return str(first) if first == last else f"{first}-{last}"
    return f"[{_written(low)}, {_written(high)})"


def _written(edge: float) -> str:
    """All digits that tell an edge from others."""
    return str(int(edge)) if float(edge).is_integer() else repr(float(edge))


def label_of(value: Any) -> str:
    """A value as text, whole numbers without a fraction: what an engine writes for it."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise ParameterError("a hierarchy holds a missing value", hint='Give missing="value" to give them a leaf.')
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if not text:
        raise ParameterError("a hierarchy holds an empty label")
    return text


def number(text: str | None) -> float | None:
    """The finite number that a text is, or None."""
    said = read_number(text)
    return said if said is not None and math.isfinite(said) else None
