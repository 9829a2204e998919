"""The source of random bits: AES-CTR keyed by the operating system, or by a seed for experiments.

A `Grant` derives keys for workers in other processes, which may run the same task twice: the same part of the same data
gets the same noise.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sudare.errors import AccountingError, ParameterError
from sudare.privacy.budget import whole

KEY_BYTES = 32
_ZEROS = bytes(1 << 16)


class Source:
    """A stream of random words that belongs to one owner.

    There is no global source: it is passed to what draws from it. `child` derives an independent source from the key
    and a label alone, so the noise of a part does not depend on the order in which parts are computed.
    A forked process never repeats its parent's words. One thread at a time; give each thread a child.

    ``Source(key)`` is seeded, whatever the key: whoever knows it can draw the same noise again and subtract it. Only
    `system`, whose key nobody knows, is not, with what derives from it: children, and parts of its grants.

    >>> Source.system().words(3).shape
    (3,)
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ParameterError("the key has the wrong length", allowed="{key_bytes} bytes", key_bytes=KEY_BYTES)
        self.seeded = True
        self._labels: set[str] = set()
        self._keys: set[bytes] = set()
        self._start(key)

    @classmethod
    def system(cls) -> Source:
        """A source keyed by the operating system: the only kind a publication may use."""
        return cls._derived(os.urandom(KEY_BYTES), seeded=False)

    @classmethod
    def resumed(cls, key: bytes) -> Source:
        """The source of a publication that was interrupted, from the key that was sealed for this alone.

        Not seeded, as it was before: nobody chose the key, and who could keep it could have kept the noise as well.
        """
        return cls._derived(key, seeded=False)

    def key_to_seal(self) -> bytes:
        """The key, kept encrypted until the release is out (`sudare.workflow.pending`). All noise follows from it."""
        self._check_process()
        return self._key

    @classmethod
    def _derived(cls, key: bytes, *, seeded: bool) -> Source:
        """A source whose key comes from another's, or from the operating system: as seeded as that is."""
        source = cls(key)
        source.seeded = seeded
        return source

    @classmethod
    def from_seed(cls, seed: int) -> Source:
        """A source anyone can repeat, for experiments and tests: what it protects carries no guarantee."""
        return cls(hashlib.blake2b(b"seed %d" % whole(seed, "seed", least=0), digest_size=KEY_BYTES).digest())

    @classmethod
    def chosen(cls, source: Source | None, seed: int | None) -> Source:
        """The source given, or a new one from the seed, or from the operating system without either."""
        if seed is not None and source is not None:
            raise ParameterError("give a seed or a source, not both")
        if source is not None:
            return source
        return cls.system() if seed is None else cls.from_seed(seed)

    def _start(self, key: bytes) -> None:
        self._key = key
        self._process = os.getpid()
        self._stream = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()

    def _check_process(self) -> None:
        """After a fork both processes hold the same key and position: the child must leave that stream."""
        if not self.seeded and os.getpid() != self._process:
            self._start(hashlib.blake2b(os.urandom(KEY_BYTES), key=self._key, digest_size=KEY_BYTES).digest())

    def fill(self, words: NDArray[np.uint32]) -> None:
        """Overwrite a contiguous array with fresh random words."""
        self._check_process()
        buffer = words.view(np.uint8).data
        for start in range(0, len(buffer), len(_ZEROS)):
            part = buffer[start : start + len(_ZEROS)]
            self._stream.update_into(memoryview(_ZEROS)[: len(part)], part)

    def words(self, size: int) -> NDArray[np.uint32]:
        """``size`` independent uniform 32-bit words."""
        words = np.empty(size, dtype=np.uint32)
        self.fill(words)
        return words

    def integer(self, bits: int) -> int:
        """One uniform integer in [0, 2**bits), bits a multiple of 32; the first word is the highest."""
        return int.from_bytes(self.words(bits // 32).astype(">u4").tobytes(), "big")

    def child(self, label: str) -> Source:
        """An independent source for one part of the work; each label may be taken once.

        Taking a label twice would add the same noise twice, whose difference shows the exact values; so would a key
        that two labels share, which is refused as well.
        """
        self._check_process()
        if label in self._labels:
            raise AccountingError("a label of noise was used twice", value=label)
        self._labels.add(label)
        key = hashlib.blake2b(label.encode(), key=self._key, person=b"sudare child", digest_size=KEY_BYTES).digest()
        if key in self._keys or key == self._key:
            raise AccountingError("two labels of noise give the same key", value=label)
        self._keys.add(key)
        return Source._derived(key, seeded=self.seeded)

    def grant(self, label: str) -> Grant:
        """A child's key for workers elsewhere: see `Grant`. Like a child, each label may be taken once."""
        return Grant(self.child(label)._key, self.seeded)

    def __reduce__(self) -> str:
        raise AccountingError("a source of noise cannot be copied", hint="Derive a child for each worker, or a grant.")

    def __repr__(self) -> str:
        return "Source(seeded)" if self.seeded else "Source(system)"


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
