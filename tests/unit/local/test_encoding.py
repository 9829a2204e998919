"""What all encodings have in common: checks, guarantees, JSON, bytes."""

from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import AccountingError, DomainError, InputError, ParameterError
from sudare.local import (
    ENCODINGS,
    HadamardResponse,
    LocalHashing,
    SquareWave,
    SubsetSelection,
    SymmetricUnary,
    encoding_from_json,
)
from sudare.noise import Source, record


def test_reports_have_the_promised_shape_and_guarantee(encoding, people):
    reports = encoding.randomize(people)
    assert reports.packed.shape == (len(people), encoding.report_bytes)
    assert reports.packed.dtype == np.uint8
    encoding.check(reports.packed)
    assert reports.guarantee.notion == "epsilon-LDP"
    assert reports.guarantee.epsilon == encoding.epsilon
    assert reports.guarantee.adjacency == "replace one record"
    assert reports.guarantee.in_no_ledger


def test_a_seed_repeats_and_promises_nothing(encoding, people):
    first, second = encoding.randomize(people, seed=3), encoding.randomize(people, seed=3)
    assert (first.packed == second.packed).all()
    assert (first.packed != encoding.randomize(people, seed=4).packed).any()
    assert first.guarantee.notion == "none: seeded"


def test_a_source_draws_once_under_its_label(people):
    source = Source.system()
    SymmetricUnary(size=23, epsilon=1).randomize(people, source=source)
    with pytest.raises(AccountingError, match="used twice"):
        SymmetricUnary(size=23, epsilon=1).randomize(people, source=source)
    with pytest.raises(ParameterError, match="a seed or a source, not both"):
        SymmetricUnary(size=23, epsilon=1).randomize(people, source=source, seed=1)


def test_reports_go_through_the_seam(encoding, people):
    """A recorded tape answers a neighbour's data with the same bytes: everything private passes through it."""
    with record() as tape:
        reports = encoding.randomize(people)
    other = people.copy()
    other[0] = (other[0] + 1) % 20
    with record(tape):
        replayed = encoding.randomize(other)
    assert (reports.packed == replayed.packed).all()


def test_json_and_back(encoding):
    data = encoding.to_json()
    assert encoding_from_json(data) == encoding
    assert data["encoding"] == encoding.name
    assert set(ENCODINGS) >= {encoding.name}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"encoding": "symmetric_unari", "size": 3, "epsilon": 1}, "unknown encoding .*Did you mean 'symmetric_unary'"),
        ({"size": 3, "epsilon": 1}, "unknown encoding"),
        ({"encoding": "symmetric_unary", "size": 3}, "lacks a part or has a wrong one"),
        ({"encoding": "symmetric_unary", "size": 3, "epsilon": 1, "colour": 2}, "lacks a part or has a wrong one"),
        ({"encoding": "symmetric_unary", "size": "3", "epsilon": 1}, "size is not a number of values"),
    ],
)
def test_json_that_is_no_encoding(data, sentence):
    with pytest.raises(ParameterError, match=sentence):
        encoding_from_json(data)


def test_epsilon_is_exact():
    assert SymmetricUnary(size=3, epsilon=0.1).epsilon == Fraction(1, 10)
    assert SymmetricUnary(size=3, epsilon="1/3").epsilon == Fraction(1, 3)


@pytest.mark.parametrize("kind", [kind for name, kind in ENCODINGS.items() if name != "permanent_unary"])
@pytest.mark.parametrize(
    ("epsilon", "sentence"),
    [
        (0, "epsilon is not positive"),
        (-1, "epsilon is not positive"),
        (float("nan"), "epsilon is not a finite number"),
        (float("inf"), "epsilon is not a finite number"),
        (65, "epsilon is out of range for a report"),
        (1e-9, "epsilon is out of range for a report"),
    ],
)
def test_epsilon_must_make_sense(kind, epsilon, sentence):
    with pytest.raises(ParameterError, match=sentence):
        kind(size=23, epsilon=epsilon)


