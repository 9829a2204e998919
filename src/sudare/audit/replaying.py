"""Record and replay: the release of a neighbour with the recorded noise must not differ in a single byte.

A release is a function of its noisy measurements alone, if everything after them is post-processing. So when the
measurements are frozen, a neighbour's release must be the same; where it is not, something private went past the
noise. And the exact measurements of the two may lie apart only as far as was declared, since the noise is scaled to
that. Both together are what differential privacy of the release rests on; the laws of the noise are the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.audit.finding import Finding
from sudare.errors import AccountingError, SudareError
from sudare.noise import Measured, Source, Sparse, Tape, record

Run = Callable[[Any, Source], dict[str, bytes]]
"""A release of some data with some noise: what each published thing is called, to its bytes."""


@dataclass(frozen=True)
class Neighbour:
    """Data that differ from the recorded ones in one unit.

    ``factor`` is by how much more than the declared sensitivity the exact values may move: 2 where a record is
    replaced and sensitivity is that of adding one. ``rows`` is set for releases that randomise every record on its
    own: so many records may have changed, each within the sensitivity where that is above 1.
    """

    name: str
    data: Any
    factor: int = 1
    rows: int | None = None


@dataclass(frozen=True)
class Replayed:
    """What the replay of one neighbour showed. ``ratio``: largest distance of exact values, of what is allowed."""

    name: str
    ratio: float
    problem: str | None

    @property
    def passed(self) -> bool:
        """Whether the neighbour gave the same bytes and stayed within the sensitivity."""
        return self.problem is None and self.ratio <= 1


def distance(one: Measured, other: Measured) -> Fraction:
    """How far apart two exact measurements are: squared L2 for a budget of rho, L1 else; as an exact number.

    >>> from sudare.privacy import Budget
    >>> def measured(*values):
    ...     return Measured("x", np.array(values), Fraction(1), Budget(epsilon=Fraction(1)), np.array(values))
    >>> distance(measured(1, 5), measured(2, 3))
    Fraction(3, 1)
    """
    change = _difference(one.exact, other.exact)
    if one.budget.rho is not None:
        return Fraction(sum(step * step for step in change))
    return Fraction(sum(map(abs, change)))


def _difference(one: Any, other: Any) -> list[int]:
    """The entries where two measurements differ; whole numbers of any size."""
    if isinstance(one, Sparse) and isinstance(other, Sparse):
        before = dict(zip(one.index.tolist(), one.value.tolist(), strict=True))
        after = dict(zip(other.index.tolist(), other.value.tolist(), strict=True))
        return [after.get(key, 0) - before.get(key, 0) for key in before.keys() | after.keys()]
    first, second = np.asarray(one), np.asarray(other)
    if first.shape != second.shape:
        raise AccountingError("the replay measures another number of values")
    moved = np.flatnonzero(first.ravel() != second.ravel())
    return [int(second.flat[place]) - int(first.flat[place]) for place in moved]


def _ratio(one: Measured, other: Measured, neighbour: Neighbour) -> float:
    """The distance of one measurement, of what is allowed."""
    bound = one.sensitivity * neighbour.factor
    if neighbour.rows is None:
        far = distance(one, other)
        return float(far / bound**2) ** 0.5 if one.budget.rho is not None else float(far / bound)
    change = _difference(one.exact, other.exact)
    farthest = max(map(abs, change), default=0) if one.sensitivity > 1 else 0
    return max(len(change) / neighbour.rows, float(farthest / one.sensitivity))


def replay(run: Run, data: Any, neighbours: Iterable[Neighbour], source: Source | None = None) -> list[Replayed]:
    """Record the release of ``data`` once, then replay it for each neighbour."""
    with record() as tape:
        released = run(data, source or Source.system())
    return [_replayed(run, released, tape, neighbour) for neighbour in neighbours]


def _replayed(run: Run, released: dict[str, bytes], tape: Tape, neighbour: Neighbour) -> Replayed:
    try:
        # Noise that does not come from the tape comes from another source here, and shows.
        with record(replay=tape) as again:
            second = run(neighbour.data, Source.system())
        pairs = list(zip(tape.measured, again.measured, strict=False))
        ratio = max((_ratio(one, other, neighbour) for one, other in pairs), default=0.0)
    except SudareError as mistake:
        return Replayed(neighbour.name, 0.0, mistake.what)
    if len(again.measured) != len(tape.measured):
        return Replayed(neighbour.name, ratio, "the replay measures less than the recording did")
    if list(second) != list(released):
        return Replayed(neighbour.name, ratio, "other things are published")
    if differing := [name for name in released if released[name] != second[name]]:
        return Replayed(neighbour.name, ratio, f"{differing[0]} differs")
    return Replayed(neighbour.name, ratio, None)


def replay_finding(name: str, replayed: list[Replayed]) -> Finding:
    """The replays of one release as a finding: the worst of them in words."""
    bad = [one for one in replayed if not one.passed]
    largest = max(one.ratio for one in replayed)
    figure = f"same bytes; exact values apart by at most {largest:.3g} of the sensitivity"
    if bad:
        problem = bad[0].problem or f"exact values apart by {bad[0].ratio:.3g} of the sensitivity"
        figure = f"{bad[0].name}: {problem} ({len(bad)} of {len(replayed)} neighbours)"
    return Finding("replay", name, not bad, len(replayed), figure, "the same bytes, distance at most 1")
