from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import Mesh
from sudare.domain.mesh import children
from sudare.errors import DomainError

MIXED = Mesh("500m", codes=["533946", "53394711", "533957", "53395622", "53395623"]).region


def dense(region):
    mask = np.zeros(region.lengths, dtype=bool)
    mask[region.cell(np.arange(region.size))] = True
    return mask


def test_cells_are_distinct_and_allowed():
    mask = dense(MIXED)
    assert mask.sum() == MIXED.size == 4 * 203
    row, column = np.divmod(np.arange(mask.size), mask.shape[1])
    assert np.array_equal(MIXED.allowed(row, column).reshape(mask.shape), mask)


@pytest.mark.parametrize("row_shift", range(7))
@pytest.mark.parametrize("column_shift", range(7))
def test_block_counts_agree_with_brute_force(row_shift, column_shift):
    mask = dense(MIXED)
    rows, columns = np.divmod(np.arange(mask.size), mask.shape[1])
    blocks = np.zeros((44, 44), dtype=np.int64)
    np.add.at(blocks, (rows >> row_shift, columns >> column_shift), mask.reshape(-1))
    row, column = np.divmod(np.arange(46 * 46), 46)
    counts = MIXED.block_counts((row_shift, column_shift), row - 1, column - 1).reshape(46, 46)
    assert np.array_equal(counts[1:45, 1:45], blocks)
    assert counts.sum() == MIXED.size


def test_what_fills_a_coarser_mesh_becomes_one():
    quarters = children(np.array([533946]), "10km", "500m").reshape(-1)
    whole = Mesh("500m", codes=[*quarters, 533857])
    assert whole.codes == ("533946", "533857")
    assert whole == Mesh("500m", codes=["533946", quarters[0], "533857", "533946"])
    assert hash(whole) == hash(Mesh("500m", codes=["533946", "533857"]))
    assert Mesh("500m", codes=quarters[1:]).size == 399
    assert Mesh("500m", codes=[*quarters[1:], 533857]) != whole


def test_memory_is_by_the_finest_codes_and_not_by_cells():
    japan_wide = Mesh("125m", codes=["5339", "362257"])
    assert japan_wide.size == 640**2 + 80**2
    assert japan_wide.region.mask.shape == (139, 137)
    with pytest.raises(DomainError, match="the window is too large for a mask"):
        Mesh("125m", codes=["3022", "68420000111"])


def test_codes_in_the_far_south_keep_their_zeros():
    assert Mesh("1km", codes=["0039", "003846"]).codes == ("0039", "003846")
