"""Keys of children: other labels, other noise.

Noise that is added twice shows the exact difference of what it was added to. So the sources that a release derives by
label must all be different ones: those of levels with one digit and with two, of parts of a cluster that hold the same
values under other names, and of the same name with other values. So must those that the operating system keys: of keys
with so few as 16 bits, some of 2,000 are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sudare.audit.finding import Finding, said
from sudare.noise import Source

LABELS = (
    "root", "margin", "total", "cells", "means", "size", "coefficients", "rounding", "choice of rows", "subtrees",
    *(f"{prefix}{level}" for prefix in ("level ", "rest of level ") for level in range(1, 63)),
    *(f"block {number}" for number in range(200)),
    *("x" * length for length in range(1, 300)),
)  # fmt: skip
"""Labels that are used, and such as differ in one character, at the end."""


def key_findings() -> Iterator[Finding]:
    """Whether all sources of the system, all labels of a source, and all parts of a grant, give other words."""
    source = Source.system()
    yield _finding("sources of the system", [Source.system() for _ in range(2000)])
    yield _finding("labels", [source.child(label) for label in LABELS])
    grant = Source.system().grant("subtrees")
    parts = [grant.part(label).source() for label in LABELS]
    parts += [grant.part("subtrees", np.arange(size), np.arange(200 - size)).source() for size in range(200)]
    yield _finding("parts", parts)


def _finding(name: str, sources: list[Source]) -> Finding:
    # Two of them agree in 128 bits by chance with probability below 1e-32, for all pairs together.
    different = len({source.words(4).tobytes() for source in sources})
    seen = said("seen_keys", different=str(different))
    allowed = said("allowed_keys", labels=str(len(sources)))
    return Finding("laws", f"keys, {name}", different == len(sources), len(sources), seen, allowed, 1e-32)
