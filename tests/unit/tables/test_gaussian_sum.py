"""Sums of discrete Gaussian noise, and the error bars of tables that were released with it."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.noise import AddedGaussian, Source
from sudare.privacy import Unit
from sudare.tables.gaussian_sum import expected_size, reach
from sudare.tables.pyramid import at_blocks
from sudare.tables.synthetic import synthetic_table


@pytest.mark.slow
@pytest.mark.parametrize("terms", [1, 3, 80])
@pytest.mark.parametrize("variance", ["1/9", "1/2", "4", "1000000000"])
def test_the_law_is_that_of_drawn_sums(terms, variance):
    """Shares and means of 20,000 sums, each within 6 standard errors: 24 comparisons at 2e-9."""
    law, size = AddedGaussian(Fraction(variance)), 20_000
    drawn = np.abs(law.draw(Source.from_seed(5), size * terms).reshape(size, terms).sum(axis=1))
    inside = reach(terms, law, 0.9)
    slack = 6 * (0.25 / size) ** 0.5
    assert (drawn <= inside).mean() > 0.9 - slack
    assert (drawn <= inside - 1).mean() < 0.9 + slack
    assert abs(drawn.mean() - expected_size(terms, law)) < 6 * drawn.std() / size**0.5 + 0.002 * expected_size(
        terms, law
    )


@pytest.mark.parametrize("rows", [1, 3])
def test_raw_noise_has_its_exact_law(rows):
    table = sd.CountTable.from_array(np.zeros((16, 16), dtype=int), unit=Unit("person", max_rows=rows))
    released = sd.release(table, sd.Laplace(), rho=0.02, seed=2)
    bars = released.error(cells=[4, 5, 6])
    law = AddedGaussian(Fraction(25 * rows**2))
    assert bars.high[0] - bars.value[0] == reach(3, law, 0.9)
    assert bars.expected_error[0] == expected_size(3, law)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "levels"),
    [
        (sd.Tree(), (0, 4)),
        (sd.TopDown(), (0, 4)),
        (sd.Simplex(), (0, 2)),
        (sd.NegativeL2(), (0, 2)),
        (sd.Laplace(), (0, 2, 4, 6)),
        (sd.Privelet(), (0, 2, 4, 6)),
    ],
    ids=lambda given: str(given),
)
def test_bars_cover_the_truth_of_blocks(method, levels):
    """A smoke test with fixed seeds, as for Laplace noise: benchmarks/coverage.py measures that in full."""
    domain = sd.Domain(cell=sd.Grid(64, 64))
    truth = synthetic_table(domain, 60_000, seed=3)
    for level in levels:
        blocks, holds, off, expected = 0, 0, 0.0, 0.0
        for seed in range(2):
            bars = sd.release(truth, method, rho=0.05, seed=seed).error(block_level=level)
            true = at_blocks(bars.block, *truth.block_sums(level))
            blocks, holds = blocks + len(true), holds + np.count_nonzero((bars.low <= true) & (true <= bars.high))
            off, expected = off + np.abs(true - bars.value).sum(), expected + bars.expected_error.sum()
        assert holds / blocks >= 0.87, level
        assert 0.5 < off / expected < 1.6, level
