"""The exact privacy loss of small releases: every kind of outcome is tried, and what it gives away is a fraction.

A release is a function of its noisy measurements. Given what is measured, the loss of an outcome between two
neighbours, ln P(outcome | one)/P(outcome | other), is a rational number: a sum of |y - x'| - |y - x| over scales of
noise, which are rational. So the implementation itself is run on both neighbours with noisy values that are *chosen*,
and the choices are gone through exhaustively, as a model checker does: a run answers every measurement with the next
choice, and what a method asks after that (which blocks it splits, refines or leaves) follows the values it saw.

Which values are enough? Where the neighbours differ in a measured value, from x to x', its share of the loss is
constant below the smaller and above the larger one, so that all values from one to the other, and one far below and
far above (which pass whatever threshold a method compares with), give every loss that there is. Where they do not
differ, the share is 0, and the value matters only for what is asked next: these take a value far below, their exact
one, or one far above, all of them alike or in turns. Releases of many measurements have a ``thin`` grid (1: without
values far below and turns; 2: also without choices of what does not differ). Within its grid nothing is left out and
nothing is left to chance.

For every outcome three things are demanded: the other neighbour is asked the same questions, gets the same release,
and the loss is within what is promised. That noise has the law that is stated is for the laws of the audit to show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from sudare.arrays import Integers
from sudare.audit.finding import Finding, said
from sudare.audit.moves import loss_of
from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line
from sudare.errors import AccountingError, Message, SudareError
from sudare.noise import AddedLaplace, Refined, Source, Sparse, SparseNoise, Tape, record
from sudare.privacy import Unit
from sudare.tables import (
    Laplace,
    Marginals,
    Method,
    NegativeL2,
    NonnegativeLasso,
    Privelet,
    Simplex,
    TopDown,
    Tree,
    release,
)  # fmt: skip

_FAR = 10**4
"""Beyond all thresholds of a table of a few people."""
_MOST_OUTCOMES = 60_000
Choices = list[tuple[int, int]]
"""Which of how many answers each measurement was given, in order."""


class _Every(dict[str, int]):
    """Secrets (the seed of a rounding, a key of a hash) of a release that is scripted: the same for both neighbours."""

    def __contains__(self, _label: object) -> bool:
        return True

    def __missing__(self, _label: str) -> int:
        return 1


@dataclass
class Script(Tape):
    """A tape that answers by choice: as ``choices`` say, and the first answer where these end.

    ``other`` runs the release of the neighbour up to the measurement that is asked for, and gives its exact values.
    """

    choices: Choices = field(default_factory=list)
    thin: int = 0
    other: Callable[[Tape], Integers] | None = None
    replayed: Tape | None = field(default_factory=lambda: Tape(secrets=_Every()))

    def next_noisy(self, label: str, *question: Any) -> Any:
        """The chosen answer to the next measurement."""
        _, _, law, values, *_ = question
        if not isinstance(law, AddedLaplace | Refined):
            raise AccountingError("only Laplace noise has a bounded loss", value=label)
        assert self.other is not None  # noqa: S101 - given when the script is made
        here, there = _entries(values), self.other(self)
        if here.shape != there.shape:
            raise AccountingError("the replay measures another number of values", value=label)
        place = len(self.measured)
        answers = _answers(here, there, self.thin)
        if place == len(self.choices):
            self.choices.append((0, len(answers)))
        chosen = answers[self.choices[place][0]]
        if isinstance(values, Sparse):
            assert isinstance(law, AddedLaplace)  # noqa: S101 - a refinement is dense
            everywhere = np.sort(values.indices(np.arange(values.size, dtype=np.int64)))
            return _Chosen(Sparse(everywhere, chosen, values.size, values.place), law.scale, Source.from_seed(0))
        return chosen.reshape(values.shape)


class _Chosen(SparseNoise):
    """A noisy vector whose values are given."""

    __slots__ = ()

    def _drawn(self, size: int) -> Integers:
        return np.zeros(size, dtype=np.int64)


class _Reached(Exception):  # noqa: N818 - carries the values that were asked for out of a run; no mistake
    def __init__(self, values: Integers) -> None:
        self.values = values


@dataclass
class _Prefix(Tape):
    """A replay of the first measurements, which stops at the next one."""

    def next_noisy(self, label: str, *question: Any) -> Any:
        assert self.replayed is not None  # noqa: S101 - made with what it replays
        if len(self.measured) == len(self.replayed.measured):
            raise _Reached(_entries(question[3]))
        return super().next_noisy(label, *question)


def _entries(values: Any) -> Integers:
    if not isinstance(values, Sparse):
        return np.asarray(values, dtype=np.int64).ravel()
    everywhere = np.sort(values.indices(np.arange(values.size, dtype=np.int64)))
    dense = np.zeros(values.size, dtype=np.int64)
    dense[np.searchsorted(everywhere, values.index)] = values.value
    return dense


def _answers(here: Integers, there: Integers, thin: int) -> list[Integers]:
    """All noisy values that one measurement may answer: see the module's text."""
    moved = np.flatnonzero(here != there)
    ends = zip(np.minimum(here, there)[moved].tolist(), np.maximum(here, there)[moved].tolist(), strict=True)
    spans = [[*range(low, high + 1), high + _FAR, *(() if thin else (low - _FAR,))] for low, high in ends]
    rest = [here, here + _FAR]
    if not thin:
        rest += [here - _FAR, here + np.where(np.arange(len(here)) % 2, _FAR, -_FAR)]
    if thin > 1 or len(moved) == len(here):
        rest = [here]
    answers = []
    for base, values in product(rest, product(*spans)):
        answer = base.copy()
        answer[moved] = values
        answers.append(answer)
    return answers