@pytest.mark.parametrize("size", [0, 1, 2.0, True, 1 << 21])
def test_size_must_make_sense(size):
    with pytest.raises(ParameterError, match="size is not a number of values"):
        SymmetricUnary(size=size, epsilon=1)


def test_parameters_of_single_encodings():
    with pytest.raises(ParameterError, match="too many values to hash"):
        LocalHashing(size=1 << 17, epsilon=1)
    with pytest.raises(ParameterError, match="not a number of buckets"):
        LocalHashing(size=9, epsilon=1, buckets=1)
    with pytest.raises(ParameterError, match="subset is not the size of a set"):
        SubsetSelection(size=9, epsilon=1, subset=9)
    with pytest.raises(ParameterError, match="low and high are not bounds"):
        SquareWave(size=9, epsilon=1, low=1, high=1)
    with pytest.raises(ParameterError, match="too many cells for numbers"):
        SquareWave(size=4096, epsilon=1)


@pytest.mark.parametrize("values", [[0, 23], [-1, 3], np.array([3, 2**40])])
def test_values_outside_the_domain_are_refused_unseen(values):
    with pytest.raises(DomainError, match=r"^a value lies outside the declared domain \(allowed: 0 to 22\)$"):
        SymmetricUnary(size=23, epsilon=1).randomize(values)


@pytest.mark.parametrize("values", [[0.5], ["a"], [[1, 2]], [True], 3, [None]])
def test_values_that_are_no_whole_numbers(values):
    with pytest.raises(
        DomainError, match=r"^values are not a list of whole numbers \(allowed: 0 to 22, one per person\)$"
    ):
        SymmetricUnary(size=23, epsilon=1).randomize(values)


def test_nobody_sends_nothing(encoding):
    assert len(encoding.randomize([])) == 0


def test_reports_of_the_wrong_length(encoding):
    wrong = np.zeros((3, encoding.report_bytes + 1), dtype=np.uint8)
    with pytest.raises(InputError, match="a report has the wrong length"):
        encoding.check(wrong)
    with pytest.raises(InputError, match="packed reports are rows of bytes"):
        encoding.check(wrong.astype(np.int64))
    with pytest.raises(InputError, match="packed reports are rows of bytes"):
        encoding.check(np.zeros(3, dtype=np.uint8))


@pytest.mark.parametrize(
    ("encoding", "packed", "sentence"),
    [
        (SymmetricUnary(size=23, epsilon=1), [[0, 0, 128]], "bits beyond the last value"),
        (SubsetSelection(size=23, epsilon=1), [[0, 0, 1]], "another number of ones"),
        (SubsetSelection(size=23, epsilon=1), [[63, 0, 0], [127, 0, 0]], "another number of ones"),
        (HadamardResponse(size=100, epsilon=1), [[128]], "a number that no device sends"),
        (LocalHashing(size=23, epsilon=1), [[0] * 8 + [4]], "a bucket that does not exist"),
        (SquareWave(size=23, epsilon=1), [[250]], "a number that no device sends"),
    ],
)
def test_reports_that_no_device_makes(encoding, packed, sentence):
    with pytest.raises(InputError, match=sentence):
        encoding.check(np.array(packed, dtype=np.uint8))


def test_bit_order_and_byte_order_are_those_of_the_format():
    """Value v is bit v % 8 of byte v // 8; numbers have their lowest byte first."""
    encoding = SymmetricUnary(size=23, epsilon=64)  # flips one bit in 10**14
    assert encoding.randomize([0, 7, 8, 22], seed=1).packed.tolist() == [[1, 0, 0], [128, 0, 0], [0, 1, 0], [0, 0, 64]]
    from sudare.local.layout import Index

    layout = Index(70_000)
    assert layout.pack(np.array([66_051])).tolist() == [[3, 2, 1]]
    assert layout.unpack(np.array([[3, 2, 1]], dtype=np.uint8)).tolist() == [66_051]
