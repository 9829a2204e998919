"""The transform, the channel and the trick that turns one sign."""

import numpy as np
from scipy.linalg import hadamard

from sudare.local import HadamardResponse
from sudare.local.hadamard import walsh_hadamard


def test_transform_is_the_matrix():
    values = np.random.default_rng(1).normal(size=(3, 16))
    assert np.allclose(walsh_hadamard(values), values @ hadamard(16))
    assert walsh_hadamard(np.array([5.0])).tolist() == [5.0]


def test_channel_is_the_law_and_back_its_adjoint():
    encoding = HadamardResponse(size=5, epsilon=1.5)
    channel, matrix = encoding.channel, hadamard(8)[1:6]
    law = np.random.default_rng(1).dirichlet(np.ones(5))
    chance = np.where(matrix > 0, encoding.chances[0], 1 - encoding.chances[0]) * 2 / 8
    assert np.allclose(channel.forward(law), law @ chance)
    assert np.allclose(channel.forward(law).sum(), 1)
    score = np.random.default_rng(2).normal(size=8)
    assert np.isclose(channel.forward(law) @ score, law @ channel.back(score))
    assert (channel.inputs, channel.outputs) == (5, 8)


def test_support_counts_the_columns_with_plus_one():
    encoding = HadamardResponse(size=11, epsilon=1)
    reports = encoding.randomize(np.arange(11).repeat(20), seed=1)
    columns = encoding.layout.unpack(reports.packed)
    direct = (hadamard(16)[1:12][:, columns] > 0).sum(axis=1)
    assert np.allclose(encoding.support(encoding.layout.tally(reports.packed), len(reports)), direct)


def test_order_leaves_the_first_row_alone():
    assert [HadamardResponse(size=size, epsilon=1).order for size in (2, 3, 4, 7, 8, 1023, 1024)] == [
        4, 4, 8, 8, 16, 1024, 2048,
    ]  # fmt: skip
