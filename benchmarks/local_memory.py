"""Reports of 1,024 values from 1e4 to 1e7 people: how time and memory of tallying and of EM grow with them.

Goal: ten million in under 4 GB. Reports are made and tallied in chunks, as a collector sees them; EM keeps them packed,
one bit per value, and stops at a million here (ten million take 2.9 GB). Times include making the reports.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from memory import peak_megabytes
from part import run_part
from row import Row
from sudare.local import Reports, SymmetricUnary, Tally, estimate

SIZE, EPSILON, CHUNK, GOAL = 1024, 1.0, 250_000, 4000.0
USERS = (10**4, 10**5, 10**6, 10**7)
WITH_EM = 10**6


def chunks(reports: int, true: np.ndarray) -> Iterator[Reports]:
    """Reports of people with the shape of a city; ``true`` counts them."""
    generator = np.random.default_rng(1)
    share = 1 / np.arange(1, SIZE + 1) ** 0.8
    for start in range(0, reports, CHUNK):
        values = generator.choice(SIZE, min(CHUNK, reports - start), p=share / share.sum())
        true += np.bincount(values, minlength=SIZE)
        yield SymmetricUnary(size=SIZE, epsilon=EPSILON).randomize(values)


def measured(users: int, method: str) -> Iterator[Row]:
    true, before = np.zeros(SIZE, dtype=np.int64), peak_megabytes() or 0.0
    start = time.process_time()
    if method == "em":
        made = estimate(chunks(users, true), "em")
    else:
        tally = Tally(SymmetricUnary(size=SIZE, epsilon=EPSILON))
        for part in chunks(users, true):
            tally.add(part)
        made = estimate(tally)
    seconds, peak = time.process_time() - start, peak_megabytes()
    error = float(np.abs(made.counts - true).sum() / true.sum())
    case = f"{users:,} reports of {SIZE:,} values"
    yield Row(f"{method}, seconds", seconds, "CPU s", case=case, series=method, at=users)
    yield Row(f"{method}, L1 error of shares", error, "L1", case=case)
    if peak is not None and (peak > before or users == max(USERS)):  # else it is the peak of what ran before
        goal = {"at_most": GOAL} if users == max(USERS) else {}
        yield Row(f"{method}, peak memory", peak, "MB", case=case, series=f"{method}, memory", at=users, **goal)


def rows(quick: bool) -> Iterator[Row]:
    """By ascending number of people, so that the peak is that of the largest so far; tallies first."""
    users = USERS[:2] if quick else USERS
    SymmetricUnary(size=SIZE, epsilon=EPSILON).randomize(np.zeros(8, dtype=np.int64))  # tables are built once
    for number in users:
        yield from measured(number, "simplex")
    for number in users:
        if number <= WITH_EM:
            yield from measured(number, "em")


if __name__ == "__main__":
    run_part(rows)
