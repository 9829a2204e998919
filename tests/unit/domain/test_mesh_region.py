from __future__ import annotations

import numpy as np
import pytest

from sudare.domain.mesh import children
from sudare.domain.mesh_codes import read_declared_codes
from sudare.domain.mesh_region import mesh_region


def region_of_codes(codes, size):
    return mesh_region(read_declared_codes(codes, size), size)


MIXED = region_of_codes(["533946", "53394711", "533957", "53395622", "53395623"], "1km")


def dense(region):
    mask = np.zeros(region.lengths, dtype=bool)
    mask[region.cell(np.arange(region.size))] = True
    return mask


def test_cells_are_distinct_and_allowed():
    mask = dense(MIXED)
    assert mask.sum() == MIXED.size == 203
    row, column = np.divmod(np.arange(mask.size), mask.shape[1])
    assert np.array_equal(MIXED.allowed(row, column).reshape(mask.shape), mask)


@pytest.mark.parametrize("row_shift", range(6))
@pytest.mark.parametrize("column_shift", range(6))
def test_block_counts_agree_with_brute_force(row_shift, column_shift):
    mask = dense(MIXED)
    rows, columns = np.divmod(np.arange(mask.size), mask.shape[1])
    blocks = np.zeros((34, 34), dtype=np.int64)
    np.add.at(blocks, (rows >> row_shift, columns >> column_shift), mask.reshape(-1))
    row, column = np.divmod(np.arange(36 * 36), 36)
    counts = MIXED.block_counts((row_shift, column_shift), row - 1, column - 1).reshape(36, 36)
    assert np.array_equal(counts[1:35, 1:35], blocks)
    assert counts.sum() == MIXED.size


def test_what_fills_a_coarser_mesh_becomes_one():
    quarters = children(np.array([533946]), "10km", "500m").reshape(-1)
    whole = region_of_codes(quarters, "500m")
    assert whole.codes() == ["533946"]
    assert whole == region_of_codes(["533946", quarters[0], "533946"], "500m")
    assert hash(whole) == hash(region_of_codes(["533946"], "500m"))
    assert region_of_codes(quarters[1:], "500m").size == 399
    assert region_of_codes(quarters[1:], "500m") != whole


def test_memory_is_by_codes_and_not_by_cells():
    japan_wide = region_of_codes(["5339", "362257353"], "125m")
    assert japan_wide.size == 640**2 + 16
    assert sum(part.keys.size for part in japan_wide.squares) == 2


def test_codes_in_the_far_south_keep_their_zeros():
    assert region_of_codes(["0039", "003846"], "1km").codes() == ["0039", "003846"]
