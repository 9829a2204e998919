"""One small encoding of each kind, and people to randomise."""

import numpy as np
import pytest

from sudare.local import (
    HadamardResponse,
    LocalHashing,
    OptimisedUnary,
    PermanentUnary,
    RandomisedResponse,
    SquareWave,
    SubsetSelection,
    SymmetricUnary,
)

COUNTING = {
    "symmetric": SymmetricUnary(size=23, epsilon=1),
    "optimised": OptimisedUnary(size=23, epsilon=1),
    "response": RandomisedResponse(size=23, epsilon=1),
    "hashing": LocalHashing(size=23, epsilon=1),
    "subset": SubsetSelection(size=23, epsilon=1),
    "hadamard": HadamardResponse(size=23, epsilon=1),
    "permanent": PermanentUnary(size=23, epsilon=4, first=1),
}
ALL = {**COUNTING, "wave": SquareWave(size=23, epsilon=1, low=0, high=23)}


@pytest.fixture(params=COUNTING.values(), ids=COUNTING)
def counting(request):
    """An encoding with an unbiased estimate."""
    return request.param


@pytest.fixture(params=ALL.values(), ids=ALL)
def encoding(request):
    """Any encoding."""
    return request.param


@pytest.fixture(scope="session")
def people():
    """20,000 values in 23 places, as in a city; nobody in the last two."""
    share = np.append(1 / np.arange(1, 22), [0, 0])
    return np.random.default_rng(1).choice(23, 20_000, p=share / share.sum())
