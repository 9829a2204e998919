"""Laws of the noise that releases really got: every draw on their tapes against the law that the tape names.

The draws of `laws` come straight from the samplers. Here they come from releases: what was measured less what is true,
by whatever scale the method asked for. Each draw has a place in its own law, F(z - 1) + U P(z) with U uniform, and
places are independent and uniform whatever the scales were. They are counted in 16 parts of the unit interval, which
noise of a wrong scale fills unevenly; and two by two, as points of a square of 8 x 8 fields, where noise that is used
twice lies on the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.audit.finding import Finding, Wanted, every
from sudare.audit.laws import OFF, LawFit, fit, law_finding
from sudare.domain import Categories, CountTable, Domain, Grid, Line
from sudare.errors import ParameterError
from sudare.noise import AddedGaussian, AddedLaplace, Measured, Refined, Source, Sparse, record
from sudare.privacy import Unit
from sudare.reconstruct.perturb import perturb
from sudare.reweight import FitParameters, Weighting
from sudare.reweight.fit import FitRequest
from sudare.tables import Laplace, Marginals, NegativeL2, NonnegativeLasso, Privelet, Simplex, TopDown, Tree, release

_PARTS, _FIELDS = 16, 8


def places(measured: Measured, uniform: np.random.Generator, factor: float = 1.0) -> Floats:
    """Where each draw of a measurement lies in its law, or in the law of a scale (or epsilon) ``factor`` times that."""
    law = measured.law
    if isinstance(law, Refined):
        return _refined(measured, law, uniform, factor)
    if not isinstance(law, AddedLaplace | AddedGaussian):
        return _reported(measured, uniform, factor)
    noisy, exact = measured.noisy, measured.exact
    if isinstance(noisy, np.ndarray) and isinstance(exact, np.ndarray):
        drawn = (noisy - exact).ravel()
    elif not isinstance(noisy, np.ndarray) and isinstance(exact, Sparse):
        index, value = noisy.above(-(2**62))
        if len(index) != exact.size:
            return np.zeros(exact.size)  # cells without noise have no place in its law
        drawn = value.copy()
        drawn[np.searchsorted(index, exact.index)] -= exact.value
    else:
        raise ParameterError("a measurement is neither dense nor sparse", value=measured.label)
    if isinstance(law, AddedLaplace):
        scale = float(law.scale) * factor
        below, upto = _laplace_below(drawn - 1, scale), _laplace_below(drawn, scale)
    else:
        table = _gaussian_below(float(law.variance) ** 0.5 * factor)
        middle = len(table) // 2
        at = np.clip(drawn + middle, 1, len(table) - 1)
        below, upto = table[at - 1], table[at]
    return np.asarray(below + uniform.random(len(drawn)) * (upto - below))


def _laplace_below(value: NDArray[np.int64], scale: float) -> Floats:
    """P(Z <= value) of discrete Laplace noise: 1 - a**(z+1)/(1+a) for z >= 0, a**-z/(1+a) else."""
    ratio = exp(-1 / scale)
    tail = ratio ** np.where(value >= 0, value + 1, -value) / (1 + ratio)
    return np.where(value >= 0, 1 - tail, tail)


def _refined(measured: Measured, law: Refined, uniform: np.random.Generator, factor: float) -> Floats:
    """Fine noise in its law given the coarse noise, of which that of the coarse value is no part."""
    exact, noisy, coarse = (np.asarray(each).ravel() for each in (measured.exact, measured.noisy, measured.coarse))
    noise, fine = coarse - exact, noisy - exact
    side = np.where(noise < 0, -1, 1)
    scales = float(law.coarse) * factor, float(law.fine) * factor
    below, upto = (refined_below(np.abs(noise), side * fine - step, *scales) for step in (1, 0))
    return np.asarray(below + uniform.random(len(fine)) * (upto - below))


def refined_below(size: NDArray[np.int64], value: NDArray[np.int64], coarse: float, fine: float) -> Floats:
    """P(n2 <= value | n1 = size >= 0) of a pair of noises, summed from Bayes' rule: f2(n2) g(n1 - n2)/f1(n1)."""
    low, high = exp(-1 / fine), exp(-1 / coarse)
    both, ratio = low * high, low / high
    other = low * (high - low) / (1 - low**2)
    beyond = high * (high - low) / (1 - both)
    within = (1 - other) * (1 - ratio ** (np.clip(value, -1, None) + 1.0))
    above = 1 - (1 - other) * ratio ** (size + 1.0) * beyond * both ** np.maximum(value - size, 0)
    upto = np.where(value < 0, other * both ** np.maximum(-value - 1, 0), other + within)
    return np.where(value < size, upto, above)


@lru_cache(maxsize=32)
def _gaussian_below(sigma: float) -> Floats:
    """P(Z <= z) of discrete Gaussian noise, z from -40 sigma to 40 sigma."""
    reach = int(40 * sigma) + 40
    weight = np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2 * sigma**2))
    return np.asarray(np.cumsum(weight) / weight.sum())


