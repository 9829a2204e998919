"""Laws: drawn noise against the law it is said to have, both ways.

The right law must fit (p above `FALSE_ALARM`), and the same draws must not fit the laws with a scale of 70 % and of
130 %: a test that accepts these would not see a mistake. Reports of devices are tested bit by bit, or report by report
where a report is a number, for several values each.

The tests are exact (`fit`, `p_value`), so that the stated false-alarm rate also holds far out in the tail. The number
of draws in each cell, and in all cells up to it, is binomial. The smallest of these tail probabilities, multiplied by
their number (Bonferroni), is a p-value without approximation; a chi-squared test would be approximate at 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.audit.distinguish import FALSE_ALARM
from sudare.audit.finding import Finding, said
from sudare.local import ENCODINGS, Encoding, PermanentUnary, SquareWave
from sudare.local.hashing import LocalHashing, bucket_of
from sudare.local.layout import Index
from sudare.measure.science import scipy_of
from sudare.noise import (
    AddedGaussian,
    AddedLaplace,
    Bernoulli,
    RandomisedResponse,
    Source,
    Sparse,
    discrete_gaussian,
    discrete_laplace,
)
from sudare.noise import SquareWave as SquareWaveLaw
from sudare.noise.discrete import Added
from sudare.noise.measurement import sparse_noise
from sudare.noise.response import Channel
from sudare.reconstruct.perturb import perturb

stats = scipy_of("stats")

OFF = (Fraction(7, 10), Fraction(13, 10))
"""Factors of the scale that a test must see."""


@dataclass(frozen=True)
class LawFit:
    """How well draws fit: the p-value of the law, and of the laws that are 30 % off."""

    draws: int
    right: float
    wrong: tuple[float, ...]

    @property
    def passed(self) -> bool:
        """Whether the right law fits and the wrong ones do not."""
        return self.right > FALSE_ALARM and all(one < FALSE_ALARM for one in self.wrong)


def tails(hits: NDArray[np.generic], trials: int, chance: Floats | float) -> Floats:
    """The smaller tail of each binomial count, of those at and beyond it."""
    counts = np.asarray(hits, dtype=np.float64)
    return np.asarray(np.minimum(stats.binom.cdf(counts, trials, chance), stats.binom.sf(counts - 1, trials, chance)))


def p_value(hits: NDArray[np.generic], trials: int, chance: Floats | float) -> float:
    """Whether several counts are binomial with their chances, two-sided: the smallest tail times their number.

    >>> p_value(np.array([510, 480]), 1000, 0.5) > 0.2, p_value(np.array([510, 900]), 1000, 0.5) < 1e-100
    (True, True)
    """
    found = tails(hits, trials, chance)
    return float(min(1.0, 2 * found.size * found.min()))


def fit(observed: NDArray[np.generic], law: Floats) -> float:
    """The p-value of counts under a law over the same cells: of every cell, and of all cells up to it.

    >>> fit(np.array([500, 500]), np.array([0.5, 0.5]))
    1.0
    >>> fit(np.array([900, 100]), np.array([0.5, 0.5])) < 1e-100
    True
    """
    counts = np.asarray(observed, dtype=np.int64)
    if counts[law <= 0].any():
        return 0.0
    running, up_to = np.cumsum(counts)[:-1], np.minimum(np.cumsum(law)[:-1], 1.0)
    return p_value(np.concatenate([counts, running]), int(counts.sum()), np.concatenate([law, up_to]))


def law_finding(name: str, found: LawFit) -> Finding:
    """A fit as a finding."""
    seen = said("seen_fit", right=f"{found.right:.2g}", wrong=", ".join(f"{one:.1g}" for one in found.wrong))
    allowed = said("allowed_fit", limit=f"{FALSE_ALARM:g}")
    return Finding("laws", name, found.passed, found.draws, seen, allowed, FALSE_ALARM)


def laplace_law(scale: float, reach: int) -> Floats:
    """P(Z = z) for z from -reach to reach, the ends with what is beyond: (1 - a)/(1 + a) a**|z|, a = exp(-1/scale)."""
    ratio = exp(-1 / scale)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1))
    law[0] = law[-1] = ratio**reach / (1 + ratio)
    return np.asarray(law)


def gaussian_law(sigma: float, reach: int) -> Floats:
    """P(Z = z) for z from -reach to reach, in proportion to exp(-z**2/(2 sigma**2)), the ends with what is beyond."""
    far = int(40 * sigma) + reach + 40
    place = np.arange(-far, far + 1)
    whole = np.exp(-(place.astype(np.float64) ** 2) / (2 * sigma**2))
    whole /= whole.sum()
    law = whole[far - reach : far + reach + 1].copy()
    law[0] = law[-1] = whole[: far - reach + 1].sum()
    return np.asarray(law)


def integer_fit(
    draw: Callable[[Source, int], Integers], law: Callable[[float, int], Floats], scale: float, size: int
) -> LawFit:
    """Whole numbers from ``draw`` against ``law(scale, reach)`` and the same law 30 % off."""
    reach = max(2, int(4 * scale))
    drawn = np.clip(draw(Source.system(), size), -reach, reach)
    observed = np.bincount(drawn + reach, minlength=2 * reach + 1)
    wrong = tuple(fit(observed, law(scale * float(factor), reach)) for factor in OFF)
    return LawFit(size, fit(observed, law(scale, reach)), wrong)


def response_fit(law: Channel, draw: Callable[[Integers, Source], Integers], size: int) -> LawFit:
    """Reports for each value against the column of the channel, and against those of an epsilon 30 % off.

    A column whose chances differ by the factor e**epsilon has, raised to a power, those of that multiple of epsilon.
    """
    right, off = 1.0, [1.0] * len(OFF)
    for value in range(law.inputs):
        only = np.zeros(law.inputs)
        only[value] = 1.0
        column = law.forward(only)
        observed = np.bincount(draw(np.full(size, value), Source.system()), minlength=law.outputs)
        # The smallest of several p-values, each of them multiplied by their number, is one p-value (Bonferroni).
        right = min(right, law.inputs * fit(observed, column))
        wrong = [column ** float(factor) for factor in OFF]
        off = [min(p, fit(observed, one / one.sum())) for p, one in zip(off, wrong, strict=True)]
    return LawFit(size * law.inputs, right, tuple(off))


def bit_fit(encoding: Encoding, wrong: Sequence[Encoding], size: int) -> LawFit:
    """Every bit that a report shows of every value: set as often as ``chances`` say, also the last one.

    For a bitmap these are the bits themselves, and bits beyond the last value must be 0; for hashed reports, whether
    the report supports the value. Two-sided binomial tests, multiplied by their number.
    """
    right, off = 1.0, [1.0] * len(wrong)
    values = sorted({0, encoding.size // 2, encoding.size - 1})
    for value in values:
        packed = encoding.draw(np.full(size, value), Source.system())
        shown = supported(encoding, packed)
        if shown is None:
            return LawFit(size * len(values), 0.0, (0.0,) * len(wrong))
        hits = shown.sum(axis=0, dtype=np.int64)
        right = min(right, len(values) * _bits(hits, size, encoding, value))
        off = [min(before, _bits(hits, size, other, value)) for before, other in zip(off, wrong, strict=True)]
    return LawFit(size * len(values), right, tuple(off))


def supported(encoding: Encoding, packed: NDArray[np.uint8]) -> NDArray[np.bool_] | None:
    """Which values (reports, size) each report supports; None where a bit beyond the last value is set."""
    if isinstance(encoding, LocalHashing):
        assert encoding.buckets is not None  # noqa: S101 - set when built
        first, second, bucket = encoding.layout.unpack(packed)
        every = [np.full(len(packed), value) for value in range(encoding.size)]
        return np.stack([bucket_of(one, first, second, encoding.buckets) == bucket for one in every], axis=1)
    bits = np.unpackbits(packed, axis=1, bitorder="little").astype(np.bool_)
    return None if bits[:, encoding.size :].any() else bits[:, : encoding.size]


def _bits(hits: Integers, trials: int, encoding: Encoding, value: int) -> float:
    assert encoding.chances is not None  # noqa: S101 - only the square wave has none, which is a channel
    own, other = encoding.chances
    chance = np.where(np.arange(len(hits)) == value, own, other)
    return p_value(hits, trials, chance)


def encoding_of(name: str, size: int, epsilon: Fraction) -> Encoding:
    """An encoding of each name, of ``size`` values."""
    kind: type[Encoding] = ENCODINGS[name]
    if kind is SquareWave:
        return SquareWave(size=size, epsilon=epsilon, low=0, high=size)
    if kind is PermanentUnary:
        return PermanentUnary(size=size, epsilon=epsilon, first=epsilon / 4)
    return kind(size=size, epsilon=epsilon)


def encoding_fit(name: str, size: int, epsilon: Fraction, draws: int) -> LawFit:
    """Reports of an encoding against its own law and those of an epsilon 30 % off."""
    encoding = encoding_of(name, size, epsilon)
    if encoding.channel is None:
        return bit_fit(encoding, [encoding_of(name, size, epsilon * factor) for factor in OFF], draws)
    layout = encoding.layout
    assert isinstance(layout, Index)  # noqa: S101 - whatever is counted one by one is a number
    return response_fit(encoding.channel, lambda v, s: layout.unpack(encoding.draw(v, s)), draws)


def law_fits(draws: int) -> Iterator[tuple[str, LawFit]]:
    """Every noise of the package by name, at several scales."""
    for scale in (Fraction(1, 2), Fraction(1), Fraction(10), Fraction(123, 7), Fraction(1000)):
        made = integer_fit(lambda s, n, b=scale: discrete_laplace(b, s, n), laplace_law, float(scale), draws)  # type: ignore[misc]  # the default binds the loop's value
        yield f"discrete Laplace, scale {scale}", made
    for sigma in (Fraction(1, 2), Fraction(1), Fraction(5, 2), Fraction(40)):
        made = integer_fit(lambda s, n, b=sigma: discrete_gaussian(b**2, s, n), gaussian_law, float(sigma), draws)  # type: ignore[misc]  # as above
        yield f"discrete Gaussian, sigma {sigma}", made
    for law in (AddedLaplace(Fraction(3)), AddedGaussian(Fraction(9))):
        name = "Gaussian" if isinstance(law, AddedGaussian) else "Laplace"
        yield f"empty cells that rise, {name}", rising_fit(law, draws)
    yield "order of perturbed rows", order_fit()
    for chance in (Fraction(1, 3), Fraction(1, 2), Fraction(1, 50)):
        yield f"coin, chance {chance}", coin_fit(Bernoulli(chance), float(chance), draws)
    for epsilon in (Fraction(1, 2), Fraction(2)):
        for size in (2, 7):
            response = RandomisedResponse(size, epsilon)
            made = response_fit(response, response.draw, draws)
            yield f"randomised response, {size} values, epsilon {epsilon}", made
        wave = SquareWaveLaw(9, epsilon)
        yield f"square wave, 9 cells, epsilon {epsilon}", response_fit(wave, wave.draw, draws)
    for name in ENCODINGS:
        # 9 and 16 values: the last bit alone in a byte, and at the end of one.
        for size in (9, 16):
            yield f"reports, {name}, {size} values", encoding_fit(name, size, Fraction(2), draws)


def rising_fit(law: Added, size: int, level: int = 1) -> LawFit:
    """Cells of nobody above a ``level``, as sparse noise finds them: the others are known to be at most there."""
    nobody = np.zeros(0, dtype=np.int64)

    def drawn(source: Source, cells: int) -> Integers:
        found = np.full(cells, level)
        index, value = sparse_noise(Sparse(nobody, nobody, cells), law, source).above(level)
        found[index] = value
        return found

    def lumped(scale: float, reach: int) -> Floats:
        whole = gaussian_law(scale, reach) if isinstance(law, AddedGaussian) else laplace_law(scale, reach)
        at = reach + level
        whole[at], whole[:at] = whole[: at + 1].sum(), 0.0
        return whole

    scale = float(law.variance) ** 0.5 if isinstance(law, AddedGaussian) else float(law.scale)
    return integer_fit(drawn, lumped, scale, size)


def order_fit() -> LawFit:
    """Perturbed rows, hardly changed: how many stay where they were, of 500 rows with 50 values each ten times."""
    values = np.arange(500) % 50
    made = perturb(values.tolist(), categories=list(range(50)), epsilon=10, source=Source.system())
    stayed = int((np.asarray(made.values) == values).sum())
    # In a random order 10 of them are expected, and 100 have a chance below 1e-60; in their own order nearly all stay.
    return LawFit(500, 1.0 if stayed < 100 else 0.0, (0.0,))


def coin_fit(coin: Bernoulli, chance: float, size: int) -> LawFit:
    """Each of the eight places of a packed byte, and all together, against the chance and 30 % off."""
    packed = coin.packed(Source.system(), size * 8)
    heads = np.unpackbits(packed.reshape(-1, 1), axis=1, bitorder="little").sum(axis=0, dtype=np.int64)

    def fitted(wanted: float) -> float:
        whole = p_value(heads.sum(keepdims=True), 8 * size, wanted)
        return min(1.0, 2 * min(whole, p_value(heads, size, wanted)))

    return LawFit(size * 8, fitted(chance), tuple(fitted(min(chance * float(factor), 1.0)) for factor in OFF))


def law_findings(draws: int) -> Iterator[Finding]:
    """A finding for every noise of the package."""
    for name, found in law_fits(draws):
        yield law_finding(name, found)
