import numpy as np
import pytest

from sudare.domain import Bins, Categories, Domain, Grid, Line, Mesh
from sudare.measure.blocks import logical_blocks

RANDOM_MASK = np.random.default_rng(5).random((11, 6)) < 0.2

DOMAINS = {
    "one cell": Domain(cell=Line(1)),
    "line": Domain(cell=Line(11)),
    "grid": Domain(cell=Grid(3, 7)),
    "masked": Domain(cell=Grid(11, 6, mask=RANDOM_MASK), age=Bins(0, 30, step=10)),
    "mesh": Domain(mesh=Mesh("1km", codes=["533946", "53394711"]), sex=Categories(["f", "m"])),
    "ordered": Domain(["sex", "cell"], cell=Grid(4, 3), sex=Categories(["f", "m", "x"])),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_every_level_matches_a_count_of_the_blocks(name):
    domain = DOMAINS[name]
    for level in range(domain.bits + 1):
        every = np.arange(1 << (domain.bits - level))
        assert logical_blocks(domain, level) == np.count_nonzero(domain.block_sizes(every, level))


def test_blocks_of_japan_are_counted_without_visiting_them():
    domain = Domain(home=Grid(2**15, 2**15), work=Grid(2**15, 2**15))
    assert logical_blocks(domain, 4) == 2**56
