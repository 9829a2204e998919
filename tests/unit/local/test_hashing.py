"""Multiply-shift: pairwise independent, and the same in every language."""

from itertools import permutations

import numpy as np
import pytest

from sudare.local import LocalHashing
from sudare.local.hashing import bucket_of


def pairs_are_uniform(word_bits: int, value_bits: int, hash_bits: int) -> bool:
    """Whether (h(x), h(x')) takes each of its values equally often over all keys, for all x != x'."""
    words = np.arange(1 << word_bits)
    first, second = (grid.ravel() for grid in np.meshgrid(words, words))
    hashed = [(first * x + second) % (1 << word_bits) >> (word_bits - hash_bits) for x in range(1 << value_bits)]
    for x, other in permutations(range(1 << value_bits), 2):
        joint = np.bincount(hashed[x] << hash_bits | hashed[other], minlength=1 << (2 * hash_bits))
        if len(set(joint.tolist())) > 1:
            return False
    return True


def test_words_of_values_plus_hash_minus_one_bits_suffice():
    """The theorem that 32-bit words rest on (16 + 16 - 1 <= 32), checked exhaustively where that is possible."""
    assert pairs_are_uniform(5, 3, 3)
    assert pairs_are_uniform(6, 3, 3)
    assert pairs_are_uniform(5, 4, 2)
    assert not pairs_are_uniform(4, 3, 3)


def test_bucket_in_whole_numbers():
    """The formula of the documentation, in Python's unbounded integers."""
    generator = np.random.default_rng(1)
    values = generator.integers(0, 1 << 16, 2000)
    first, second = (generator.integers(0, 1 << 32, 2000, dtype=np.uint32) for _ in range(2))
    for buckets in (2, 3, 4, 7, 256):
        expected = [
            ((int(a) * int(x) + int(b)) % 2**32 >> 16) * buckets >> 16
            for x, a, b in zip(values, first, second, strict=True)
        ]
        assert bucket_of(values, first, second, buckets).tolist() == expected


@pytest.mark.parametrize("buckets", [2, 3, 4, 5, 20, 255, 256])
def test_support_is_what_the_hash_says(buckets):
    encoding = LocalHashing(size=300, epsilon=1, buckets=buckets)
    reports = encoding.randomize(np.arange(200), seed=1)
    first, second, bucket = encoding.layout.unpack(reports.packed)
    expected = np.array([bucket_of(np.full(200, value), first, second, buckets) == bucket for value in range(300)])
    assert (encoding.layout.tally(reports.packed) == expected.sum(axis=1)).all()
    maps = np.unpackbits(encoding.bitmaps(reports.packed), axis=1, count=300, bitorder="little")
    assert (expected == maps.T).all()


def test_chance_of_another_value_counts_uneven_buckets():
    """With 256 buckets all are even; with 255 some are wider, and the collision chance is the exact one."""
    even, uneven = (LocalHashing(size=9, epsilon=1, buckets=number) for number in (256, 255))
    own, other = even.chances
    assert other == pytest.approx(own / 256 + 255 / 256 * (1 - own) / 255, rel=1e-12)
    widths = np.bincount(np.arange(1 << 16) * 255 >> 16)
    own, other = uneven.chances
    shared = (widths.astype(float) ** 2).sum() / 2**32
    assert other == pytest.approx(shared * own + (1 - shared) * (1 - own) / 254, rel=1e-12)


def test_a_pinned_report():
    """What a client in another language must find: value 17 lies in bucket 2 of 4 under this key."""
    key = np.array([0x9E3779B9], dtype=np.uint32), np.array([0x12345678], dtype=np.uint32)
    assert bucket_of(np.array([17]), *key, 4).tolist() == [2]