@dataclass(frozen=True)
class ExactCase:
    """A method on a small domain: ``pairs`` of counts that differ in one unit, and what `release` is asked for."""

    name: str
    method: Method
    domain: Domain
    pairs: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    rows: int = 1
    total: str = "noisy"
    thin: int = 0

    def run(self, counts: tuple[int, ...]) -> tuple[bytes, Fraction]:
        """The bytes of one release, and what it promises."""
        cells = self.domain.cells(np.arange(self.domain.size, dtype=np.int64))
        value = np.asarray(counts, dtype=np.int64)
        table = CountTable(self.domain, cells[value > 0], value[value > 0], unit=Unit("person", self.rows))
        made = release(table, self.method, epsilon=1, total=self.total, source=Source.system())
        assert made.guarantee.epsilon is not None  # noqa: S101 - asked for in epsilon
        return made.table.index.tobytes() + made.table.count.tobytes(), Fraction(made.guarantee.epsilon)


@dataclass(frozen=True)
class ExactLoss:
    """What the outcomes of one case gave away: the largest loss, what is promised, and a mistake that was met."""

    outcomes: int
    largest: Fraction
    promised: Fraction
    problem: Message | None = None

    @property
    def passed(self) -> bool:
        """Whether no outcome gave away more than is promised, or differed between neighbours."""
        return self.problem is None and self.largest <= self.promised


def exact_loss(case: ExactCase) -> ExactLoss:
    """Go through all outcomes of all pairs of a case."""
    outcomes, largest, promised = 0, Fraction(0), Fraction(0)
    for one, other in case.pairs:
        try:
            for loss, promised in _outcomes(case, one, other):
                outcomes, largest = outcomes + 1, max(largest, abs(loss))
                if outcomes > _MOST_OUTCOMES:
                    return ExactLoss(outcomes, largest, promised, Message("too many outcomes to try them all"))
        except SudareError as mistake:
            return ExactLoss(outcomes + 1, largest, promised, mistake.message)
    return ExactLoss(outcomes, largest, promised)


def _outcomes(case: ExactCase, one: tuple[int, ...], other: tuple[int, ...]) -> Iterator[tuple[Fraction, Fraction]]:
    """The loss of every outcome, and the promise: choices are counted up, the last one first."""
    asked: dict[tuple[int, ...], Integers] = {}
    choices: Choices = []
    while True:

        def reached(tape: Tape, given: Choices = choices) -> Integers:
            key = tuple(choice for choice, _ in given[: len(tape.measured)])
            if key not in asked:
                asked[key] = _next_values(case, other, tape)
            return asked[key]

        script = Script(choices=choices, thin=case.thin, other=reached)
        with record(onto=script):
            first, promised = case.run(one)
        with record(replay=Tape(measured=script.measured, secrets=_Every())) as again:
            second, _ = case.run(other)
        if len(again.measured) != len(script.measured):
            raise AccountingError("the replay measures less than the recording did")
        if first != second:
            raise AccountingError("neighbours with the same noisy values have different releases")
        yield loss_of(script, again), promised
        while choices and choices[-1][0] + 1 == choices[-1][1]:
            choices.pop()
        if not choices:
            return
        choices[-1] = (choices[-1][0] + 1, choices[-1][1])


