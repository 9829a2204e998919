from __future__ import annotations

import numpy as np
import pytest

from sudare.domain.regions import Box, MaskedBox, mask_from_runs, mask_to_runs, region_of
from sudare.errors import DomainError

CORNER = np.array([[True, True, False], [True, False, False]])


def test_a_mask_of_true_is_no_mask():
    assert region_of((2, 2), np.ones((2, 2), dtype=bool)) == Box((2, 2))
    assert region_of((2, 2), None) == Box((2, 2))


def test_a_masked_box_counts_and_enumerates_its_cells():
    region = MaskedBox(CORNER)
    assert region.size == 3
    assert [axis.tolist() for axis in region.cell(np.arange(3))] == [[0, 0, 1], [0, 1, 0]]
    blocks = np.array([0, 0, 1, -1]), np.array([0, 1, 0, 0])
    assert region.block_counts((1, 1), *blocks).tolist() == [3, 0, 0, 0]
    assert region.block_counts((0, 1), *blocks).tolist() == [2, 0, 1, 0]


def test_a_mask_cannot_be_changed_from_outside():
    mask = CORNER.copy()
    region = MaskedBox(mask)
    mask[:] = True
    assert region.size == 3
    with pytest.raises(ValueError, match="read-only"):
        region.mask[0, 0] = False


def test_masks_are_equal_by_value():
    assert MaskedBox(CORNER) == MaskedBox(CORNER.copy())
    assert hash(MaskedBox(CORNER)) == hash(MaskedBox(CORNER.copy()))
    assert MaskedBox(CORNER) != MaskedBox(~CORNER)
    assert MaskedBox(CORNER) != Box((2, 3))


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        (np.zeros((2, 3), dtype=bool), "the mask leaves out every cell (allowed: a mask with at least one True)"),
        (np.ones((2, 3)), "the mask is not boolean (got 'float64'; allowed: True and False)"),
        (
            np.ones((3, 2), dtype=bool),
            "the mask has another shape than its attribute (got (3, 2); allowed: (2, 3))",
        ),
    ],
)
def test_a_wrong_mask_is_refused(mask, sentence):
    with pytest.raises(DomainError) as caught:
        region_of((2, 3), mask)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("mask", [CORNER, ~CORNER, np.array([False, True])])
def test_runs_give_the_mask_back(mask):
    assert np.array_equal(mask_from_runs(mask_to_runs(mask), mask.shape), mask)


@pytest.mark.parametrize("runs", [[2, 3], [7, -1], [[6]], []])
def test_runs_must_fill_the_mask(runs):
    with pytest.raises(DomainError) as caught:
        mask_from_runs(runs, (2, 3))
    assert str(caught.value) == "the runs of the mask do not fill it (allowed: runs that add to 6)"
