"""A year of daily reports of 100,000 people: errors of the estimate, and what all reports together give away.

People have one of 23 homes and one of 23 work places; on working days they report from work, else from home, and one
in ten moves once in the year. `PermanentUnary` at epsilon 1 for each value and 0.5 for a single report. Somebody who
knows the pattern (who is where at weekends) adds up all reports from home and guesses the home. No guess about an
epsilon-LDP answer among d equally likely values is right more often than e**epsilon/(e**epsilon + d - 1), in the long
run; the twin that draws a new permanent answer whenever a person comes home passes that. A flood of 600 forged reports
on the last day shows what `honest_chance` says of it.

Two more cases. A number of hours that changes every day, by `OneBitMean` and by four buckets of 24: the errors of a
day, and how often all reports of a year tell whether somebody's usual number is above the middle. And a home that is
asked about in many surveys at epsilon 1: how many homes are found from those that a device's ledger lets through, and
from all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from part import run_part
from row import Row
from sudare.collector.device import MOST_A_YEAR
from sudare.local import FORGED, OneBitMean, PermanentUnary, SymmetricUnary, Tally, estimate, honest_chance, repeated

SIZE, EPSILON, FIRST, CHANGES = 23, 1, 0.5, 2


def year(people: int, days: int, redrawn: bool) -> tuple[float, float, float, Tally]:
    """The share of homes that are guessed, the mean L1 error of a day and the values remembered, with the last day."""
    rng = np.random.default_rng(7)
    encoding = PermanentUnary(SIZE, EPSILON, first=FIRST)
    weights = rng.dirichlet(np.full(SIZE, 2.0))
    first_home, work = rng.integers(0, SIZE, people), rng.choice(SIZE, people, p=weights)
    moves = np.where(rng.random(people) < 0.1, rng.integers(1, days, people), days)
    next_home = rng.integers(0, SIZE, people)
    at_home = np.zeros((people, SIZE), dtype=np.int32)
    memory, errors, before, settled = None, [], None, moves == days
    tally = Tally(encoding)
    for day in range(days):
        home = np.where(day < moves, first_home, next_home)
        values = work if day % 7 < 5 else home
        if redrawn and before is not None and (values != before).any():
            memory = None
        memory = encoding.remember(values, memory)
        reports = encoding.report(memory)
        tally = Tally(encoding).add(reports)
        errors.append(np.abs(estimate(tally, "simplex").counts - np.bincount(values, minlength=SIZE)).sum() / people)
        if day % 7 >= 5:
            at_home += np.unpackbits(reports.packed, axis=1, count=SIZE, bitorder="little")
        before = values
    # The best guess for a uniform prior: the value whose bit was set most often.
    guessed = float((at_home.argmax(axis=1) == first_home)[settled].mean())
    assert memory is not None
    return guessed, float(np.mean(errors)), float(memory.values.mean()), tally


def hours(people: int, days: int) -> tuple[float, float, float]:
    """The mean errors of a day's mean (hours) and histogram (L1), and how often a usual number is told right."""
    rng = np.random.default_rng(8)
    mean, cells = OneBitMean(0, 24, EPSILON), PermanentUnary(24, EPSILON, first=EPSILON, buckets=4)
    usual = 24 * rng.beta(2, 2, people)
    bits, memory, answers, of_mean, of_cells = np.zeros(people), None, None, [], []
    for _ in range(days):
        today = np.clip(usual + rng.normal(0, 3, people), 0, 23.999)
        memory, answers = mean.remember(today, memory), cells.remember(today.astype(int), answers)
        report = mean.report(memory)
        of_mean.append(abs(mean.estimate(report).mean - today.mean()))
        counts = estimate(Tally(cells).add(cells.report(answers)), "simplex").counts
        of_cells.append(np.abs(counts - np.bincount(today.astype(int), minlength=24)).sum() / people)
        bits += report.packed[:, 0]
    return float(np.mean(of_mean)), float(np.mean(of_cells)), float(((bits > days / 2) == (usual > 12)).mean())


def asked_in(surveys: int, people: int) -> float:
    """The share of homes that are found from so many surveys which ask about them, each at epsilon 1."""
    rng, encoding = np.random.default_rng(9), SymmetricUnary(SIZE, EPSILON)
    homes, sums = rng.integers(0, SIZE, people), np.zeros((people, SIZE), dtype=np.int32)
    for _ in range(surveys):
        sums += np.unpackbits(encoding.randomize(homes).packed, axis=1, count=SIZE, bitorder="little")
    return float((sums.argmax(axis=1) == homes).mean())


def rows(quick: bool) -> Iterator[Row]:
    """With memory per value, and with the twin."""
    people, days = (5_000, 70) if quick else (100_000, 364)
    most = math.exp(EPSILON) / (math.exp(EPSILON) + SIZE - 1)
    for redrawn in (False, True):
        case = f"{people:,} people, {days} days, " + ("a new answer at each return" if redrawn else "memory per value")
        guessed, error, values, tally = year(people, days, redrawn)
        yield Row("homes guessed from all reports", guessed, "share", case=case)
        yield Row("homes guessed, bound of one answer", most, "share", case=case)
        yield Row("L1 error of a day", error, "share of people", case=case)
        if not redrawn:
            yield Row("values remembered, mean", values, "values", case=case)
            stated = float(repeated(PermanentUnary(SIZE, EPSILON, first=FIRST), days, changes=CHANGES).epsilon or 0)
            yield Row("epsilon stated for all reports", stated, "epsilon", case=case)
            forged = np.zeros((600, 3), dtype=np.uint8)
            forged[:, 0] = 1
            flooded = Tally(tally.encoding).add(forged) + tally
            yield Row("flood of 600 is found", float(honest_chance(flooded) < FORGED), "1 = yes", case=case)
    case = f"{people:,} people, {days} days, a number of hours that changes every day"
    of_mean, of_cells, told = hours(people, days)
    yield Row("error of a day's mean, one bit each", of_mean, "hours", case=case)
    yield Row("L1 error of a day, four buckets of 24", of_cells, "share of people", case=case)
    yield Row("usual number above the middle, told right", told, "share", case=case)
    yield Row("the same, bound of two answers", 1 / (1 + math.exp(-2 * EPSILON)), "share", case=case)
    for surveys, name in ((int(MOST_A_YEAR), "within the device's year"), (52, "without a ledger")):
        found = asked_in(surveys, people)
        yield Row("homes found from surveys", found, "share", case=f"{people:,} people, {surveys} surveys, {name}")


if __name__ == "__main__":
    run_part(rows)
