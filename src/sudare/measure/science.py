"""SciPy, which tables do without: samples, perturbed records, weights and the audit are in the extra `science`."""

from __future__ import annotations

from typing import Any

from sudare.errors import Message, MissingExtraError


def scipy_of(part: str) -> Any:
    """A part of SciPy such as "special", or the refusal that says how to install it."""
    return MissingExtraError.load(f"scipy.{part}", Message("SciPy"), "science")
