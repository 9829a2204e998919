"""How one report lies in bytes, and which sums over reports suffice for an estimate.

A report has a fixed length. A `Bitmap` holds one bit per value, value v in bit v % 8 of byte v // 8, the lowest bit
first; bits beyond the last value are 0. An `Index` holds one whole number, the lowest byte first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError

Packed: TypeAlias = NDArray[np.uint8]
"""Reports, one a row: (reports, report_bytes) uint8."""

_ROWS = 255  # sums of up to 255 bits fit a byte


class Layout(Protocol):
    """The bytes of one report, and the sums that a tally keeps."""

    @property
    def report_bytes(self) -> int:
        """Length of one report."""

    @property
    def sums(self) -> int:
        """How many sums a tally keeps."""

    def check(self, packed: Packed) -> None:
        """Refuse reports that no device could have made."""

    def tally(self, packed: Packed) -> NDArray[np.int64]:
        """The sums (sums,) over reports."""


@dataclass(frozen=True)
class Bitmap:
    """One bit per value; ``ones`` of them set where that number is fixed.

    >>> Bitmap(10).tally(np.array([[0b101, 0], [0b100, 2]], dtype=np.uint8)).tolist()
    [1, 0, 2, 0, 0, 0, 0, 0, 0, 1]
    """

    size: int
    ones: int | None = None

    @property
    def report_bytes(self) -> int:
        return -(-self.size // 8)

    @property
    def sums(self) -> int:
        return self.size

    def check(self, packed: Packed) -> None:
        """Refuse bits beyond the last value, and another number of ones."""
        if self.size % 8 and bool((packed[:, -1] >> (self.size % 8)).any()):
            raise InputError("a report has bits beyond the last value", allowed="{size} bits", size=self.size)
        if self.ones is not None:
            for start in range(0, len(packed), _ROWS):
                counted = np.bitwise_count(packed[start : start + _ROWS]).sum(axis=1, dtype=np.int64)
                if bool((counted != self.ones).any()):
                    raise InputError("a report has another number of ones", allowed="exactly {ones}", ones=self.ones)

    def tally(self, packed: Packed) -> NDArray[np.int64]:
        """How many reports have each bit set."""
        total = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(packed), _ROWS):
            bits = np.unpackbits(packed[start : start + _ROWS], axis=1, count=self.size, bitorder="little")
            total += np.add.reduce(bits, axis=0, dtype=np.uint8)
        return total


@dataclass(frozen=True)
class Index:
    """One whole number below ``outputs``, the lowest byte first.

    >>> Index(1024).pack(np.array([3, 515])).tolist()
    [[3, 0], [3, 2]]
    """

    outputs: int

    @property
    def report_bytes(self) -> int:
        return -(-(self.outputs - 1).bit_length() // 8)

    @property
    def sums(self) -> int:
        """One per report that may come."""
        return self.outputs

    def pack(self, numbers: NDArray[np.int64]) -> Packed:
        """The bytes of whole numbers."""
        return np.ascontiguousarray(numbers.astype("<i8").view(np.uint8).reshape(-1, 8)[:, : self.report_bytes])

    def unpack(self, packed: Packed) -> NDArray[np.int64]:
        """The whole numbers in the bytes."""
        numbers = np.zeros(len(packed), dtype=np.int64)
        for place in range(self.report_bytes):
            numbers |= packed[:, place].astype(np.int64) << (8 * place)
        return numbers

    def check(self, packed: Packed) -> None:
        """Refuse numbers that are no report."""
        if len(packed) and int(self.unpack(packed).max()) >= self.outputs:
            raise InputError(
                "a report is a number that no device sends", allowed="0 to {outputs}", outputs=self.outputs - 1
            )

    def tally(self, packed: Packed) -> NDArray[np.int64]:
        """How often each number came."""
        return np.bincount(self.unpack(packed), minlength=self.outputs).astype(np.int64)


def mark(packed: Packed, values: NDArray[np.int64], bits: NDArray[np.bool_]) -> None:
    """Overwrite the bit of each report's own value, in place."""
    rows, places = np.arange(len(values)), values >> 3
    mask = (1 << (values & 7)).astype(np.uint8)
    packed[rows, places] = (packed[rows, places] & ~mask) | np.where(bits, mask, np.uint8(0))


def clear_padding(packed: Packed, size: int) -> None:
    """Clear the bits beyond the last value, in place."""
    if size % 8:
        packed[:, -1] &= (1 << size % 8) - 1