def _next_values(case: ExactCase, counts: tuple[int, ...], tape: Tape) -> Integers:
    """The exact values of the neighbour's next measurement, after those on ``tape``."""
    prefix = _Prefix(replayed=Tape(measured=list(tape.measured), secrets=_Every()))
    try:
        with record(onto=prefix):
            case.run(counts)
    except _Reached as reached:
        return reached.values
    raise AccountingError("the replay measures less than the recording did")


def _one_more(size: int, rows: int = 1) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Nobody, and some people; one unit more in the first cell, or in the last, with all its rows there or apart."""
    pairs = []
    for counts in ([0] * size, [place % 3 for place in range(size)]):
        for cells in {(0,) * rows, (size - 1,) * rows, tuple(range(rows))}:
            more = list(counts)
            for cell in cells:
                more[cell] += 1
            pairs.append((tuple(counts), tuple(more)))
    return tuple(dict.fromkeys(pairs))


def _moved(size: int) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """One person of the first cell is in the last cell instead, or in the next."""
    counts = tuple(1 if cell in (0, 2) else 0 for cell in range(size))
    return tuple(
        (counts, tuple(count - (cell == 0) + (cell == to) for cell, count in enumerate(counts))) for to in (1, size - 1)
    )


def cases() -> Iterator[ExactCase]:
    """Every method of tables on domains of up to 8 cells."""
    line, pairs = Domain(cell=Line(8)), _one_more(8)
    four, few = Domain(cell=Line(4)), _one_more(4)
    sex = Categories(["f", "m"])
    cross = Domain(sex=sex, home=Categories(["north", "south"]), age=Bins(edges=[0, 15, None]))
    flat: tuple[Method, ...] = (Laplace(), Laplace(cut=2), Simplex(), NegativeL2(), NonnegativeLasso(), Tree())
    for method in flat:
        cut = ", cut" if getattr(method, "cut", None) is not None else ""
        yield ExactCase(f"{method.name}{cut}, 8 cells", method, line, pairs)
    for deep in (Privelet(), TopDown()):
        yield ExactCase(f"{deep.name}, 8 cells", deep, line, pairs, thin=1)
        yield ExactCase(f"{deep.name}, 4 cells", deep, four, few)
    for emphasis in (None, "cells", "areas"):
        halves = Tree(children=2, emphasis=emphasis)
        yield ExactCase(f"tree of halves{f', {emphasis}' if emphasis else ''}, 4 cells", halves, four, few, thin=1)
    margin = Domain(cell=Grid(1, 2), sex=sex)
    yield ExactCase("tree of halves, places by sex", Tree(children=2), margin, few[-1:], thin=1)
    yield ExactCase("tree, places by sex", Tree(), Domain(cell=Grid(2, 2), sex=sex), pairs)
    yield ExactCase("marginals, 4 cells", Marginals(), Domain(sex=sex, age=Bins(edges=[0, 15, None])), few)
    yield ExactCase("marginals, 8 cells", Marginals(), cross, pairs[-1:], thin=2)
    for rowed in (Laplace(), Simplex(), TopDown(), Tree()):
        yield ExactCase(f"{rowed.name}, two rows a person", rowed, four, _one_more(4, 2), rows=2, thin=1)
    for kept in (Simplex(), TopDown(), Tree()):
        yield ExactCase(f"{kept.name}, public total", kept, four, _moved(4), total="public")


def exact_findings() -> Iterator[Finding]:
    """The largest loss of each case beside its promise."""
    for case in cases():
        found = exact_loss(case)
        if found.problem is not None:
            seen = said("seen_exact_problem", problem=found.problem)
        else:
            seen = said("seen_exact", loss=str(found.largest), outcomes=f"{found.outcomes:,}")
        allowed = said("allowed_exact", promised=str(found.promised))
        yield Finding("exact", case.name, found.passed, max(1, found.outcomes), seen, allowed)