def _reported(measured: Measured, uniform: np.random.Generator, factor: float) -> Floats:
    """Records that were randomised on their own: places in the column of the channel."""
    law: Any = measured.law
    exact, noisy = np.asarray(measured.exact), np.asarray(measured.noisy)
    found = np.empty(len(exact))
    for value in np.unique(exact):
        only = np.zeros(law.inputs)
        only[value] = 1.0
        column = law.forward(only) ** factor
        upto = np.concatenate([[0.0], np.cumsum(column / column.sum())])
        mine = exact == value
        low, high = upto[noisy[mine]], upto[noisy[mine] + 1]
        found[mine] = low + uniform.random(int(mine.sum())) * (high - low)
    return found


def recorded_fit(run: Callable[[Source], object], draws: int) -> LawFit:
    """The first ``draws`` draws that releases make, one release after the other, against the laws on their tapes.

    How many draws a release makes may depend on its noise; that the number looked at is fixed keeps the test exact.
    """
    uniform = np.random.default_rng(draws)
    found: list[list[Floats]] = [[] for _ in range(1 + len(OFF))]
    so_far = 0
    while so_far < draws:
        with record() as tape:
            run(Source.system())
        for measured in tape.measured:
            for place, factor in enumerate((1.0, *map(float, OFF))):
                found[place].append(places(measured, uniform, factor))
            so_far += len(found[0][-1])
    right, *wrong = (_evenly(np.concatenate(each)[:draws]) for each in found)
    return LawFit(draws, right, tuple(wrong))


def _evenly(at: Floats) -> float:
    """Whether places are uniform, and pairs of them independent: the smaller p-value of the two, doubled."""
    part, field = (np.minimum((at * parts).astype(np.int64), parts - 1) for parts in (_PARTS, _FIELDS))
    pair = field[: len(at) // 2 * 2].reshape(-1, 2) @ np.array([_FIELDS, 1])
    alone = fit(np.bincount(part, minlength=_PARTS), np.full(_PARTS, 1 / _PARTS))
    return min(1.0, 2 * min(alone, fit(np.bincount(pair, minlength=_FIELDS**2), np.full(_FIELDS**2, _FIELDS**-2.0))))


def town() -> CountTable:
    """People of whom each has at most three rows, most of them in one place: of a padded domain with a margin.

    Its 3,900 cells have 14 bits, so that a tree of halves has labels of two digits and goes deep in that place.
    """
    domain = Domain(place=Grid(13, 20), sex=Categories(["f", "m", "o"]), age=Line(5))
    generator = np.random.default_rng(1)
    thick = np.arange(domain.size) // 15 == 7
    count = generator.poisson(np.where(thick, 40, np.where(generator.random(domain.size) < 0.1, 1, 0)))
    rank = np.flatnonzero(count)
    cells = domain.cells(rank)
    order = np.argsort(cells)
    return CountTable(domain, cells[order], count[rank][order], unit=Unit("person", 3))


def weights_of(private: Floats, public: Floats, source: Source, number: int | None = None) -> Weighting:
    """Weights of numbers from 0 to 1 at epsilon 1, as `sudare.reweight.fit` makes them.

    The comparison of private with public rows, which is slow and draws no noise, is left out.
    """
    parameters = FitParameters(bounds=[(0, 1)], number=number)
    request = FitRequest.of(parameters.space, 1, parameters)
    return request.meet(request.read(private, source), public, source)


def recorded_runs() -> Iterator[tuple[str, Callable[[Source], object]]]:
    """A release of every method and kind that adds noise or randomises records."""
    table, three = town(), Fraction(3)
    for method in (
        Laplace(), Marginals(), Tree(),
        TopDown(), Simplex(), NegativeL2(strength=Fraction(1, 2)), NonnegativeLasso(), Privelet()
    ):  # fmt: skip
        yield f"table, {method.name}", lambda source, method=method: release(table, method, three, source=source)  # type: ignore[misc]  # the default binds the loop's value
    yield "table, tree, halves", lambda source: release(table, Tree(children=2), 12, source=source)
    yield "table, tree, rho 0.1", lambda source: release(table, Tree(), rho=Fraction(1, 10), source=source)
    numbers, words = np.repeat(np.linspace(0, 16, 8), 50), ["f", "m", "f", "f"] * 100
    for noise in ("laplace", "square_wave"):
        yield (
            f"perturbation, {noise}",
            lambda source, noise=noise: perturb(numbers, (0, 16), epsilon=4, noise=noise, source=source),  # type: ignore[misc]  # as above
        )
    yield (
        "perturbation, categories",
        lambda source: perturb(words, categories=["f", "m", "x"], epsilon=2, source=source),
    )
    public = np.linspace(0, 1, 40)
    # Many means in each release: their noise is looked at, and fitting weights to them is what takes time.
    yield "weights", lambda source: weights_of(public**2, public, source, number=35)


def recorded_findings(draws: int, wanted: Wanted = every) -> Iterator[Finding]:
    """A finding for every kind of release."""
    for release_name, run in recorded_runs():
        if wanted("laws", name := f"recorded noise, {release_name}"):
            yield law_finding(name, recorded_fit(run, draws))
