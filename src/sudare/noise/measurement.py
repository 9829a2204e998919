"""The one seam where private values meet noise, and the tape that can record and replay its measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.errors import AccountingError, TableError
from sudare.noise.discrete import Added, AddedGaussian, Refined, added
from sudare.noise.meter import Blocks, meter_here
from sudare.noise.source import Source
from sudare.noise.sparse import Sparse, SparseGaussian, SparseNoise
from sudare.parallel import each
from sudare.privacy import Budget, Number, positive

if TYPE_CHECKING:
    from sudare.noise.response import Law, Sampled

_LARGEST_VALUE = 2**61
PART = 1 << 18
"""Values whose noise comes from one stream of random bits."""


@dataclass(frozen=True)
class Measured:
    """One measurement on a tape, and the ``law`` it was drawn by: the exact values stay with the steward.

    Where it refines earlier noisy values, these are ``coarse``.
    """

    label: str
    exact: NDArray[np.int64] | Sparse
    sensitivity: Fraction
    budget: Budget
    noisy: NDArray[Any] | SparseNoise
    law: Added | Refined | Law
    coarse: NDArray[np.int64] | None = None


@dataclass
class Tape:
    """Measurements in the order they were made; with ``replayed`` the noisy values come from there.

    So do the coins of samples. Records that the recording did not have are all ``drawn``, or none of them.
    """

    measured: list[Measured] = field(default_factory=list)
    secrets: dict[str, int] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)
    sampled: list[Sampled] = field(default_factory=list)
    replayed: Tape | None = None
    drawn: bool = False

    def next_noisy(
        self,
        label: str,
        sensitivity: Fraction,
        budget: Budget,
        law: Added | Refined | Law,
        values: NDArray[Any] | Sparse,
        coarse: NDArray[np.int64] | None = None,
    ) -> NDArray[Any] | SparseNoise:
        """The frozen result for the next measurement: the same question, as many values, by the same law."""
        assert self.replayed is not None  # noqa: S101 - only called while replaying
        place = len(self.measured)
        if place >= len(self.replayed.measured):
            raise AccountingError("the replay measures more than the recording did", value=label)
        frozen = self.replayed.measured[place]
        if (frozen.label, frozen.sensitivity, frozen.budget, frozen.law) != (label, sensitivity, budget, law):
            raise AccountingError("the replay measures something else", value=label, allowed=[frozen.label])
        if (type(frozen.exact), frozen.exact.size) != (type(values), values.size):
            raise AccountingError("the replay measures another number of values", value=label)
        if coarse is not None and not np.array_equal(coarse, frozen.coarse if frozen.coarse is not None else ()):
            raise AccountingError("the replay refines other noisy values", value=label)
        return frozen.noisy

    def next_sample(self, label: str, rate: Fraction) -> Sampled:
        """The sample that was recorded next, which must have been drawn in the same way."""
        assert self.replayed is not None  # noqa: S101 - only called while replaying
        place = len(self.sampled)
        if place >= len(self.replayed.sampled):
            raise AccountingError("the replay samples more than the recording did", value=label)
        frozen = self.replayed.sampled[place]
        if (frozen.label, frozen.rate) != (label, rate):
            raise AccountingError("the replay samples in another way", value=label, allowed=[frozen.label])
        return frozen


_tape: ContextVar[Tape | None] = ContextVar("tape", default=None)


@contextmanager
def record(replay: Tape | None = None, *, drawn: bool = False, onto: Tape | None = None) -> Iterator[Tape]:
    """Keep every measurement made inside; with ``replay``, answer from that tape instead of drawing noise.

    Running a neighbour's data under the replay of a tape must give the same release byte for byte, and exact
    values within the declared sensitivity: that is how releases are audited. ``drawn`` is for samples: whether
    records that the recording did not have are in them. ``onto`` is a tape of the caller's, which may answer otherwise.
    """
    tape = Tape(replayed=replay, drawn=drawn) if onto is None else onto
    token = _tape.set(tape)
    try:
        yield tape
    finally:
        _tape.reset(token)


def secret(source: Source, label: str) -> int:
    """A random number of 128 bits that is not noise: a hash key, the seed of a random rounding.

    It belongs to the release as the noise does, so a tape keeps it and a replay repeats it.
    """
    tape = _tape.get()
    if tape is not None and tape.replayed is not None:
        if label not in tape.replayed.secrets:
            raise AccountingError("the replay asks for a secret that was not recorded", value=label)
        return tape.replayed.secrets[label]
    number = source.child(label).integer(128)
    if tape is not None:
        tape.secrets[label] = number
    return number


def stamped(label: str, made: str) -> str:
    """A value that differs in every run by design, such as a time or an identifier: recorded, and repeated by a replay.

    So that a whole publication can be compared byte for byte with that of a neighbour. Without a tape it is ``made``.
    """
    tape = _tape.get()
    if tape is None:
        return made
    if tape.replayed is not None:
        if label not in tape.replayed.stamps:
            raise AccountingError("the replay asks for a stamp that was not recorded", value=label)
        return tape.replayed.stamps[label]
    return tape.stamps.setdefault(label, made)


@overload
def measure(
    values: NDArray[np.int64],
    sensitivity: Number,
    budget: Budget,
    source: Source,
    label: str,
    *,
    final: bool = False,
    rows: Blocks | None = None,
) -> NDArray[np.int64]: ...
@overload
def measure(
    values: Sparse, sensitivity: Number, budget: Budget, source: Source, label: str, *, final: bool = False
) -> SparseNoise: ...
def measure(
    values: NDArray[np.int64] | Sparse,
    sensitivity: Number,
    budget: Budget,
    source: Source,
    label: str,
    *,
    final: bool = False,
    rows: Blocks | None = None,
) -> NDArray[np.int64] | SparseNoise:
    """Integer values plus exact noise; the only function of the package that sees both.

    Sensitivity: ``sensitivity`` bounds how far one unit can move ``values``, in L1 for a budget of epsilon
    and in L2 for rho; the caller proves it. The noise is discrete Laplace of scale sensitivity/epsilon, which
    is epsilon-DP since P(z)/P(z') <= exp(|z - z'|/scale); or discrete Gaussian of variance
    sensitivity**2/(2 rho), which is rho-zCDP (Canonne, Kamath and Steinke 2020). It comes from
    ``source.child(label)``. ``final`` says that no row counted in ``values`` is measured again; ``rows`` says which
    these are, a block for each value, and the meter holds later measurements to it: see `Meter`.

    >>> measure(np.array([5, 0]), 1, Budget(epsilon=Fraction(1)), Source.from_seed(3), "cells").dtype
    dtype('int64')
    """
    bound = positive(sensitivity, "sensitivity")
    counts = values.value if isinstance(values, Sparse) else values
    if counts.dtype != np.int64 or (len(counts) and max(-int(counts.min()), int(counts.max())) > _LARGEST_VALUE):
        raise TableError("only whole numbers up to 2**61 can be measured", value=label)
    if rows is not None and len(rows) != counts.size:
        raise AccountingError("a measurement needs one block of rows for each value", value=label)
    if (meter := meter_here()) is not None:
        meter.add(label, budget, rows, final=final)
    tape, law = _tape.get(), added(bound, budget)
    noisy: NDArray[np.int64] | SparseNoise
    if tape is not None and tape.replayed is not None:
        noisy = tape.next_noisy(label, bound, budget, law, values)
        if isinstance(values, Sparse) and isinstance(noisy, SparseNoise):
            noisy = noisy.again(values)
    elif isinstance(values, Sparse):
        noisy = sparse_noise(values, law, source.child(label))
    else:
        noisy = in_parts(lambda own, part: law.draw(own, part.stop - part.start), values.size, source.child(label))
        noisy = noisy.reshape(values.shape)
        noisy += values
    if tape is not None:
        tape.measured.append(Measured(label, values, bound, budget, noisy, law))
    return noisy


def refine(
    values: NDArray[np.int64],
    coarse: NDArray[np.int64],
    sensitivity: Number,
    first: Budget,
    budget: Budget,
    source: Source,
    label: str,
    *,
    of: str,
    final: bool = False,
    rows: Blocks | None = None,
) -> NDArray[np.int64]:
    """Finer noisy values in place of the ``coarse`` ones that `measure` gave for ``first``: as if for both budgets.

    Sensitivity: as in `measure`, and the same for both. With s the sensitivity, a and r the epsilon of ``first`` and of
    ``budget``, the coarse noise n1 has scale s/a and the fine noise n2 scale s/(a + r), and they are drawn such that n1
    is n2 with further noise that depends on nothing (see `sudare.noise.discrete`). So for all values x the pair has

        P(z1, z2 | x) = f2(z2 - x) g(z1 - z2),

    in which x stands in f2 alone: both together are (a + r)-DP. This is not adaptive composition: given z1, z2 alone
    could cost (2 a + r). Hence what the meter books here, r, means something only on top of the a that it booked for
    the measurement labelled ``of``, and the coarse value is refined once. The fine one may be refined again, by its own
    label and with ``first`` the sum of both: each value in the chain is the next one with further noise. ``final`` and
    ``rows`` are those of `measure`. Which values are refined may depend on noisy values, of these and of others: for a
    value that is not refined the sum over z2 of the pair's law is f1(z1 - x), so that the law of all that is seen has
    one factor for each value, f1 or f2 times g, however the choice is made.

    >>> values, source = np.array([5, 0]), Source.from_seed(3)
    >>> parts = Budget(epsilon=Fraction(1)).split([1, 3])
    >>> coarse = measure(values, 1, parts[0], source, "blocks")
    >>> refine(values, coarse, 1, *parts, source, "blocks, finer", of="blocks").dtype
    dtype('int64')
    """
    bound = positive(sensitivity, "sensitivity")
    if first.epsilon is None or budget.epsilon is None:
        raise AccountingError("only noise whose cost is an epsilon can be refined", value=label)
    if values.dtype != np.int64 or coarse.dtype != np.int64 or values.shape != coarse.shape:
        raise TableError("only values that were measured can be refined", value=label)
    if rows is not None and len(rows) != values.size:
        raise AccountingError("a measurement needs one block of rows for each value", value=label)
    if (meter := meter_here()) is not None:
        meter.add(label, budget, rows, final=final, refines=(of, first))
    tape, law = _tape.get(), Refined(bound / first.epsilon, bound / (first.epsilon + budget.epsilon))
    if tape is not None and tape.replayed is not None:
        frozen = tape.next_noisy(label, bound, budget, law, values, coarse)
        assert isinstance(frozen, np.ndarray)  # noqa: S101 - a refinement is dense
        finer: NDArray[np.int64] = frozen
    else:
        flat, known = values.reshape(-1), coarse.reshape(-1)
        finer = in_parts(lambda own, part: law.draw(known[part] - flat[part], own), values.size, source.child(label))
        finer = finer.reshape(values.shape)
        finer += values
    if tape is not None:
        tape.measured.append(Measured(label, values, bound, budget, finer, law, coarse))
    return finer


def in_parts(draw: Callable[[Source, slice], NDArray[np.int64]], size: int, source: Source) -> NDArray[np.int64]:
    """Noise for ``size`` values: of a long vector in parts, on all cores, each from a child of ``source``.

    ``draw`` gives a part's. Parts have 2**18 values whatever the number of cores, and so has the noise.
    """
    if size <= PART:
        return draw(source, slice(0, size))
    noise = np.empty(size, dtype=np.int64)

    def fill(own: Source, part: slice) -> None:
        noise[part] = draw(own, part)

    starts = range(0, size, PART)
    each(
        lambda part: fill(*part),
        [(source.child(f"from {start}"), slice(start, min(start + PART, size))) for start in starts],
    )
    return noise


def respond(values: NDArray[np.int64], law: Law, source: Source, label: str) -> NDArray[Any]:
    """Each record's value randomised by itself: the same seam as `measure`, for reports instead of sums.

    Privacy: ``law`` is epsilon-LDP for one value. Records are randomised independently, so a unit with one record
    has spent ``law.epsilon`` and the others nothing (parallel composition); ``source.child(label)`` gives the bits.

    >>> from sudare.noise.response import RandomisedResponse
    >>> respond(np.array([0, 2, 2]), RandomisedResponse(3, Fraction(1)), Source.from_seed(1), "place").shape
    (3,)
    """
    budget = Budget(epsilon=law.epsilon)
    if (meter := meter_here()) is not None:
        meter.add(label, budget)
    tape = _tape.get()
    reports: NDArray[Any]
    if tape is not None and tape.replayed is not None:
        frozen = tape.next_noisy(label, Fraction(1), budget, law, values)
        assert isinstance(frozen, np.ndarray)  # noqa: S101 - the label and budget are those of a response
        reports = frozen
    else:
        reports = law.draw(values, source.child(label))
    if tape is not None:
        tape.measured.append(Measured(label, values, Fraction(1), budget, reports, law))
    return reports


def sample(keys: Integers, counts: Integers, rate: Fraction, source: Source, label: str) -> Integers:
    """How many of the ``counts`` records of each kind are kept: each with probability ``rate``, by a coin of its own.

    ``keys`` (kinds, columns) tells kinds apart, so that a tape can be replayed for a neighbour. Privacy: whether a
    record is in the sample is independent of all others; what that is worth depends on what is made of the sample, so
    nothing is metered here, and the caller states it (`sudare.anonymity.delta`).

    >>> sample(np.array([[0], [1]]), np.array([50, 7]), Fraction(1), Source.from_seed(1), "rows").tolist()
    [50, 7]
    """
    from sudare.noise.response import Sampled, draw_sample

    tape = _tape.get()
    if tape is not None and tape.replayed is not None:
        kept = tape.next_sample(label, rate).again(keys, counts, tape.drawn)
    else:
        kept = draw_sample(counts, rate, source.child(label))
    if tape is not None:
        tape.sampled.append(Sampled(label, rate, keys, counts, kept))
    return kept


def sparse_noise(values: Sparse, law: Added, source: Source) -> SparseNoise:
    """The noisy values of a long vector, drawn only where needed; for private vectors called by `measure` only."""
    if isinstance(law, AddedGaussian):
        return SparseGaussian(values, law.variance, source)
    return SparseNoise(values, law.scale, source)


def noise_variance(sensitivity: Number, budget: Budget) -> float:
    """The variance of what `measure` adds, public: of the discrete law, Laplace's or Gaussian.

    >>> round(noise_variance(1, Budget(epsilon=Fraction(1))), 3)
    1.841
    """
    return added(positive(sensitivity, "sensitivity"), budget).spread
