"""Totals of sexes and ages over a map: how far the tree's are off, and how often their 90 % intervals hold.

An invented city of 100,000 people on a 1 km mesh with two sexes and three age groups, or 18; most of the map is thin.
Beside `Tree` as it is: spread evenly where it did not measure (as it did before it learned the mix of categories), and
with a tree of its own for every age group (``order=["age", ...]``). Goals: intervals hold at least 87 %.

Then invented towns, on which nothing was tuned: places are lognormal, few kinds have most people (Zipf), each place has
a mix of its own, and thick places another than thin ones. Beside `Tree` as it is: totals of kinds need not agree with
those measured (`sudare.tables.kind_totals` left out). Intervals of totals of a kind, and of a kind in a rectangle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

import numpy as np

import sudare as sd
from part import run_part
from row import Row
from sudare.tables.kind_totals import KindTotals
from sudare.tables.mix import Mix
from sudare.tables.synthetic import city

EPSILONS = (0.1, 0.5, 2)
AGES: dict[str, list[int | None]] = {"3 age groups": [0, 15, 65, None], "18 age groups": [*range(0, 90, 5), None]}
BANDS = 4
TOWNS = ((32, 32, 19, 60_000), (64, 32, 10, 500_000), (32, 32, 40, 150_000), (48, 48, 6, 30_000))
"""Rows, columns, kinds and people."""


def table(edges: list[int | None], order: Sequence[str] | None) -> sd.CountTable:
    domain = sd.Domain(
        mesh=sd.Mesh("1km", rows=(4240, 4304), columns=(3150, 3214)),
        sex=sd.Categories(["f", "m"]),
        age=sd.Bins(edges=edges),
        order=order,
    )
    columns = {"mesh": ("latitude", "longitude")}
    return sd.read(city(people=100_000)).count(domain, columns=columns, unit="person_id", max_rows=1, outside="drop")


def sets(domain: sd.Domain) -> dict[str, np.ndarray]:
    """Cells of every sex, every age group, and every age group in four bands of the map, from south to north."""
    cells = np.sort(domain.cells(np.arange(domain.size)))
    row, _, sex, age = domain.coordinates(cells)
    band = row * BANDS // domain.shape[0]
    found = {f"sex {number}": cells[sex == number] for number in np.unique(sex)}
    for number in np.unique(age):
        found[f"age {number}"] = cells[age == number]
        found |= {f"age {number}, band {b}": cells[(age == number) & (band == b)] for b in range(BANDS)}
    return found


def evenly() -> AbstractContextManager[object]:
    return patch.object(Mix, "learned", lambda *_: None)


def off(data: sd.CountTable, method: sd.Tree, epsilon: float, runs: int) -> tuple[float, float]:
    """Of all combinations of sex and age: the root mean square error of totals, and the mean error of cells."""
    truth = data.to_array()
    errors = [sd.release(data, method, epsilon=epsilon, seed=run).table.to_array() - truth for run in range(runs)]
    totals = np.array([error.sum(axis=(0, 1)) for error in errors])
    return float(np.sqrt((totals**2).mean())), float(np.mean([np.abs(error).mean() for error in errors]))


def holds(data: sd.CountTable, epsilon: float, runs: int) -> dict[str, float]:
    """The share of intervals that hold the truth: of totals, and of those in bands."""
    areas = sets(data.domain)
    found: dict[str, list[bool]] = {"over the map": [], "in bands of the map": []}
    for run in range(runs):
        made = sd.release(data, sd.Tree(), epsilon=epsilon, seed=100 + run)
        for name, cells in areas.items():
            bars, true = made.error(cells=cells), data.count[np.isin(data.index, cells)].sum()
            found["in bands of the map" if "band" in name else "over the map"].append(
                bars.low[0] <= true <= bars.high[0]
            )
    return {where: float(np.mean(held)) for where, held in found.items()}


def town(rows: int, columns: int, kinds: int, people: int) -> sd.CountTable:
    rng = np.random.default_rng(people)
    place = rng.normal(0.0, 1.8, (rows, columns, 1))
    weight = 1 / np.arange(1, kinds + 1) ** 1.1 * np.exp(place * (1 + 0.3 * rng.normal(size=kinds)))
    weight *= np.exp(rng.normal(size=(rows, columns, kinds)))
    counts = rng.multinomial(people, (weight / weight.sum()).ravel())
    names = [f"kind {number}" for number in range(kinds)]
    domain = sd.Domain(place=sd.Grid(rows, columns), kind=sd.Categories(names))
    cells = domain.cells(np.arange(domain.size))
    order = np.argsort(cells)
    return sd.CountTable(domain, cells[order], counts[order])


def town_holds(data: sd.CountTable, epsilon: float, runs: int) -> dict[str, list[bool]]:
    truth = data.to_array()
    rows, columns, kinds = truth.shape
    index = data.domain.cells(np.arange(data.domain.size)).reshape(truth.shape)
    found: dict[str, list[bool]] = {"totals of a kind": [], "a kind in a rectangle": []}
    for run in range(runs):
        made, rng = sd.release(data, sd.Tree(), epsilon=epsilon, seed=int(data.total) + run), np.random.default_rng(run)
        areas = [("totals of a kind", np.s_[:, :, kind]) for kind in range(kinds)]
        for _ in range(20):
            (top, bottom), (left, right) = (np.sort(rng.choice(side + 1, 2, replace=False)) for side in (rows, columns))
            areas.append(("a kind in a rectangle", np.s_[top:bottom, left:right, rng.integers(kinds)]))
        for what, where in areas:
            bars = made.error(cells=index[where].ravel())
            found[what].append(bool(bars.low[0] <= truth[where].sum() <= bars.high[0]))
    return found


def towns(quick: bool) -> Iterator[Row]:
    """Each town's errors, then how often intervals hold in all of them."""
    runs = 4 if quick else 12
    for epsilon in (0.1, 1):
        held: dict[str, list[bool]] = {}
        for shape in TOWNS:
            data = town(*shape)
            case = f"town of {shape[0]} x {shape[1]} places, {shape[2]} kinds, {shape[3]:,} people, epsilon {epsilon:g}"
            loose = patch.object(KindTotals, "of", lambda *_: None)
            for label, way in (("Tree", nullcontext()), ("totals need not agree", loose)):
                with way:
                    errors = off(data, sd.Tree(), epsilon, runs)
                other = None if label == "Tree" else "Tree"
                yield Row(label, errors[0], "people, RMSE", ratio_to=other, case=f"{case}: totals")
                yield Row(label, errors[1], "people, mean error", ratio_to=other, case=f"{case}: cells")
            for what, own in town_holds(data, epsilon, 1 if quick else 3).items():
                held.setdefault(what, []).extend(own)
        for what, own in held.items():
            note, goals = f"of {len(own)}", {"at_least": 0.87, "at_most": 0.95}
            yield Row(
                what, float(np.mean(own)), "hold", note=note, case=f"towns, epsilon {epsilon:g}: intervals", **goals
            )


