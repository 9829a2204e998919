"""Keys for work that is done elsewhere, perhaps more than once: the same part of the same data, the same noise."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from sudare.errors import AccountingError
from sudare.noise.source import KEY_BYTES, Source


@dataclass(frozen=True)
class Grant:
    """What workers derive their sources from; unlike a `Source` it may be copied and sent.

    A part's noise is a function of the key, the part's name and the exact values the part holds. A task that is run
    again therefore repeats its noise on the same values, which shows nothing new; were the values other ones, the
    noise would be independent. (With a key from the name alone, two attempts on different values would carry the
    same noise, and their difference would show the exact change.) Only `Source.grant` makes one that is not ``seeded``.
    """

    key: bytes = field(repr=False)
    seeded: bool

    def part(self, name: str, *holding: NDArray[Any]) -> Part:
        """The part of this name that holds these arrays, in this order.

        >>> import numpy as np
        >>> grant = Source.from_seed(1).grant("subtrees")
        >>> once, again = (grant.part("subtree 5", np.arange(3)) for _ in range(2))
        >>> once == again, once == grant.part("subtree 5", np.arange(4))
        (True, False)
        """
        if any(array.dtype.hasobject for array in holding):
            raise AccountingError("the values of a part are not plain numbers")  # their bytes would be addresses
        digest = hashlib.blake2b(key=self.key, person=b"sudare part", digest_size=KEY_BYTES)
        for piece in (name.encode(), *(array.tobytes() for array in holding)):
            digest.update(len(piece).to_bytes(8, "big"))
            digest.update(piece)
        return Part(digest.digest(), self.seeded)


@dataclass(frozen=True)
class Part:
    """One part of granted work: its noise, and a seal that tells whether two attempts saw the same values."""

    key: bytes = field(repr=False)
    seeded: bool

    @property
    def seal(self) -> int:
        """62 bits that tell nothing of key or values, and differ where either does."""
        digest = hashlib.blake2b(self.key, person=b"sudare seal", digest_size=8).digest()
        return int.from_bytes(digest, "big") >> 2

    def source(self) -> Source:
        """The part's source, from its beginning."""
        return Source._derived(self.key, seeded=self.seeded)
