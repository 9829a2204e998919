"""Numbers as short text for the map of a page: what render/map/map.js unpacks."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_WHOLE = 2**52


def packed(values: ArrayLike, *, steps: bool = False) -> dict[str, str]:
    """Whole numbers with seven bits a byte, small ones in one byte; others as 32-bit floats.

    A number n is written as 2 n, or as -2 n - 1 where it is negative; ``steps`` writes differences instead, which are
    small where numbers ascend.

    >>> packed([0, 1, -1, 64]), packed([5, 6, 300], steps=True)["form"]
    ({'form': 'whole', 'data': 'AAIBgAE='}, 'steps')
    """
    array = np.asarray(values)
    if array.dtype.kind == "f":
        whole = np.isfinite(array).all() and (np.abs(array) < _WHOLE).all() and (array == np.rint(array)).all()
        if not whole:
            return _text("float", array.astype("<f4"))
    numbers = array.astype(np.int64)
    if steps:
        numbers = np.diff(numbers, prepend=0)
    coded = np.where(numbers < 0, -2 * numbers - 1, 2 * numbers).astype(np.uint64)
    lengths = np.maximum(1, -(-_bits(coded) // 7))
    ends = np.cumsum(lengths)
    made = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for byte in range(int(lengths.max()) if len(lengths) else 0):
        here = lengths > byte
        more = np.where(lengths[here] > byte + 1, 128, 0)
        made[(ends - lengths)[here] + byte] = ((coded[here] >> np.uint64(7 * byte)) & np.uint64(127)) + more
    return _text("steps" if steps else "whole", made)


def _bits(numbers: Any) -> Any:
    """How many bits each number has; below 2**53, where a float holds it."""
    return np.where(numbers == 0, 0, np.frexp(numbers.astype(np.float64))[1]).astype(np.int64)


def _text(form: str, array: Any) -> dict[str, str]:
    return {"form": form, "data": base64.b64encode(array.tobytes()).decode("ascii")}
