"""Record and replay: the release of a neighbour with the recorded noise must not differ in a single byte.

A release is a function of its noisy measurements alone, if everything after them is post-processing. So when the
measurements are frozen, a neighbour's release must be the same; where it is not, something private went past the
noise. And the exact measurements of the two may lie apart only as far as was declared, and cost together no more than
is promised. Both together are what differential privacy of the release rests on; the laws of the noise are the rest.

The coins of a sample are frozen as well. Without the neighbour's own record the sample is the same byte for byte; with
it, one class may hold one row more, or appear with k rows: the theorem of Li, Qardaji and Su counts on nothing else.

`key_findings` checks that different labels give different noise. The same noise added to two values shows their exact
difference. So all sources that a release derives by label must differ: for levels with one digit and with two, for
parts of a cluster that hold the same values under other names, and for the same name with other values. So must the
sources keyed by the operating system: among 2,000 keys of only 16 bits, some would be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sudare.audit.finding import Finding, said
from sudare.audit.moves import cost_of, share_moved
from sudare.errors import Message, SudareError
from sudare.noise import Sampled, Source, Tape, record
from sudare.privacy import Budget

LABELS = (
    "root", "margin", "total", "cells", "means", "size", "coefficients", "rounding", "choice of rows", "subtrees",
    *(f"{prefix}{level}" for prefix in ("level ", "rest of level ") for level in range(1, 63)),
    *(f"block {number}" for number in range(200)),
    *("x" * length for length in range(1, 300)),
)  # fmt: skip
"""Labels that are used, and such as differ in one character, at the end."""


def key_findings() -> Iterator[Finding]:
    """Whether all sources of the system, all labels of a source, and all parts of a grant, give other words."""
    source = Source.system()
    yield _finding("sources of the system", [Source.system() for _ in range(2000)])
    yield _finding("labels", [source.child(label) for label in LABELS])
    grant = Source.system().grant("subtrees")
    parts = [grant.part(label).source() for label in LABELS]
    parts += [grant.part("subtrees", np.arange(size), np.arange(200 - size)).source() for size in range(200)]
    yield _finding("parts", parts)


def _finding(name: str, sources: list[Source]) -> Finding:
    # Two of them agree in 128 bits by chance with probability below 1e-32, for all pairs together.
    different = len({source.words(4).tobytes() for source in sources})
    seen = said("seen_keys", different=str(different))
    allowed = said("allowed_keys", labels=str(len(sources)))
    return Finding("laws", f"keys, {name}", different == len(sources), len(sources), seen, allowed, 1e-32)


Published = dict[str, bytes]
Run = Callable[[Any, Source], Published]
"""A release of some data with some noise: what each published thing is called, to its bytes."""
Apart = Callable[[Published, Published], Message | None]
"""What is wrong with two samples that differ in one record; None where nothing is."""


@dataclass(frozen=True)
class Neighbour:
    """Data that differ from the recorded ones in one unit.

    ``factor`` and ``rows`` say what that may move: see `share_moved`. ``drawn`` is for samples: whether the unit is in
    it. A ``stranger`` is no neighbour but any other data: what is published must be the same all the same, since with
    the noise frozen nothing of the data is left in it; how far apart they are does not matter then.
    """

    name: str
    data: Any
    factor: int = 1
    rows: int | None = None
    drawn: bool = False
    stranger: bool = False


@dataclass(frozen=True)
class Replayed:
    """What the replay of one neighbour showed.

    ``ratio`` is the largest distance of exact values, of what the sensitivity allows; ``spent`` what all of them cost
    together, of what is promised.
    """

    name: str
    ratio: float
    spent: float
    problem: Message | None

    @property
    def passed(self) -> bool:
        """Whether the neighbour gave the same bytes and stayed within sensitivity and promise."""
        return self.problem is None and self.ratio <= 1 and self.spent <= 1


def replay(
    run: Run,
    data: Any,
    neighbours: Iterable[Neighbour],
    source: Source | None = None,
    *,
    promised: Budget | None = None,
    apart: Apart | None = None,
) -> list[Replayed]:
    """Record the release of ``data`` once, then replay it for each neighbour.

    ``promised`` is what the guarantee states, where the costs of the measurements add up to it. ``apart`` judges
    samples that differ since the neighbour's own record was drawn; without it they may not.
    """
    try:
        with record() as tape:
            released = run(data, source or Source.system())
    except Exception as mistake:  # whatever goes wrong: a release that cannot be made is a finding
        return [Replayed("data", 0.0, 0.0, _failure(mistake))]
    return [_replayed(run, released, tape, neighbour, promised, apart) for neighbour in neighbours]


def _replayed(
    run: Run, released: Published, tape: Tape, neighbour: Neighbour, promised: Budget | None, apart: Apart | None
) -> Replayed:
    try:
        # Noise that does not come from the tape comes from another source here, and shows.
        with record(replay=tape, drawn=neighbour.drawn) as again:
            second = run(neighbour.data, Source.system())
        ratio, spent = (0.0, 0.0) if neighbour.stranger else _moved(tape, again, neighbour, promised)
    except Exception as mistake:
        return Replayed(neighbour.name, 0.0, 0.0, _failure(mistake))
    return Replayed(neighbour.name, ratio, spent, _problem(released, second, tape, again, apart))


def _failure(mistake: Exception) -> Message:
    if isinstance(mistake, SudareError):
        return mistake.message
    return Message("{type}: the release fails", type=type(mistake).__name__)


def _moved(tape: Tape, again: Tape, neighbour: Neighbour, promised: Budget | None) -> tuple[float, float]:
    pairs = list(zip(tape.measured, again.measured, strict=False))
    ratio = max((share_moved(one, other, neighbour.factor, neighbour.rows) for one, other in pairs), default=0.0)
    if promised is None:
        return ratio, 0.0
    return ratio, float(sum(cost_of(one, other, neighbour.rows) for one, other in pairs) / promised.amount)


def _problem(first: Published, second: Published, tape: Tape, again: Tape, apart: Apart | None) -> Message | None:
    if len(again.measured) != len(tape.measured) or len(again.sampled) != len(tape.sampled):
        return Message("the replay measures less than the recording did")
    if list(second) != list(first):
        return Message("other things are published")
    moved = sum(_records_apart(one, other) for one, other in zip(tape.sampled, again.sampled, strict=True))
    if moved and apart is not None:
        return apart(first, second) if moved == 1 else Message("a sample differs by several records")
    return first_difference(first, second)


def first_difference(first: Published, second: Published) -> Message | None:
    """The first published thing that is not the same in both; None where all are."""
    differing = next((name for name in first if first[name] != second.get(name)), None)
    return None if differing is None else Message("{name} differs", name=differing)


def _records_apart(one: Sampled, other: Sampled) -> int:
    """How many records are in one sample and not in the other."""
    before, after = (
        dict(zip(map(tuple, each.keys.tolist()), each.kept.tolist(), strict=True)) for each in (one, other)
    )
    return sum(abs(after.get(key, 0) - before.get(key, 0)) for key in before.keys() | after.keys())


def replay_finding(name: str, replayed: list[Replayed]) -> Finding:
    """The replays of one release as a finding: the worst of them in words."""
    bad = [one for one in replayed if not one.passed]
    if not bad:
        seen = said(
            "seen_same",
            ratio=f"{max(one.ratio for one in replayed):.3g}",
            spent=f"{max(one.spent for one in replayed):.3g}",
        )
    else:
        seen = said(
            "seen_differs", neighbour=bad[0].name, problem=_told(bad[0]), bad=str(len(bad)), tried=str(len(replayed))
        )
    return Finding("replay", name, not bad, len(replayed), seen, said("allowed_same"))


def _told(bad: Replayed) -> Message:
    if bad.problem is not None:
        return bad.problem
    if bad.ratio > 1:
        return Message("exact values apart by {ratio:.3g} of the sensitivity", ratio=bad.ratio)
    return Message("a cost of {spent:.3g} of the promise", spent=bad.spent)
