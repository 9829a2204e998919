"""Sets of fixed size."""

import numpy as np

from sudare.local import SubsetSelection


def test_every_set_has_its_size():
    encoding = SubsetSelection(size=100, epsilon=1)
    reports = encoding.randomize(np.arange(100).repeat(30), seed=1)
    assert (np.bitwise_count(reports.packed).sum(axis=1) == encoding.subset).all()
    assert encoding.subset == 27


def test_a_device_is_told_the_size_of_the_set():
    assert SubsetSelection(size=100, epsilon=1).to_json()["subset"] == 27
    assert SubsetSelection(size=100, epsilon=1, subset=5).to_json()["subset"] == 5


def test_size_of_the_set_stays_within_the_domain():
    assert SubsetSelection(size=2, epsilon=0.1).subset == 1
    assert SubsetSelection(size=3, epsilon=20).subset == 1
