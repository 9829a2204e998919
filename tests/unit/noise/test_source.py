"""Random words: independent, never repeated by a fork, never from a global."""

import os
import pickle

import numpy as np
import pytest

import sudare as sd
from sudare.errors import AccountingError, ParameterError
from sudare.noise import Source


def test_bits_are_balanced_in_every_place():
    words = Source.system().words(200_000)
    ones = np.unpackbits(words.view(np.uint8).reshape(-1, 4), axis=1).sum(0, dtype=np.int64)
    # 32 places, each beyond 6.5 sigma with chance 8e-11.
    assert np.abs(ones - 100_000).max() < 6.5 * (200_000 / 4) ** 0.5


def test_two_sources_and_two_reads_differ():
    source = Source.system()
    assert not np.array_equal(source.words(8), source.words(8))
    assert not np.array_equal(Source.system().words(8), Source.system().words(8))


def test_keys_of_the_system_are_many():
    """Among 2,000 keys of 16 bits two are equal but with chance 1e-13; of 256 bits two are with chance 2**-235."""
    assert len({Source.system().integer(128) for _ in range(2000)}) == 2000


def test_a_seed_repeats_and_another_does_not():
    assert np.array_equal(Source.from_seed(5).words(70_000), Source.from_seed(5).words(70_000))
    assert not np.array_equal(Source.from_seed(5).words(8), Source.from_seed(6).words(8))
    assert Source.from_seed(5).seeded
    assert not Source.system().seeded


def test_words_do_not_depend_on_how_they_are_asked_for():
    one, many = Source.from_seed(5), Source.from_seed(5)
    assert np.array_equal(one.words(40_000), np.concatenate([many.words(n) for n in (1, 39_990, 9)]))


def test_children_depend_on_the_label_alone():
    first, second = Source.from_seed(5), Source.from_seed(5)
    second.words(1000)
    second.child("another")
    assert np.array_equal(first.child("level 3").words(8), second.child("level 3").words(8))
    assert not np.array_equal(Source.from_seed(5).child("a").words(8), Source.from_seed(5).child("b").words(8))


def test_children_of_labels_that_begin_or_end_alike_differ():
    """A tree has "level 1" and "level 10"; with one key for both their noise would be the same."""
    labels = [
        f"{before}level {number}{after}" for number in range(30) for before in ("", "rest of ") for after in ("", " ")
    ]
    labels += ["", "x" * 500, "x" * 499 + "y", "cells", "cell", "Cells", "cell\0"]
    source = Source.from_seed(5)
    assert len({source.child(label).integer(128) for label in labels}) == len(labels)


def test_a_label_is_taken_once():
    source = Source.system()
    source.child("cells")
    with pytest.raises(AccountingError, match="used twice"):
        source.child("cells")


def test_a_forked_process_leaves_its_parents_stream():
    source = Source.system()
    source.words(4)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, source.words(4).tobytes() + source.child("x").words(4).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(read, 1000)
    ours = source.words(4).tobytes() + source.child("x").words(4).tobytes()
    assert len(theirs) == len(ours) == 32
    assert theirs[:16] != ours[:16]
    assert theirs[16:] != ours[16:]


def test_a_source_is_not_copied():
    with pytest.raises(AccountingError, match="cannot be copied"):
        pickle.dumps(Source.system())


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_a_wrong_seed_is_refused(seed):
    with pytest.raises(ParameterError, match="seed is not a whole number"):
        Source.from_seed(seed)


def test_a_wrong_key_is_refused():
    with pytest.raises(ParameterError, match="key has the wrong length"):
        Source(b"short")


def test_a_source_with_a_given_key_is_seeded_and_so_is_what_it_protects():
    key = bytes(range(32))
    source = Source(key)
    assert source.seeded
    assert source.child("cells").seeded
    assert source.grant("workers").part("one").source().seeded
    table = sd.CountTable.from_array([0, 0, 9, 0, 120, 0, 0, 3])
    assert sd.release(table, epsilon=1, source=Source(key)).guarantee.notion == "none: seeded"
    with pytest.raises(TypeError):
        Source(key, seeded=False)


def test_what_derives_from_the_system_is_not_seeded_in_any_process():
    grant = pickle.loads(pickle.dumps(Source.system().grant("workers")))  # noqa: S301 - our own bytes
    assert not grant.part("one", np.arange(3)).source().seeded
    assert not Source.system().child("cells").child("deeper").seeded
    read, write = os.pipe()
    source = Source.system()
    child = os.fork()
    if child == 0:
        os.write(write, b"seeded" if source.child("x").seeded or source.seeded else b"system")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100) == b"system"


def test_labels_that_give_the_same_key_are_refused(monkeypatch):
    """The mistake that was planted: keys from the first seven characters of a label."""
    import sudare.noise.source as module

    own = module.hashlib.blake2b

    def shortened(data=b"", **options):
        return own(data[:7] if options.get("person") == b"sudare child" else data, **options)

    source = Source.from_seed(1)
    assert source.child("level 1").words(1) != source.child("level 10").words(1)
    monkeypatch.setattr(module.hashlib, "blake2b", shortened)
    source = Source.from_seed(1)
    source.child("level 1")
    source.child("level 2")
    with pytest.raises(AccountingError, match="two labels of noise give the same key"):
        source.child("level 10")