def rows(quick: bool) -> Iterator[Row]:
    """The city, then the towns."""
    yield from towns(quick)
    yield from city_rows(quick)


def city_rows(quick: bool) -> Iterator[Row]:
    runs = 3 if quick else 12
    for name, edges in AGES.items():
        plain, first = table(edges, None), table(edges, ["age", "mesh", "sex"])
        for epsilon in EPSILONS[1:2] if quick else EPSILONS:
            case = f"{name}, epsilon {epsilon:g}"
            ways = (
                ("Tree", plain, sd.Tree(), nullcontext()),
                ("spread evenly", plain, sd.Tree(margin=0), evenly()),
                ("age first", first, sd.Tree(), nullcontext()),
            )
            figures: dict[str, list[Row]] = {"totals": [], "cells": []}
            for label, data, method, way in ways:
                with way:
                    errors = off(data, method, epsilon, runs)
                other = None if label == "Tree" else "Tree"
                for what, error, unit in zip(figures, errors, ("people, RMSE", "people, mean error"), strict=True):
                    figures[what].append(Row(label, error, unit, ratio_to=other, case=f"{case}: {what}"))
            yield from (row for what in figures.values() for row in what)
            for where, share in holds(plain, epsilon, runs).items():
                yield Row(f"intervals {where}", share, "hold", case=f"{case}: intervals", at_least=0.87)


if __name__ == "__main__":
    run_part(rows)
