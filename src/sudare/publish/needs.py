"""What a release needs of the machine: estimated, compared with what is there, and refused before it is paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sudare.errors import CapacityError
from sudare.publish.machine import available_memory, free_disk

FIXED_MEMORY = 64 << 20
"""What a release of any size takes: writers of files keep buffers of this order."""
FIXED_DISK = 1 << 16
"""Certificate and the heads of files."""


@dataclass(frozen=True)
class Needs:
    """Bytes: ``memory`` at the peak, beyond what the data take once they are read; ``disk`` of the release's files.

    None where nobody can say, such as for a cluster. An estimate is never below what is measured, and for a release
    that is large beside `FIXED_MEMORY` at most twice it (tests/faults/test_needs.py). So what would just have worked
    may be refused: ``output.confirm_resources`` is for that, and for machines that misreport.
    """

    memory: int | None = None
    disk: int | None = None

    @property
    def known(self) -> dict[str, int]:
        """Both, where they are known."""
        named = {"memory": self.memory, "disk": self.disk}
        return {name: size for name, size in named.items() if size is not None}

    def refuse_scarce(self, target: Path) -> None:
        """Refuse what would end for want of memory or disk after it was paid for.

        An estimate may rest on the private data, as the time that a run takes does. The refusal comes before anything
        is spent, is seen by the steward alone, who holds the data, and says a size of two digits at most; nothing of
        it enters a release, the ledger or a page. A release that is refused does not exist, so nobody else learns it.
        """
        memory, disk = available_memory(), free_disk(target)
        if self.memory is not None and memory is not None and self.memory > memory:
            raise CapacityError(
                "the release needs about {rounded} of memory, and {second_rounded} is left",
                hint="Nothing was spent: take coarser cells or fewer columns, another method, a cluster (Spark) or a "
                "larger machine, or set output.confirm_resources = true if this is mistaken.",
                rounded=rounded(self.memory),
                second_rounded=rounded(memory, up=False),
            )
        if self.disk is not None and disk is not None and self.disk > disk:
            raise CapacityError(
                "the release needs about {rounded} of disk, and {second_rounded} is free there",
                value=str(target),
                hint="Nothing was spent: make room, name another folder or fewer formats, or set "
                "output.confirm_resources = true if this is mistaken.",
                rounded=rounded(self.disk),
                second_rounded=rounded(disk, up=False),
            )


NOT_KNOWN = Needs()


def rounded(size: int, *, up: bool = True) -> str:
    """Bytes in two digits, so that no exact number is given away.

    >>> rounded(11_444_000_000), rounded(11_444_000_000, up=False), rounded(0)
    ('12 GB', '11 GB', '0 B')
    """
    from sudare.words.numbers import file_size

    step = 10 ** max(0, len(str(size)) - 2)
    return file_size((math.ceil if up else math.floor)(size / step) * step)


@contextmanager
def memory_refused() -> Iterator[None]:
    """A memory that is full (Python's, NumPy's and Arrow's errors say so alike) as a sentence of one line."""
    try:
        yield
    except CapacityError:
        raise
    except MemoryError:
        raise CapacityError(
            "the memory of this machine is full", hint="Take coarser cells or fewer columns, or a larger machine."
        ) from None
